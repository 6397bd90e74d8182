"""The desk where asks wait: the most urgent is served first, however late it came.

The broker hands asks over in the order of the log and keeps each until acknowledged. An
ask is acknowledged when its result stands in the log; what goes wrong before that gives
it back to the broker, which hands it over again.
"""

import asyncio
import logging
from bisect import insort
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import nats.errors

from handlers.retry import heed_cancellation
from schemas.codec.catalogue import AskMessage
from schemas.codec.envelope import Output
from streams.jetstream.consumers import CONSUMERS

HEARTBEAT_S = 3.0
"""How often the broker hears that an ask is still in hand; well under its patience."""

IN_HAND_LIMIT = CONSUMERS[0].at_once
"""How many may wait: as many as the broker hands over before some are done with."""

CROWDED_S = 5.0
"""When an ask that found no place at the desk is handed over again."""

TROUBLED_S = 1.0
"""When an ask that could not be performed now is handed over again."""

_log = logging.getLogger(__name__)


class Receipt(Protocol):
    """How the broker is told what became of a message that it handed over."""

    async def ack(self) -> None:
        """It is done with."""

    async def nack(self, delay: float | None = None) -> None:
        """Hand it over again, after `delay` seconds."""

    async def in_progress(self) -> None:
        """It is still in hand."""


@dataclass(frozen=True, slots=True, eq=False)
class QueuedAsk:
    """An ask in hand."""

    output: Output
    """The ask as the log holds it."""
    ask: AskMessage
    receipt: Receipt
    is_repeated: bool = False
    """Whether the broker handed it over before."""

    @property
    def rank(self) -> tuple[float, int]:
        """The higher, the sooner: by priority, then by age."""
        return self.ask.priority, -self.output.record.sequence


Perform = Callable[[QueuedAsk], Awaitable[None]]
"""Performs an ask and appends its result; raises when it should be tried again."""


class AskQueue:
    """A bounded number of asks, served most urgent first, some at once."""

    def __init__(
        self, perform: Perform, *, slots: int, limit: int = IN_HAND_LIMIT
    ) -> None:
        """Serve `slots` asks at once and let at most `limit` wait."""
        self._perform = perform
        self._slots = slots
        self._limit = limit
        self._waiting: list[QueuedAsk] = []
        """By rank, the most urgent last."""
        self._serving: set[QueuedAsk] = set()
        self._waits = asyncio.Semaphore(0)
        self._is_closed = False

    @property
    def in_hand(self) -> tuple[QueuedAsk, ...]:
        """What waits here and what is being served."""
        return (*self._waiting, *self._serving)

    async def take(self, held: QueuedAsk) -> None:
        """Let an ask wait; if too many do, the least urgent goes back to the broker."""
        if self._is_closed:
            await _give_back(held, TROUBLED_S)
            return
        if any(each.output.id == held.output.id for each in self.in_hand):
            # The broker lost patience; the acknowledgement will count for both.
            return
        insort(self._waiting, held, key=_rank)
        if len(self._waiting) <= self._limit:
            self._waits.release()
            return
        await _give_back(self._waiting.pop(0), CROWDED_S)

    async def run(self) -> None:
        """Serve until cancelled; what is in hand then goes back to the broker.

        It may be run again.
        """
        self._is_closed = False
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._keep_in_hand())
                for _ in range(self._slots):
                    tasks.create_task(self._serve())
        finally:
            self._is_closed = True
            given_back = self.in_hand
            self._waiting.clear()
            self._serving.clear()
            self._waits = asyncio.Semaphore(0)
            for held in given_back:
                await _give_back(held, TROUBLED_S)

    async def keep_running(self, name: str) -> None:
        """Serve until cancelled, whatever fails; a failure is told as an error."""
        while True:
            # Its own task: before Python 3.12 a failed group leaves the one that it runs in
            # half cancelled.
            running = asyncio.create_task(self.run())
            try:
                await running
            except Exception:  # noqa: BLE001  # it is told, and served again
                _log.exception(
                    "the desk %s failed: what it had in hand comes again in %s s",
                    name,
                    TROUBLED_S,
                )
            await asyncio.sleep(TROUBLED_S)

    async def _serve(self) -> None:
        while True:
            heed_cancellation()
            await self._waits.acquire()
            held = self._waiting.pop()
            self._serving.add(held)
            await self._finish(held)
            self._serving.discard(held)

    async def _finish(self, held: QueuedAsk) -> None:
        try:
            await self._perform(held)
        except Exception as error:  # noqa: BLE001  # one bad ask must not close the desk
            _log.warning(
                "ask %s could not be answered (%r): it is tried again in %s s",
                held.output.id,
                error,
                TROUBLED_S,
            )
            await _give_back(held, TROUBLED_S)
        else:
            with suppress(nats.errors.Error):
                await held.receipt.ack()

    async def _keep_in_hand(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            for held in self.in_hand:
                with suppress(nats.errors.Error):
                    await held.receipt.in_progress()


def _rank(held: QueuedAsk) -> tuple[float, int]:
    return held.rank


async def _give_back(held: QueuedAsk, delay_s: float) -> None:
    # A broker that cannot be told hands the ask over by itself when its patience ends.
    with suppress(nats.errors.Error):
        await held.receipt.nack(delay=delay_s)
