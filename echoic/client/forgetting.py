"""Forget a person: destroy the key that their words are sealed under, and what was made of
them.

Each step may be repeated, and what is under way is marked beside the keys, so that one that
was cut off is completed by calling again.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import orjson

from echoic.client.connection import LiveLog
from echoic.client.persons import named
from echoic.client.publish import submit
from echoic.errors import EchoicError, RefusedError
from projections.projector import rebuild as rebuilding
from projections.projector.rebuild import Filler
from projections.store.store import Store
from schemas.codec.decode import read_input
from schemas.messages.controls import PersonForgotten
from schemas.messages.notes import ControlApplied
from schemas.values.subjects import forgettings_of, partition_of
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.intake import erase_waiting
from streams.jetstream.key_bucket import Mark
from streams.jetstream.keys import STATES, Keyring, speaker
from streams.log import scan

_OUT_OF_REACH = (
    "traces that were sent to a collector, with trace.content=on",
    "copies of this data folder, keys included, that were made before",
    "what receivers of deliveries keep: games, chats, webhooks, other agents",
    "what a model's provider keeps of its prompts",
    "what devices asked the broker to retain (MQTT), and quarantined words of no agent",
)
"""What forgetting cannot undo."""

_IN_CLEAR = (
    "this log is in clear (privacy.seal=off): what stands in it cannot be deleted, so nobody"
    " can be forgotten"
)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten."""

    agent: str
    person: str
    keys: tuple[str, ...]
    """The names of the keys that were destroyed; none: nothing was ever sealed for them."""
    sequence: int | None = None
    """Of the input from which the agent goes on without."""
    waiting: int = 0
    """How many messages were destroyed that nobody had taken in."""
    tables: int | None = None
    """The version of the read models that was made without; None: there are none."""
    is_wiped: bool = True
    """Whether the earlier ones are out of the database's files, too; False: its role may
    not do that."""
    out_of_reach: tuple[str, ...] = field(default=_OUT_OF_REACH)


async def forget(
    client: BrokerClient,
    log: LiveLog,
    agent: str,
    person: str,
    tables: tuple[Store, Filler] | None = None,
) -> Forgotten:
    """Forget a person at an agent.

    Raises:
        EchoicError: the log is in clear.
        RefusedError: the agent does not answer that it forgot.
        Unanswered, LogUnavailable, ProjectionError: it has to be called again.
    """
    person = named(person)
    keys = keyring(log)
    marks = await _begun(keys, agent, person)
    if not marks:
        return Forgotten(agent, person, ())
    waiting = await erase_waiting(
        client, agent, lambda body: speaker(_fields(body)) == person
    )
    await keys.bucket.erase(f"key.{agent}.{person}")
    sequence = await _tell(log, agent, person, tuple(marks))
    partition = partition_of(agent)
    # Whatever state was saved before is under this key.
    await keys.bucket.erase(f"key.{STATES}.{partition}")
    await JetStreamCheckpoints(client).drop(partition)
    version, is_wiped = None, True
    if tables is not None:
        version, is_wiped = await _remade(*tables, log)
    for name, mark in marks.items():
        await keys.mark(agent, person, name, Mark(mark.at, done=True))
    return Forgotten(agent, person, tuple(marks), sequence, waiting, version, is_wiped)


async def destroy_again(log: LiveLog) -> int:
    """Destroy keys that came back with a copy of the bucket; return how many.

    Which were destroyed is told by the log, and beside the keys.
    """
    keys, count = log.keyring, 0
    if keys is None:
        return 0
    gone = {(agent, name) for agent, name, _ in await keys.marks()}
    async for record in scan(log, forgettings_of("*")):
        told = read_input(record)
        if isinstance(told.message, PersonForgotten):
            gone |= {(told.agent, name) for name in told.message.keys}
    for agent, name in sorted(gone):
        person = name.rpartition(".")[0]
        if await keys.name_of(agent, person) == name:
            await keys.bucket.erase(f"key.{agent}.{person}")
            count += 1
    return count


def keyring(log: LiveLog) -> Keyring:
    """Return the keys of a log.

    Raises:
        EchoicError: it is in clear.
    """
    if log.keyring is None:
        raise EchoicError(
            _IN_CLEAR, next_step="ECHOIC_PRIVACY_SEAL=on echoic up --data NEW_FOLDER"
        )
    return log.keyring


async def _begun(keys: Keyring, agent: str, person: str) -> Mapping[str, Mark]:
    """Return the keys that are to be destroyed: the person's, and of what was cut off."""
    marks = {
        name: mark for _, name, mark in await keys.marks(agent, person) if not mark.done
    }
    name = await keys.name_of(agent, person)
    if name is not None:
        marks[name] = Mark(datetime.now(UTC))
        # Before anything is destroyed, so that whoever calls again goes on.
        await keys.mark(agent, person, name, marks[name])
    return marks


async def _tell(log: LiveLog, agent: str, person: str, names: tuple[str, ...]) -> int:
    outputs = await submit(
        log,
        agent,
        PersonForgotten(person=person, keys=names).checked(),
        partition=partition_of(agent),
    )
    if not any(isinstance(output.message, ControlApplied) for output in outputs):
        raise RefusedError(
            f"the agent {agent!r} did not forget: {outputs[0].message}",
            next_step="echoic config show privacy.seal",
        )
    return outputs[0].mark.cause_sequence


async def _remade(store: Store, filler: Filler, log: LiveLog) -> tuple[int, bool]:
    """Make the read models again, drop those that hold the words, and wipe their files."""
    version = await rebuilding.rebuild(store, filler, log)
    for each in store.versions():
        if each.state == "retired":
            store.drop(each.number)
    return version, await asyncio.to_thread(store.wipe)


def _fields(body: bytes) -> Mapping[str, object]:
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return fields if isinstance(fields, dict) else {}
