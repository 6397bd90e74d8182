"""Recall: what happened and was said that is like a text.

From the read models where there are any, by an index; else the log is read whole, and each
event's text embedded again.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from echoic.client import known_agents
from echoic.client.connection import Connection
from echoic.client.heuristics import without_vectors
from echoic.client.persons import named
from echoic.client.read_models import up_to_date
from echoic.client.watch import last_answered, settings_in_force
from echoic.embedders import embedder
from projections.folds import events
from projections.rows.episodes import Episode
from projections.store import recall
from projections.store.recall import Wanted
from projections.store.store import Store
from replay.recording.decisions import DecisionRecord, DecisionRecords
from replay.recording.likeness import is_episode, nearest
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Input, Output
from schemas.messages.controls import PackLoaded
from schemas.messages.notes import ControlRefused
from schemas.messages.sensing import Sensed
from schemas.packs.compiled import CompiledPack
from schemas.packs.manifest import PackError
from schemas.values.subjects import SHARED_AGENT, partition_of
from schemas.values.vectors import Embedder
from streams.groups import groups
from streams.log import ReadableLog


async def recalled(
    connection: Connection, text: str, person: str | None, limit: int
) -> tuple[Episode, ...]:
    """Return the episodes of the agent nearest to a text, nearest first.

    Raises:
        NotFoundError: there is no such agent.
    """
    await known_agents.check(connection)
    agent, log = connection.settings.agent, connection.log
    made = embedder(connection.settings["embedder"])
    (vector,) = made.embed([text])
    partition = partition_of(agent)
    wanted = Wanted(
        vector=vector,
        embedder=(await settings_in_force(log, partition)).embedder,
        as_of=await last_answered(log, partition),
        person=None if person is None else named(person),
        limit=limit,
    )
    async with up_to_date(connection) as seen:
        is_there = seen is not None
    if is_there:
        with Store(connection.needed_database()) as store:
            # The store's driver blocks.
            found = await asyncio.to_thread(recall.nearest, store, agent, wanted)
        if found:
            return found
    # Nothing in the tables: nothing was remembered yet, or they are away.
    return await of_log(log, agent, made, wanted)


async def of_log(
    log: ReadableLog, agent: str, made: Embedder, wanted: Wanted
) -> tuple[Episode, ...]:
    """Return the same from the log alone, of all decisions that considered an event."""
    records, found = DecisionRecords(), dict[str, DecisionRecord]()
    packs, hidden = _Packs(log), set[str]()
    async for group in groups(log, partition_of(agent), 0, wanted.as_of):
        input_ = read_input(group.input)
        if input_.agent not in (agent, SHARED_AGENT):
            continue
        outputs = list(map(read_output, group.outputs))
        await packs.take(input_, outputs)
        touched = records.take(input_, outputs)
        if packs.hide(input_):
            # What somebody must not hear is told to nobody, as in the tables.
            hidden |= {each.id for each in touched if each.sequence == input_.sequence}
        for record in touched:
            is_told = record.id not in hidden and _concerns(record, wanted.person)
            if is_told and is_episode(record):
                found[record.id] = record
    kept = list(found.values())
    embedded = made.embed([each.text for each in kept]) if kept else []
    return tuple(nearest(kept, embedded, wanted.vector)[: wanted.limit])


def _concerns(record: DecisionRecord, person: str | None) -> bool:
    event = record.event
    return person is None or event is None or event.person in (None, person)


class _Packs:
    """The packs in force as a log goes on, of one agent and of all."""

    def __init__(self, log: ReadableLog) -> None:
        self._log = log
        self._shelves: dict[bool, dict[str, CompiledPack]] = {True: {}, False: {}}
        """By whether they are everybody's, by name."""

    async def take(self, input_: Input, outputs: Sequence[Output]) -> None:
        """Take a pack that an input loads; one that cannot be read hides nothing."""
        loaded = input_.message
        if not isinstance(loaded, PackLoaded):
            return
        blob = await self._log.blob(loaded.digest)
        was_refused = any(isinstance(each.message, ControlRefused) for each in outputs)
        if blob is None or was_refused:
            return
        shelf = self._shelves[input_.agent == SHARED_AGENT]
        if loaded.off:
            shelf.pop(loaded.name, None)
            return
        with suppress(PackError):
            shelf[loaded.name] = without_vectors(blob)

    def hide(self, input_: Input) -> bool:
        """Tell whether an input is an event that is hidden from anybody."""
        event = input_.message
        if not isinstance(event, Sensed):
            return False
        # The agent's own pack replaces a shared one of the same name.
        packs = self._shelves[True] | self._shelves[False]
        in_force = [packs[name] for name in sorted(packs)]
        declared = events.domain_of(in_force, event).event_type
        return declared is not None and bool(declared.hides(event))
