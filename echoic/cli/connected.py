"""What commands on a running instance share: connect, do the work, disconnect."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from echoic.cli.options import Call
from echoic.cli.progress import Progress
from echoic.client import find, known_agents, publish
from echoic.client.connection import Connection, connect
from echoic.embedders import embedder
from echoic.terminal.output import note
from replay.recording.decisions import DecisionRecord
from schemas.codec.catalogue import ControlMessage, OutputMessage
from schemas.codec.envelope import Output
from schemas.values.lazily import Lazily
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.topology import LOG_SUBJECTS

if TYPE_CHECKING:
    from echoic.client import state
    from handlers import aids
else:
    # Most commands fold nothing, and start sooner without what embeds.
    state = Lazily("echoic.client.state")
    aids = Lazily("handlers.aids")

_T = TypeVar("_T")


def on_instance(call: Call, work: Callable[[Connection], Awaitable[_T]]) -> _T:
    """Run `work` with a connection to the instance, and return its result."""

    async def run() -> _T:
        async with connect(call.settings) as connection:
            return await work(connection)

    return asyncio.run(run())


def send(call: Call, control: ControlMessage) -> Sequence[OutputMessage]:
    """Send a control to the agent, and return the outputs that answer it.

    Raises:
        RefusedError: the agent rejected it.
    """

    async def run(connection: Connection) -> Sequence[Output]:
        return await publish.tell(connection.log, connection.settings.agent, control)

    return [output.message for output in on_instance(call, run)]


def aid_provider(connection: Connection) -> "aids.AidProvider":
    """Make the provider of the aids that a fold of the log needs."""
    made = embedder(connection.settings["embedder"])
    return aids.AidProvider(made, aids.PackLibrary(connection.log, made))


async def known_at(
    connection: Connection, sequence: int | None = None, at: datetime | None = None
) -> "state.AgentSnapshot":
    """Fold what the mind knew of the agent up to an input or a moment, with progress.

    Without either, fold to the end of the log.

    Raises:
        NotFoundError: there is no such agent, or there was none by then.
    """
    await known_agents.check(connection)
    settings = connection.settings
    with Progress("inputs folded") as progress:
        known = await state.state_at(
            connection.log,
            settings.agent,
            embedder(settings["embedder"]),
            sequence=sequence,
            at=at,
            checkpoints=JetStreamCheckpoints(connection.client, connection.log.keyring),
            progress=progress,
        )
    if sequence is not None or at is not None:
        last = await connection.log.last_sequence(LOG_SUBJECTS)
        # A moment yet to come is no error: what is known by the end of the log is shown.
        if (sequence or 0) > last or (at is not None and at > datetime.now(UTC)):
            note(f"the log ends at {last}: this is what is known now")
    return known


async def decision_named(
    connection: Connection, id_: str, *, is_silent: bool = False
) -> DecisionRecord:
    """Return the decision whose id begins so; of `last` the last one, or last silence.

    Raises:
        NotFoundError: there is none, or several, or no such agent.
    """
    await known_agents.check(connection)
    log, agent = connection.log, connection.settings.agent
    if id_ == "last":
        return await find.last_decision(log, agent, silent=is_silent)
    return await find.find_decision(log, agent, id_)
