"""The projector: follows the log, folds it, and writes the changes into the tables.

While PostgreSQL is away the tables fall behind and the mind goes on; what was not written
is folded again from the log. A rebuild is a projector that writes another version.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from projections.errors import (
    PositionLost,
    ProjectionError,
    StoreUnavailable,
    VersionRetired,
)
from projections.projector.checks import check_positions, check_shape
from projections.projector.folding import (
    AidsSource,
    Begin,
    Folding,
    Projected,
    from_the_first,
)
from projections.rows.changes import join
from projections.store import nearness
from projections.store.places import Move, Position
from projections.store.store import Store
from schemas.values.subjects import PARTITIONS, outputs_of, parse
from streams.errors import LogUnavailable
from streams.log import After, ReadableLog

BATCH_GROUPS = 2_000
"""How many groups one transaction writes at about the most; it bounds memory."""

_PAUSE_S = 0.1
"""How long changes are gathered between writes while following, in seconds."""

_RETRY_S = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Seconds between attempts while PostgreSQL or the broker is away; the last repeats."""

_FOLLOWED = 1000
"""How many outputs are fetched at once while following, at most."""

_T = TypeVar("_T")
Told = Callable[[Sequence[Projected]], None]
_log = logging.getLogger(__name__)


class Projector:
    """Keeps one version of the tables up with the log."""

    def __init__(
        self,
        log: ReadableLog,
        store: Store,
        aids: AidsSource,
        *,
        version: int | None = None,
        told: Told = lambda _: None,
        begin: Begin = from_the_first,
    ) -> None:
        """Prepare to write `version`, by default the one that serves.

        `told` is called after each write with its groups. `begin` finds a
        checkpoint, so that less has to be folded again.
        """
        self._log = log
        self._store = store
        self._folding = Folding(log, aids, begin)
        self._fixed = version
        self._told = told
        self._version: int | None = None
        """The version being written; None before the first, and after a rebuild."""
        self._stands: dict[int, Position] = {}
        self._batch: list[Projected] = []
        self._writing: asyncio.Task[None] | None = None
        self._grown = 0
        """How many episodes were written since the last look at their index."""
        self._touched: _Touched | None = None

    @property
    def behind(self) -> int:
        """How many partitions have outputs not written yet; all before the first catch-up."""
        return PARTITIONS if self._touched is None else self._touched.count

    async def run(self) -> None:
        """Bring the tables up to date with the log and keep them so, until cancelled.

        Raises:
            LogTruncated: the tables were made of another log, or of more of this one.
            PositionLost: another projector writes the same tables.
            StoreUnusable: the database refuses what the tables need.
            LogDamaged, UnreadableOutputError, MissingPackError: as `Folding.advance`.
        """
        # Asked before catching up: what arrives in between is then heard of as well.
        seen = await _patiently(partial(self._log.ends, outputs_of("*")))
        await _patiently(self.catch_up)
        self._touched = touched = _Touched(self._log, seen)
        try:
            while True:
                partitions = await touched.wait()
                await _patiently(partial(self.catch_up, partitions))
                touched.settle(partitions, self._folding)
                await asyncio.sleep(_PAUSE_S)
        finally:
            await touched.close()

    async def catch_up(
        self,
        partitions: Iterable[int] = range(PARTITIONS),
        until: Mapping[int, int] | None = None,
    ) -> None:
        """Write every whole group now in the log, up to the inputs `until` if given.

        `until` is by partition; partitions that it lacks are left out.
        """
        await self._open()
        for partition in partitions:
            if until is None:
                await self._catch_up(partition, None)
            elif partition in until:
                await self._catch_up(partition, until[partition])
        await self._hand_over()
        await self._written()

    async def _catch_up(self, partition: int, until: int | None) -> None:
        stands = self._stands.get(partition)
        written = stands.sequence if stands is not None else 0
        async for made in self._folding.advance(
            partition, written=written, until=until
        ):
            self._batch += made
            # Over the partitions together: few groups of each still fill a batch.
            if len(self._batch) >= BATCH_GROUPS:
                await self._hand_over()

    async def _open(self) -> None:
        """Find the version to write and its positions, unless that is known."""
        if self._version is not None:
            return
        serving = await _in_thread(self._store.prepare)
        version = self._fixed or serving.number
        if self._fixed is None:
            check_shape(serving)
        stands = await _in_thread(self._store.positions, version)
        await check_positions(self._log, stands)
        self._version, self._stands = version, stands
        await self._tend()

    async def _tend(self) -> None:
        """Have what has grown indexed; a version that is being built is, at its end."""
        self._grown = 0
        if self._fixed is not None or self._version is None:
            return
        try:
            await _in_thread(self._store.tend, self._version)
        except ProjectionError as error:
            # Without it a search takes longer; the rows are as they should be.
            _log.warning("episodes are not indexed: %s", error)

    async def _hand_over(self) -> None:
        """Begin to write the batch, while the next one is folded."""
        # One write at a time: batches have to commit in the order of the log.
        await self._written()
        batch, self._batch = self._batch, []
        if batch:
            self._writing = asyncio.create_task(self._write(batch))

    async def _written(self) -> None:
        """Wait for the write under way, and raise what it raised."""
        if self._writing is not None:
            await self._writing
            self._writing = None

    async def _write(self, batch: Sequence[Projected]) -> None:
        """Write a batch, retrying for as long as PostgreSQL is away."""
        while True:
            try:
                return await _patiently(partial(self._try_to_write, batch))
            except VersionRetired:
                if self._fixed is not None:
                    raise
                _log.info("a rebuild has replaced version %s", self._version)
                # The new version may be ahead of us; `_is_new` then leaves out of the batch
                # what it has.
                self._version = None
                await _patiently(self._open)

    async def _try_to_write(self, batch: Sequence[Projected]) -> None:
        new = [each for each in batch if self._is_new(each)]
        moves = self._moves(new)
        if not moves or self._version is None:
            return
        try:
            episodes = await _in_thread(
                _write_joined, self._store, self._version, new, moves
            )
        except PositionLost:
            # Read back: a commit whose answer got lost was made all the same. If the
            # positions are those of this write, it was ours; else another projector's.
            stands = await _in_thread(self._store.positions, self._version)
            if any(stands.get(move.partition) != move.after for move in moves):
                raise
            episodes = 0
        self._stands |= {move.partition: move.after for move in moves}
        self._told(new)
        self._grown += episodes
        if self._grown >= nearness.FROM:
            await self._tend()

    def _is_new(self, projected: Projected) -> bool:
        stands = self._stands.get(projected.partition)
        return stands is None or projected.position.sequence > stands.sequence

    def _moves(self, new: Sequence[Projected]) -> list[Move]:
        # The last of each partition wins: groups are in the order of the log.
        ends = {each.partition: each.position for each in new}
        return [Move(each, self._stands.get(each), ends[each]) for each in ends]


def _write_joined(
    store: Store, version: int, new: Sequence[Projected], moves: Sequence[Move]
) -> int:
    """Write the changes of groups; return how many episodes are new."""
    # Joined here, in the thread of the write, to keep that work off the event loop.
    changes = join(change for each in new for change in each.changes)
    store.write(version, changes, moves)
    return len(changes["episodes"].puts) if "episodes" in changes else 0


class _Touched:
    """The partitions with outputs that are not folded yet, by listening to the log.

    All in one event loop: `_seen` and `_woken` are changed between awaits only.
    """

    def __init__(self, log: ReadableLog, after: After) -> None:
        self._seen: dict[int, int] = {}
        self._woken = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(log, after))

    @property
    def count(self) -> int:
        """How many partitions there are now."""
        return len(self._seen)

    async def wait(self) -> list[int]:
        """Wait for outputs, and return the partitions that have some, at least one.

        Raises what listening raised.
        """
        waiting = asyncio.create_task(self._woken.wait())
        await asyncio.wait(
            {waiting, self._listening}, return_when=asyncio.FIRST_COMPLETED
        )
        # Without the listener nothing would ever wake us: its failure has to come out.
        waiting.cancel()
        if self._listening.done():
            self._listening.result()
        return sorted(self._seen)

    def settle(self, partitions: Iterable[int], folding: Folding) -> None:
        """Forget the partitions that are folded up to the last output heard of.

        The others are looked at again: a group may not be whole yet.
        """
        for partition in partitions:
            if folding.last_output(partition) >= self._seen[partition]:
                del self._seen[partition]
        if not self._seen:
            self._woken.clear()

    async def close(self) -> None:
        """Stop listening."""
        self._listening.cancel()
        with suppress(asyncio.CancelledError):
            await self._listening

    async def _listen(self, log: ReadableLog, after: After) -> None:
        async for records in log.follow(outputs_of("*"), after, _FOLLOWED):
            for record in records:
                self._seen[parse(record.subject).partition] = record.sequence
            self._woken.set()


async def _patiently(action: Callable[[], Awaitable[_T]]) -> _T:
    """Return what `action` returns, retrying while PostgreSQL or the broker is away.

    Each outage is logged once when it begins and once when it ends.
    """
    attempt = 0
    while True:
        try:
            done = await action()
        except (StoreUnavailable, LogUnavailable) as error:
            if attempt == 0:
                _log.warning("the read models fall behind: %s", error)
            await asyncio.sleep(_RETRY_S[min(attempt, len(_RETRY_S) - 1)])
            attempt += 1
        else:
            if attempt:
                _log.info("the read models catch up again")
            return done


async def _in_thread(action: Callable[..., _T], *arguments: object) -> _T:
    return await asyncio.to_thread(action, *arguments)
