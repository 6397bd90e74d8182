"""The ledger: which asks have ended, by their result or because the mind gave them up.

The log is read once, from the oldest ask that anybody wants to know of up to its end, and
on from there: a backlog of asks costs one reading, not one for each.
"""

import asyncio
from collections.abc import Callable

import orjson

from handlers.effects.priority_queue import QueuedAsk
from handlers.effects.results import begun_id, result_id
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Dropped
from schemas.values.record import Record
from streams.log import ReadableLog, scan

_REMEMBERED = 100_000
"""How many ends are kept in memory, at most; what is dropped is read again if needed."""


def _by_decision(record: Record) -> str:
    return str(orjson.loads(record.body).get("decision_id"))


_FILTERS: dict[str, Callable[[Record], str]] = {
    "ev.*.in.*.result.*": lambda record: record.headers.get("ce-id", ""),
    f"ev.*.out.*.decision.{Completed.token}": _by_decision,
    f"ev.*.out.*.decision.{Dropped.token}": _by_decision,
}
"""Subject filters of the messages that end something, and the key of what they end."""


class Ledger:
    """An index, in memory, of the asks and decisions that the log says have ended."""

    def __init__(self, log: ReadableLog) -> None:
        """Read from `log` when first asked."""
        self._log = log
        self._ends: dict[str, int] = {}
        """The sequence of the last end, by what it ends."""
        self._since: int | None = None
        """Ends behind this sequence are known."""
        self._upto = dict.fromkeys(_FILTERS, 0)
        """How far each filter was read."""
        self._reading = asyncio.Lock()

    async def is_answered(self, held: QueuedAsk) -> bool:
        """Tell whether the log holds a result of this ask."""
        return await self._has_ended(held, result_id(self._log.epoch, held.output.id))

    async def has_begun(self, held: QueuedAsk) -> bool:
        """Tell whether the log holds that the delivery of this ask has begun."""
        return await self._has_ended(held, begun_id(self._log.epoch, held.output.id))

    async def is_given_up(self, held: QueuedAsk) -> bool:
        """Tell whether the decision that waits for this model call has ended without it."""
        ask = held.ask
        is_for_words = isinstance(ask, ModelAsked) and ask.purpose in _FOR_WORDS
        return is_for_words and await self._has_ended(held, ask.decision_id)

    async def _has_ended(self, held: QueuedAsk, what: str) -> bool:
        asked = held.output.record.sequence
        # Several slots ask at once, and each reading moves the same positions.
        async with self._reading:
            await self._read_from(asked)
            # A sequence before the ask is the end of an earlier ask for the same decision.
            return self._ends.get(what, 0) > asked

    async def _read_from(self, sequence: int) -> None:
        """Extend what is known to all ends behind a sequence, up to the log's end."""
        since = self._since
        if since is None:
            self._since = since = sequence
            self._upto = dict.fromkeys(_FILTERS, sequence)
        for subjects in _FILTERS:
            # An older ask than any before: only the gap in front of what is known is read.
            if sequence < since:
                await self._read(subjects, sequence, since)
            self._upto[subjects] = await self._read(subjects, self._upto[subjects])
        self._since = min(since, sequence)
        if len(self._ends) > _REMEMBERED:
            self._forget()

    async def _read(self, subjects: str, after: int, until: int | None = None) -> int:
        """Read the ends of a filter, and return the sequence of the last one."""
        key_of = _FILTERS[subjects]
        async for record in scan(self._log, subjects, after, until):
            key = key_of(record)
            self._ends[key] = max(self._ends.get(key, 0), record.sequence)
            after = record.sequence
        return after

    def _forget(self) -> None:
        """Drop the older half; half, so that the sort is paid once in 50,000 ends."""
        newest = sorted(self._ends.items(), key=lambda end: end[1])
        forgotten, kept = newest[: _REMEMBERED // 2], newest[_REMEMBERED // 2 :]
        # Whoever asks for something older than this makes the gap be read again.
        self._since = forgotten[-1][1]
        self._ends = dict(kept)


_FOR_WORDS = ("answer", "prediction", "talker", "executor", "single", "autonomous")
"""Why models are asked what a decision waits for."""
