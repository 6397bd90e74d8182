"""Performing a spoken `DeliveryAsked`: at most once, one at a time for each agent.

`DeliveryBegun` is in the log before a word is heard. What has begun and has no end there,
for the program was killed meanwhile, ends as unknown and is never said again.
"""

import asyncio
import logging
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from handlers.effects import results
from handlers.effects.delivery import Outlet, deliver
from handlers.effects.ledger import Ledger
from handlers.effects.priority_queue import AskQueue, Perform, QueuedAsk
from handlers.effects.speech import Speaker, SpeechError
from schemas.codec.catalogue import AskMessage
from schemas.messages.asks import DeliveryAsked
from schemas.messages.results import (
    Delivered,
    DeliveryBegun,
    DeliveryFailed,
    DeliveryInterrupted,
)
from streams.log import ReadableLog, WritableLog

_SPEECH_SLOTS = 16
"""How many agents speak at once."""

_FAREWELL_S = 2.0
"""How long the end of the program waits for the log to take that it cut off speech."""

_DETAIL_LIMIT = 2_000

_log = logging.getLogger(__name__)

_Ended = Delivered | DeliveryFailed | DeliveryInterrupted


class _Performing(Protocol):
    """What an utterance needs of the performer."""

    @property
    def log(self) -> ReadableLog:
        """The log."""

    @property
    def writer(self) -> WritableLog:
        """What writes to it."""

    @property
    def outlet(self) -> Outlet:
        """Where text goes."""

    @property
    def ledger(self) -> Ledger:
        """What has begun and ended."""

    @property
    def speaker(self) -> Speaker | None:
        """Who speaks."""

    def clock(self) -> datetime:
        """Return the time."""


def is_speech(ask: AskMessage) -> bool:
    """Tell whether an ask is to be spoken."""
    return isinstance(ask, DeliveryAsked) and ask.output == "speech"


async def utter(by: _Performing, held: QueuedAsk, *, within_s: float) -> _Ended:
    """Speak, if it is still in time and had not begun before; write what cannot be spoken.

    `within_s` is how many seconds are left; at 0 or less nothing is said.
    """
    asked, ask_id = held.ask, held.output.id
    assert isinstance(asked, DeliveryAsked)
    failed = partial(DeliveryFailed, ask_id=ask_id, channel=asked.channel)
    if await by.ledger.has_begun(held):
        return failed(reason="unknown", detail="the program ended while it was spoken")
    if by.speaker is None:
        return await _write(by, held, asked, within_s)
    if within_s <= 0:
        detail = f"it was worth saying for {asked.ttl_s} s"
        return failed(reason="expired", detail=detail)
    begun = DeliveryBegun(ask_id=ask_id, channel=asked.channel, started_at=by.clock())
    await results.append(by.writer, by.log.epoch, held, begun)
    cut = partial(DeliveryInterrupted, ask_id=ask_id, channel=asked.channel)
    began_s = asyncio.get_running_loop().time()
    try:
        said = await by.speaker.say(held.output.agent, ask_id, asked)
    except SpeechError as error:
        _log.warning("speech: %s", error)
        if asked.fallback_channel is None:
            return failed(reason="refused", detail=str(error)[:_DETAIL_LIMIT])
        return await _write(by, held, asked, within_s)
    except asyncio.CancelledError:
        after_ms = round((asyncio.get_running_loop().time() - began_s) * 1000, 3)
        await _bid_farewell(by, held, cut(reason="stopped", after_ms=after_ms))
        raise
    if said.cut is not None:
        return cut(reason=said.cut, after_ms=said.after_ms)
    return Delivered(ask_id=ask_id, channel=asked.channel)


async def _write(
    by: _Performing, held: QueuedAsk, asked: DeliveryAsked, within_s: float
) -> Delivered | DeliveryFailed:
    """Give as text what cannot be spoken."""
    channel = asked.fallback_channel or asked.channel
    written = replace(asked, channel=channel)
    output = held.output
    return await deliver(by.outlet, output.id, output.agent, written, within_s=within_s)


async def _bid_farewell(
    by: _Performing, held: QueuedAsk, cut: DeliveryInterrupted
) -> None:
    """Record that the program's end cut off speech; without that it ends as unknown."""
    # A task of its own: this one is cancelled, and would write nothing any more.
    writing = asyncio.create_task(results.append(by.writer, by.log.epoch, held, cut))
    with suppress(Exception):
        await asyncio.wait_for(writing, _FAREWELL_S)


class SpeechQueue(AskQueue):
    """A queue that serves one ask of an agent at a time, alerts first."""

    def __init__(self, perform: Perform, speaker: Speaker | None) -> None:
        """Serve as many agents as there are slots."""
        super().__init__(perform, slots=_SPEECH_SLOTS)
        self._speaker = speaker

    async def take(self, held: QueuedAsk) -> None:
        """Queue an ask; an alert cuts off what its agent is saying."""
        await super().take(held)
        if self._speaker is not None and isinstance(held.ask, DeliveryAsked):
            self._speaker.make_way(held.output.agent, held.ask)

    def _chosen(self) -> QueuedAsk | None:
        speaking = {each.output.agent for each in self._serving}
        free = [each for each in self._waiting if each.output.agent not in speaking]
        if not free:
            return None
        chosen = max(free, key=_precedence)
        self._waiting.remove(chosen)
        return chosen

    def _end_of(self, held: QueuedAsk) -> None:
        # What the agent has still to say lost its permit while the agent was speaking.
        self._waits.release()


def _precedence(held: QueuedAsk) -> tuple[bool, float, int]:
    ask = held.ask
    is_alert = isinstance(ask, DeliveryAsked) and ask.response_type == "alert"
    return is_alert, *held.rank
