"""Who is in charge of a range of partitions: one owner, and any number that stand by.

The owner renews the key of its range; who stands by takes it once it is gone, or has stood
still for a while by its own clock. Both are compare-and-set on one key, so that one of them
wins. These are no locks: what somebody still writes who was thought dead is refused by the
fence of the log. The pattern is that of kopf (`kopf/_core/engines/peering.py`).
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import msgspec
from msgspec.json import decode, encode
from msgspec.structs import replace

from schemas.values.subjects import range_text, read_range
from streams.cancellation import ended, heed_cancellation
from streams.errors import LogUnavailable, StreamsError
from streams.jetstream.owners import Entry, OwnerBucket

RENEW_S = 2.0
"""Seconds between two renewals of a key (design, "Owners")."""

STOP_S = 4.0
"""Seconds without a renewal after which an owner decides nothing more."""

STILL_S = 6.0
"""Seconds for which a key stands still until another takes it: its owner stopped before."""

LOOK_S = 1.0
"""Seconds between two looks of who stands by, at most."""

_AGAIN_S = 0.2
"""Seconds before a request that was not answered is sent again."""

END_S = 12.0
"""Seconds that a worker may take to save its checkpoints: more than `checkpointing.END_S`."""

_RANGE = "range."
_log = logging.getLogger(__name__)


class RangesOverlap(StreamsError):
    """Another worker is in charge of some of these partitions, by another range."""

    def __init__(self, ours: str, theirs: str, owner: str) -> None:
        super().__init__(
            f"the partitions {ours} overlap those of {owner}, {theirs}: a range has one owner,"
            f" and who stands by for it has the same; set worker.partitions to {theirs}, or to"
            " others than these (echoic status names all workers)"
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """How a worker stands to its range, for whoever wants to know of changes."""

    range: str
    owner: str
    """The name of who is in charge."""
    is_own: bool


class _Held(msgspec.Struct, frozen=True, kw_only=True):
    """What the key of a range holds."""

    owner: str
    place: str
    """Where it runs, the same after a restart there."""
    run: str
    """Which run of it."""
    since: int = 0
    """The first revision by which this run held it; 0 in that one itself."""


class _Stillness:
    """For how long keys have stood still, by a clock of one's own."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, float, bool]] = {}
        """Revision, since when it is known, and whether the key was seen to move."""
        self._looked: float | None = None

    def look(self, known: Mapping[str, Entry], now: float) -> None:
        """Note what the keys are now; time in which nothing was seen counts for nobody."""
        if self._looked is not None and now - self._looked > RENEW_S:
            self._seen.clear()
        self._looked = now
        before, self._seen = self._seen, {}
        for key, entry in known.items():
            revision, since, moved = before.get(key, (entry.revision, now, False))
            if revision != entry.revision:
                revision, since, moved = entry.revision, now, True
            self._seen[key] = revision, since, moved

    def of(self, key: str) -> tuple[bool, bool]:
        """Tell whether a key has stood still for too long, and whether it was seen to move."""
        _, since, moved = self._seen[key]
        return (self._looked or 0.0) - since >= STILL_S, moved


class Charge:
    """The part that one worker has in a range; the `Tenure` of that worker."""

    def __init__(
        self,
        bucket: OwnerBucket,
        partitions: tuple[int, ...],
        name: str,
        settled: asyncio.Event,
        *,
        place: str | None = None,
        changed: Callable[[Standing], None] = lambda _: None,
        seen: Callable[[Mapping[str, Entry]], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Stand by for a range, as what people know by `name`.

        `settled` is set once another was seen to be in charge; who works sets it, too.
        `place` says where, if no other can run there at the same time: at its start it takes
        over from who was there before. `seen` is given all keys at each look, and may raise
        what ends this worker. `clock` counts seconds.
        """
        self.range = range_text(partitions)
        self._bucket, self._clock = bucket, clock
        self._changed, self._seen, self._settled = changed, seen, settled
        self._partitions = frozenset(partitions)
        # A comma stands in no key.
        self._key = _RANGE + self.range.replace(",", "_")
        run = uuid4().hex
        self._own = _Held(owner=name, place=place or run, run=run)
        self._begins = True
        """Whether it has neither been in charge nor seen who is."""
        self._revision: int | None = None
        """Of the key, while it is in charge."""
        self._until = self._renewed_at = float("-inf")
        self._known: dict[str, Entry] = {}
        self._stillness = _Stillness()
        self._doubts: list[asyncio.Future[bool]] = []
        self._woken = asyncio.Event()
        self._told: Standing | None = None

    def lapsed(self) -> bool:
        """Tell whether nothing may be decided now."""
        return self._clock() >= self._until

    async def look(self) -> bool:
        """Renew now; tell whether the range is still its own, once that is known."""
        if self._revision is None:
            return False
        doubt: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._doubts.append(doubt)
        self._woken.set()
        return await doubt

    async def run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Stand by, and work while in charge, until cancelled; then hand over at once.

        Raises:
            RangesOverlap: another is in charge of some of it by another range.
        """
        await self._bucket.on_news(self._woken.set)
        try:
            while True:
                await self._look_until(self._taken)
                await self._in_charge(work)
        finally:
            await self._leave()

    async def _in_charge(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Work until the range is another's."""
        working = asyncio.create_task(work())
        renewing = asyncio.create_task(self._look_until(self._lost))
        try:
            done, _ = await asyncio.wait(
                {working, renewing}, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            # The worker first: what it holds is its own while it saves that.
            await ended([working], END_S)
            await ended([renewing])
        for task in done:
            task.result()

    async def _look_until(self, step: Callable[[], Coroutine[Any, Any, bool]]) -> None:
        """Look when it is time or somebody calls, until a step says that it was the last."""
        while True:
            heed_cancellation()
            self._woken.clear()
            try:
                if await step():
                    return
            except LogUnavailable as error:
                _log.info("who owns what is out of reach: %s", error)
                await asyncio.sleep(_AGAIN_S)
                continue
            due_s = self._renewed_at + RENEW_S - self._clock()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S if self._revision is None else due_s):
                    await self._woken.wait()

    async def _taken(self) -> bool:
        """Take the range if it may be; tell whether it was taken."""
        await self._see()
        return await self._is_clear() and self._is_free() and await self._claim()

    async def _lost(self) -> bool:
        """Renew the key if it is time to; tell whether it is another's."""
        is_due = self._clock() >= self._renewed_at + RENEW_S
        if (is_due or self._doubts) and not await self._renew():
            _log.warning("%s of %s is another's", self.range, self._own.owner)
            return True
        await self._see()
        await self._is_clear()
        return False

    async def _see(self) -> None:
        """Read the keys; a replica that lags takes nothing back."""
        for key, each in (await self._bucket.read()).items():
            if key not in self._known or self._known[key].revision < each.revision:
                self._known[key] = each
        self._stillness.look(self._known, self._clock())
        self._seen(self._known)

    async def _is_clear(self) -> bool:
        """Tell whether no other range overlaps; take away the keys of those that are dead.

        Raises:
            RangesOverlap: one does, whose owner is alive and was there before.
        """
        is_clear = True
        for key, each in [*self._known.items()]:
            if not key.startswith(_RANGE) or key == self._key or not each.value:
                continue
            theirs = key.removeprefix(_RANGE).replace("_", ",")
            if self._partitions.isdisjoint(read_range(theirs)):
                continue
            held = decode(each.value, type=_Held)
            is_dead, is_alive = self._stillness.of(key)
            if is_dead or self._was_here(held):
                await self._write(key, b"", each.revision)
                continue
            is_clear = False
            is_older = (held.since or each.revision) < (
                self._own.since or each.revision
            )
            if is_alive and (self._revision is None or is_older):
                raise RangesOverlap(self.range, theirs, held.owner)
        return is_clear

    def _is_free(self) -> bool:
        """Tell whether to take the range now; else tell who has it."""
        found = self._known.get(self._key, Entry(b"", 0))
        if not found.value:
            return True
        held = decode(found.value, type=_Held)
        is_dead, is_alive = self._stillness.of(self._key)
        # The same run: it took it, and the answer was lost.
        if is_dead or held.run == self._own.run or self._was_here(held):
            return True
        if is_alive:
            self._begins = False
            self._tell(held.owner)
            self._settled.set()
        return False

    def _was_here(self, held: _Held) -> bool:
        """Tell whether a key is of an earlier run at this place, which is over."""
        return self._begins and held.place == self._own.place

    async def _claim(self) -> bool:
        """Take the range, unless another was quicker; tell whether it was taken."""
        asked, before = self._clock(), self._known.get(self._key, Entry(b"", 0))
        value = encode(replace(self._own, since=0))
        revision = await self._write(self._key, value, before.revision)
        if revision is None:
            # What is known may be of a bucket that is gone.
            self._known.clear()
            return False
        self._own = replace(self._own, since=revision)
        self._begins = False
        self._renewed(revision, asked)
        self._tell(self._own.owner)
        return True

    async def _renew(self) -> bool:
        """Renew the key; tell whether it is still this worker's."""
        asked, before = self._clock(), self._revision or 0
        doubts = tuple(self._doubts)
        revision = await self._bucket.write(self._key, encode(self._own), before)
        if revision is None and (moved := await self._moved(before)):
            # It was a renewal whose answer was lost; the next one follows it.
            revision = await self._bucket.write(self._key, encode(self._own), moved)
        if revision is None:
            self._revision, self._until = None, float("-inf")
            # Also who asked meanwhile: there is nothing left to be renewed.
            doubts = tuple(self._doubts)
        else:
            self._renewed(revision, asked)
        for doubt in doubts:
            self._doubts.remove(doubt)
            if not doubt.done():
                doubt.set_result(revision is not None)
        return revision is not None

    def _renewed(self, revision: int, asked: float) -> None:
        self._revision, self._renewed_at = revision, asked
        # From when it was asked: it may have been stored at once, and been seen by others.
        self._until = asked + STOP_S

    async def _moved(self, before: int) -> int | None:
        """Return the revision to which this run itself has moved its key; None if none.

        Raises:
            LogUnavailable: what was read is older than what is known.
        """
        found = (await self._bucket.read()).get(self._key, Entry(b"", 0))
        if found.value and found.revision <= before:
            raise LogUnavailable("what was read of the owners lags behind")
        is_own = found.value and decode(found.value, type=_Held).run == self._own.run
        return found.revision if is_own else None

    async def _leave(self) -> None:
        """Hand the range over, once nobody works on it."""
        revision, self._revision = self._revision, None
        self._until = float("-inf")
        if revision is not None:
            with suppress(LogUnavailable):
                await self._write(self._key, b"", revision)

    async def _write(self, key: str, value: bytes, revision: int) -> int | None:
        """Set a key, and have all look at it; return its revision, None if it was another."""
        stored = await self._bucket.write(key, value, revision)
        if stored is not None:
            self._known[key] = Entry(value, stored)
            await self._bucket.tell()
        return stored

    def _tell(self, owner: str) -> None:
        told = Standing(self.range, owner, self._revision is not None)
        if told != self._told:
            self._told = told
            self._changed(told)
