"""Recall: what happened and was said that is like a text.

From the read models where there are any, by an index; else the log is read whole, and each
event's text embedded again.
"""

import asyncio

from echoic.client import known_agents
from echoic.client.connection import Connection
from echoic.client.read_models import up_to_date
from echoic.client.watch import last_answered, settings_in_force
from echoic.embedders import embedder
from projections.rows.episodes import Episode
from projections.store import recall
from projections.store.recall import Wanted
from replay.recording.decisions import DecisionRecord, DecisionRecords
from replay.recording.likeness import is_episode, nearest
from schemas.codec.decode import read_input, read_output
from schemas.values.subjects import partition_of
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
        person=person,
        limit=limit,
    )
    async with up_to_date(connection) as store:
        if store is not None:
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
    async for group in groups(log, partition_of(agent), 0, wanted.as_of):
        input_ = read_input(group.input)
        if input_.agent != agent:
            continue
        for record in records.take(input_, list(map(read_output, group.outputs))):
            if is_episode(record) and _concerns(record, wanted.person):
                found[record.id] = record
    kept = list(found.values())
    embedded = made.embed([each.text for each in kept]) if kept else []
    return tuple(nearest(kept, embedded, wanted.vector)[: wanted.limit])


def _concerns(record: DecisionRecord, person: str | None) -> bool:
    event = record.event
    return person is None or event is None or event.person in (None, person)
