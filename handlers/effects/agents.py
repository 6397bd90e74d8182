"""Telling another agent something: a delivery on channel `agent` becomes that agent's event.

The event's id derives from the ask's, so that one told twice is a duplicate to its receiver;
only then the sender's log gets `Delivered`. A kill in between loses and doubles nothing.
"""

from functools import partial

from handlers.broker_wait import until_available
from handlers.effects.priority_queue import AskQueue, QueuedAsk
from schemas.codec.agent_events import agent_event
from schemas.codec.catalogue import AskMessage
from schemas.codec.decode import read_input
from schemas.messages.asks import DeliveryAsked
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.results import Delivered, DeliveryFailed
from schemas.values import subjects
from schemas.values.ids import EPOCH_PREFIX
from streams.errors import LogRefused
from streams.log import ReadableLog, WritableLog

_CLOSED = (subjects.PUBLISHED_CONTROL, subjects.PUBLISHED_FEEDBACK)
"""Types that are no events: no agent rules another."""


def is_told(ask: AskMessage) -> bool:
    """Tell whether an ask is to tell another agent something."""
    return (
        isinstance(ask, DeliveryAsked)
        and ask.channel == subjects.AGENT_SOURCE
        and ask.action is not None
        and ask.action.target is not None
    )


async def tell(
    log: ReadableLog, writer: WritableLog, held: QueuedAsk, *, within_s: float
) -> Delivered | DeliveryFailed:
    """Append to the receiver's inputs what it is told, unless it is too late.

    Only within one clock: the time of another world's events means nothing here.
    """
    asked = held.ask
    assert isinstance(asked, DeliveryAsked)
    assert asked.action is not None
    failed = partial(DeliveryFailed, ask_id=held.output.id, channel=asked.channel)
    if within_s <= 0 and held.is_repeated:
        return failed(reason="unknown", detail="it may have been told before")
    if within_s <= 0:
        return failed(reason="expired", detail=f"it was worth {asked.ttl_s} s")
    receiver, type_ = asked.action.target or "", asked.action.type
    if not subjects.is_agent(receiver) or not subjects.is_token(type_):
        return failed(reason="refused", detail="no such agent, or no type of event")
    if type_ in _CLOSED:
        return failed(reason="refused", detail=f"{type_} is no event")
    apart = await until_available(partial(_apart, log, held.output.agent, receiver))
    if apart:
        return failed(reason="other_clock", detail=apart)
    wire = agent_event(log.epoch, held.output)
    message_id = f"{EPOCH_PREFIX}{log.epoch}:{wire.headers['ce-id']}"
    try:
        await until_available(partial(writer.append, wire, message_id))
    except LogRefused as error:
        return failed(reason="refused", detail=str(error)[:2_000])
    return Delivered(ask_id=held.output.id, channel=asked.channel)


async def _apart(log: ReadableLog, sender: str, receiver: str) -> str:
    """Return how the clocks of two agents differ; empty if they have the same."""
    ours, theirs = await _clock(log, sender), await _clock(log, receiver)
    if ours == theirs:
        return ""
    return f"{sender} has the time of {ours}, {receiver} that of {theirs}"


async def _clock(log: ReadableLog, agent: str) -> str:
    """Return in words whose time an agent has: the broker's, or its world's."""
    place = subjects.partition_of(agent)
    started, ended = [
        await log.last_sequence(
            subjects.input_subject(place, agent, "control", each.token)
        )
        for each in (SessionStarted, SessionEnded)
    ]
    record = await log.record(started) if started > ended else None
    message = read_input(record).message if record is not None else None
    if not isinstance(message, SessionStarted) or message.clock == "broker":
        return "the broker"
    return f"world {message.world!r}" if message.world else "its world's events"


class AgentQueue(AskQueue):
    """A queue that serves one ask of a sender at a time, in the order of the log."""

    def _chosen(self) -> QueuedAsk | None:
        serving = {each.output.agent for each in self._serving}
        free = [each for each in self._waiting if each.output.agent not in serving]
        if not free:
            return None
        chosen = min(free, key=lambda held: held.output.record.sequence)
        self._waiting.remove(chosen)
        return chosen

    def _end_of(self, held: QueuedAsk) -> None:
        # What the sender has still to tell lost its permit meanwhile.
        self._waits.release()
