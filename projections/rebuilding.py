"""Making the tables again from the log: to replace them, or to prove them.

Both fill a new version beside the serving one, so readers never wait and never see half.
"""

import asyncio
import logging
from dataclasses import dataclass

from projections import tables, versions
from projections.changes import TableName
from projections.checksums import Checksum, Difference, checksums, differences
from projections.errors import StoreUnusable
from projections.folding import AidsSource
from projections.positions import Position, positions_of
from projections.projector import Projector, check_positions
from projections.store import Store
from streams.log import ReadableLog

OVERTAKES_MAX = 100
"""How often a rebuild tries to pass a projector that goes on meanwhile."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of comparing the tables with the log."""

    version: int
    positions: dict[int, Position]
    """Up to where the log was compared."""
    tables: dict[TableName, Checksum]
    differences: tuple[Difference, ...]

    @property
    def is_equal(self) -> bool:
        """Whether every table is the fold of the log."""
        return not self.differences


async def rebuild(log: ReadableLog, store: Store, aids: AidsSource) -> int:
    """Make the tables again, show them in place of the old ones, return their version.

    The old ones stay as `retired` until the next rebuild, or until they are dropped.

    Raises:
        StoreUnusable: another projector is always ahead, or PostgreSQL refuses.
        LogUnavailable, StoreUnavailable: the broker or PostgreSQL is away.
    """
    version = await asyncio.to_thread(_begin, store)
    try:
        await _fill_and_promote(log, store, aids, version)
    except BaseException:
        await asyncio.to_thread(store.drop, version)
        raise
    return version


async def verify(log: ReadableLog, store: Store, aids: AidsSource) -> Verified:
    """Compare the tables that serve with a fresh fold of the log up to where they stand.

    Raises:
        LogTruncated: the tables were made of another log, or of more of this one.
        StoreUnusable: there are no tables, or they are of another program version.
    """
    with store.snapshot() as snapshot:
        serving = versions.serving(snapshot)
        if serving is None or serving.shape != tables.SHAPE:
            raise StoreUnusable(
                "there are no tables of this program version to verify:"
                " run `echoic projection rebuild`"
            )
        stands = positions_of(snapshot, serving.number)
        await check_positions(log, stands)
        held = await asyncio.to_thread(checksums, snapshot, serving.number)
        fresh = await asyncio.to_thread(store.begin)
        try:
            until = {each: stands[each].sequence for each in stands}
            await Projector(log, store, aids, version=fresh).catch_up(until=until)
            with store.snapshot() as made:
                wanted = await asyncio.to_thread(checksums, made, fresh)
                wrong = [name for name in held if held[name] != wanted[name]]
                found = tuple(
                    difference
                    for name in wrong
                    for difference in differences(
                        snapshot, serving.number, made, fresh, name
                    )
                )
        finally:
            await asyncio.to_thread(store.drop, fresh)
    return Verified(serving.number, stands, held, found)


def _begin(store: Store) -> int:
    store.prepare()
    for version in store.versions():
        if version.state == "retired":
            store.drop(version.number)
    return store.begin()


async def _fill_and_promote(
    log: ReadableLog, store: Store, aids: AidsSource, version: int
) -> None:
    projector = Projector(log, store, aids, version=version)
    for _ in range(OVERTAKES_MAX):
        await projector.catch_up()
        if await asyncio.to_thread(store.promote, version):
            _log.info("version %d of the read models serves from now on", version)
            return
    raise StoreUnusable(
        f"version {version} of the read models stays behind the one that serves:"
        " another projector is always ahead; try again when there is less to do"
    )
