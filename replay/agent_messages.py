"""Whether what agents told each other stems from what they were asked to tell.

An event of the source `agent` names its sender and the place of the ask in the sender's log;
its id derives from the ask's. One that does not was made by something else.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias
from uuid import UUID

from replay.chain import Chained
from schemas.codec.agent_events import COUNTER, SENDER, agent_event
from schemas.codec.decode import UnreadableOutputError, read_input, read_output
from schemas.codec.envelope import Output
from schemas.messages.arms import Action
from schemas.messages.asks import DeliveryAsked
from schemas.messages.sensing import Sensed
from schemas.values.record import Record
from schemas.values.subjects import (
    AGENT_SOURCE,
    PARTITIONS,
    SubjectError,
    parse,
    sensor_of,
)
from schemas.values.unicode_text import quoted
from streams.log import ReadableLog, scan

_Find: TypeAlias = Callable[[str, int], Awaitable[tuple[UUID, Record] | None]]
"""Return an agent's record by its sequence, with its log's epoch; None if it is not there."""


@dataclass(frozen=True, slots=True)
class Stray:
    """A message of an agent's that stems from no ask."""

    agent: str
    """Who was told it."""
    sequence: int
    why: str


def is_agents(record: Record) -> bool:
    """Tell whether a record is an event that another agent told."""
    return sensor_of(record.subject) == AGENT_SOURCE


async def strays(records: Iterable[Record], find: _Find) -> AsyncIterator[Stray]:
    """Yield those among some records that stem from no ask."""
    for record in filter(is_agents, records):
        stray = await _stray(record, find)
        if stray is not None:
            yield stray


async def strays_of_log(
    log: ReadableLog, since: Mapping[int, Chained] = MappingProxyType({})
) -> AsyncIterator[Stray]:
    """Yield those of a log that stem from no ask, behind where it was checked before."""

    async def find(agent: str, sequence: int) -> tuple[UUID, Record] | None:
        record = await log.record(sequence)
        return (log.epoch, record) if record is not None else None

    for partition in range(PARTITIONS):
        after = since.get(partition, Chained()).position
        told = f"ev.{partition}.in.*.sensor.{AGENT_SOURCE}.>"
        async for record in scan(log, told, after):
            stray = await _stray(record, find)
            if stray is not None:
                yield stray


async def _stray(record: Record, find: _Find) -> Stray | None:
    why = await _wrong(record, find)
    agent = parse(record.subject).agent
    return Stray(agent, record.sequence, why) if why else None


async def _wrong(record: Record, find: _Find) -> str:
    event = read_input(record).message
    if not isinstance(event, Sensed):
        return "it cannot be read"
    sender, sequence = event.fields.get(SENDER), event.fields.get(COUNTER)
    if not isinstance(sender, str) or not isinstance(sequence, int):
        return "it names no ask"
    found = await find(sender, sequence)
    if found is None:
        return f"{quoted(sender)} has no ask {sequence}"
    epoch, told = found
    asked = _ask(told, sender)
    if asked is None:
        return f"message {sequence} is no ask of {quoted(sender)} to tell an agent"
    return _difference(record, event, epoch, asked)


def _ask(record: Record, sender: str) -> Output | None:
    """Return the ask to tell an agent something that a record is; None if it is none."""
    try:
        output = read_output(record)
    except UnreadableOutputError:
        return None
    match output.message:
        case DeliveryAsked(channel=channel, action=Action(target=str())) if (
            channel == AGENT_SOURCE and output.agent == sender
        ):
            return output
        case _:
            return None


def _difference(record: Record, event: Sensed, epoch: UUID, asked: Output) -> str:
    """Return what of an event is not as its ask has it; empty if nothing."""
    try:
        wire = agent_event(epoch, asked)
    except SubjectError as error:
        return str(error)
    assert isinstance(asked.message, DeliveryAsked)
    assert asked.message.action is not None
    if record.subject != wire.subject:
        return f"ask {asked.id} is to tell {wire.subject}"
    if record.headers.get("ce-id") != wire.headers["ce-id"]:
        return f"its id is not that of ask {asked.id}"
    params = asked.message.action.params
    told = {name: event.fields.get(name) for name in params}
    own = {SENDER: asked.agent, COUNTER: asked.record.sequence}
    if event.text != asked.message.text or told | own != {**params, **own}:
        return f"ask {asked.id} has other words"
    return ""
