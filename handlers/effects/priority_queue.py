"""The queue of asks in this process: the most urgent is served first, whenever it came.

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

from schemas.codec.catalogue import AskMessage
from schemas.codec.envelope import Output
from streams.cancellation import heed_cancellation
from streams.jetstream.consumers import CONSUMERS

_HEARTBEAT_S = 3.0
"""Seconds between signs of life for an ask in hand; the broker's ack wait is 10 s."""

IN_HAND_LIMIT = CONSUMERS[0].at_once
"""How many may wait: the consumer's `max_ack_pending`, so none is turned away in
practice."""

_CROWDED_S = 5.0
"""Seconds until an ask that the full queue gave back is handed over again."""

_TROUBLED_S = 1.0
"""Seconds until an ask that could not be performed is handed over again."""

_log = logging.getLogger(__name__)


class _Receipt(Protocol):
    """The acknowledgement of one message: a FastStream message, as far as it is used."""

    async def ack(self) -> None:
        """Acknowledge the message."""

    async def nack(self, delay: float | None = None) -> None:
        """Have it delivered again, after `delay` seconds."""

    async def in_progress(self) -> None:
        """Reset the broker's ack wait."""


@dataclass(frozen=True, slots=True, eq=False)
class QueuedAsk:
    """An ask that the broker delivered and that is not acknowledged yet."""

    output: Output
    """The ask as the log holds it."""
    ask: AskMessage
    receipt: _Receipt
    is_repeated: bool = False
    """Whether the broker delivered it before."""

    @property
    def rank(self) -> tuple[float, int]:
        """Served by priority, highest first, then by sequence, oldest first."""
        return self.ask.priority, -self.output.record.sequence


Perform = Callable[[QueuedAsk], Awaitable[None]]
"""Performs an ask and appends its result; raises when it should be tried again."""


class AskQueue:
    """A bounded priority queue of asks with a fixed number of workers."""

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
        """Queue an ask; if the queue is full, the least urgent goes back to the broker."""
        if self._is_closed:
            await _give_back(held, _TROUBLED_S)
            return
        # Its ack wait ran out. Performing it twice would ask, and pay, twice.
        if any(each.output.id == held.output.id for each in self.in_hand):
            # The broker lost patience; the acknowledgement will count for both.
            return
        # Sorted by insertion: the least urgent is at hand too, which a heap would not give.
        insort(self._waiting, held, key=lambda each: each.rank)
        if len(self._waiting) <= self._limit:
            self._waits.release()
            return
        await _give_back(self._waiting.pop(0), _CROWDED_S)

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
            # Given back at once, so that another process need not wait for the ack wait to
            # end.
            given_back = self.in_hand
            self._waiting.clear()
            self._serving.clear()
            self._waits = asyncio.Semaphore(0)
            for held in given_back:
                await _give_back(held, _TROUBLED_S)

    async def keep_running(self, name: str) -> None:
        """Serve until cancelled; log a failure as an error and serve on."""
        while True:
            # Its own task: before Python 3.12 a failed group leaves the one that it runs in
            # half cancelled.
            running = asyncio.create_task(self.run())
            try:
                await running
            except Exception:  # noqa: BLE001  # it is told, and served again
                _log.exception(
                    "the queue %s failed: what it had in hand comes again in %s s",
                    name,
                    _TROUBLED_S,
                )
            await asyncio.sleep(_TROUBLED_S)

    async def _serve(self) -> None:
        while True:
            heed_cancellation()
            await self._waits.acquire()
            # Chosen here, not when the permit was made: the most urgent may have come
            # since.
            held = self._chosen()
            if held is None:
                continue
            self._serving.add(held)
            await self._finish(held)
            self._serving.discard(held)
            self._end_of(held)

    def _chosen(self) -> QueuedAsk | None:
        """Take the ask that is served next; None if none may be served yet."""
        return self._waiting.pop()

    def _end_of(self, held: QueuedAsk) -> None:
        """React to the end of an ask."""

    async def _finish(self, held: QueuedAsk) -> None:
        try:
            await self._perform(held)
        except Exception as error:  # noqa: BLE001  # one bad ask must not stop the queue
            _log.warning(
                "ask %s could not be answered (%r): it is tried again in %s s",
                held.output.id,
                error,
                _TROUBLED_S,
            )
            await _give_back(held, _TROUBLED_S)
        else:
            # An ask whose acknowledgement is lost comes again; the ledger knows that it is
            # done.
            with suppress(nats.errors.Error):
                await held.receipt.ack()

    async def _keep_in_hand(self) -> None:
        while True:
            heed_cancellation()
            await asyncio.sleep(_HEARTBEAT_S)
            for held in self.in_hand:
                # One lost heartbeat is made good by the next, three of them fit into the
                # ack wait.
                with suppress(nats.errors.Error):
                    await held.receipt.in_progress()


async def _give_back(held: QueuedAsk, delay_s: float) -> None:
    # A broker that cannot be told hands the ask over by itself when its patience ends.
    with suppress(nats.errors.Error):
        await held.receipt.nack(delay=delay_s)
