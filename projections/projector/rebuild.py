"""Rebuild the tables from the log, or verify them against it.

Both fill a new version beside the serving one, so that readers neither wait nor see a
partial one.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from sqlalchemy.engine import Connection

from projections.errors import StoreUnusable
from projections.projector.checks import check_positions, unfounded
from projections.projector.folding import AidsSource
from projections.projector.projector import Projector
from projections.rows.changes import TableName
from projections.store import versions
from projections.store.checksums import Checksum, Difference, checksums, differences
from projections.store.places import SHAPE, Position
from projections.store.positions import positions_of
from projections.store.store import Store
from schemas.values.subjects import PARTITIONS
from streams.log import ReadableLog

_OVERTAKES_MAX = 100
"""How often a rebuild tries to catch up with a projector that goes on meanwhile."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of comparing the tables with the log."""

    version: int
    positions: dict[int, Position]
    """The positions up to which the log was compared."""
    tables: dict[TableName, Checksum]
    differences: tuple[Difference, ...]

    @property
    def is_equal(self) -> bool:
        """Whether every table is the fold of the log."""
        return not self.differences


class Filler(Protocol):
    """Folds the log into the tables of a version, here or in other processes."""

    async def fill(self, version: int, until: Mapping[int, int] | None = None) -> None:
        """Write every whole group now in the log, up to the inputs `until` by partition.

        A further call for the same version continues from there.
        """
        ...


class Here:
    """A filler in this process."""

    def __init__(
        self,
        log: ReadableLog,
        store: Store,
        aids: AidsSource,
        told: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Prepare; `told` is called after each write with its number of groups."""
        self._log = log
        self._store = store
        self._aids = aids
        self._told = told
        self._projectors: dict[int, Projector] = {}

    async def fill(self, version: int, until: Mapping[int, int] | None = None) -> None:
        """Fill all partitions, one after the other."""
        await self.fill_partitions(range(PARTITIONS), version, until)

    async def fill_partitions(
        self, partitions: Iterable[int], version: int, until: Mapping[int, int] | None
    ) -> None:
        """Fill these partitions, keeping their states in memory for the next call."""
        # Of one version only: states take memory, and a finished version needs none.
        projector = self._projectors.get(version)
        if projector is None:
            projector = Projector(
                self._log,
                self._store,
                self._aids,
                version=version,
                told=lambda made: self._told(len(made)),
            )
            self._projectors = {version: projector}
        await projector.catch_up(partitions, until)


async def rebuild(store: Store, filler: Filler, log: ReadableLog | None = None) -> int:
    """Rebuild the tables, serve them in place of the old ones, and return their version.

    The old ones stay as `retired` until the next rebuild. With a `log` they may hold more
    than it does, as they do when an older copy of it was restored.

    Raises:
        StoreUnusable: another rebuild goes on, or PostgreSQL refuses.
        LogUnavailable, StoreUnavailable: the broker or PostgreSQL is away.
    """
    with store.alone():
        await asyncio.to_thread(_clear, store, "building", "retired")
        beyond = {} if log is None else await _unfounded(log, store)
        version = await asyncio.to_thread(store.begin)
        try:
            await _promote(filler, store, version, beyond)
        # Cancelled too: a version that nobody goes on filling would only take up space.
        except BaseException:
            await asyncio.to_thread(store.drop, version)
            raise
    return version


async def verify(log: ReadableLog, store: Store, filler: Filler) -> Verified:
    """Compare the serving tables with a fresh fold of the log up to their positions.

    Raises:
        LogTruncated: the tables were made of another log, or of more of this one.
        StoreUnusable: there are no tables, they are of another program version, or a
            rebuild goes on.
        LogUnavailable, StoreUnavailable: the broker or PostgreSQL is away.
    """
    with store.alone(), store.snapshot() as snapshot:
        serving = versions.serving(snapshot)
        if serving is None or serving.shape != SHAPE:
            raise StoreUnusable(
                "there are no tables of this program version to verify:"
                " run `echoic projection rebuild`"
            )
        # Positions and rows from one snapshot, since a projector may go on writing.
        stands = positions_of(snapshot, serving.number)
        await check_positions(log, stands)
        held = await asyncio.to_thread(checksums, snapshot, serving.number)
        await asyncio.to_thread(_clear, store, "building")
        fresh = await asyncio.to_thread(store.begin)
        try:
            until = {partition: stands[partition].sequence for partition in stands}
            await filler.fill(fresh, until)
            with store.snapshot() as made:
                found = await asyncio.to_thread(
                    _compared, snapshot, serving.number, held, made, fresh
                )
        finally:
            await asyncio.to_thread(store.drop, fresh)
    return Verified(serving.number, stands, held, found)


def _clear(store: Store, *states: str) -> None:
    """Drop the versions in these states: replaced ones, or those left by a crash."""
    store.prepare()
    for version in store.versions():
        if version.state in states:
            store.drop(version.number)


def _compared(
    snapshot: Connection,
    serving: int,
    held: Mapping[TableName, Checksum],
    made: Connection,
    fresh: int,
) -> tuple[Difference, ...]:
    """Return the rows in which the serving tables differ from those made now."""
    wanted = checksums(made, fresh)
    wrong = [name for name in held if held[name] != wanted[name]]
    each_wrong = (differences(snapshot, serving, made, fresh, name) for name in wrong)
    return tuple(chain.from_iterable(each_wrong))


async def _unfounded(log: ReadableLog, store: Store) -> dict[int, Position]:
    """Return the positions of the serving tables that the log does not hold."""
    serving = await asyncio.to_thread(store.serving)
    stands = await asyncio.to_thread(store.positions, serving.number)
    return {each: stands[each] for each in await unfounded(log, stands)}


async def _promote(
    filler: Filler, store: Store, version: int, beyond: Mapping[int, Position]
) -> None:
    """Fill a version until it has caught up with the serving one, and swap it in."""
    for _ in range(_OVERTAKES_MAX):
        await filler.fill(version)
        if await asyncio.to_thread(store.promote, version, beyond):
            _log.info("version %d of the read models serves from now on", version)
            return
    raise StoreUnusable(
        f"version {version} of the read models stays behind the one that serves:"
        " another projector is always ahead; try again when there is less to do"
    )
