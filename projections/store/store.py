"""The read models in PostgreSQL: versions, positions, and batches written with them.

A batch and the positions it moves are one transaction, so after any crash the tables are
the fold of the log up to their positions: exactly-once effect on at-least-once delivery.
Positions move by compare-and-set; of two projectors the second raises `PositionLost`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy import text
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from projections.errors import PositionLost, StoreUnusable
from projections.rows.changes import TableChanges, TableName
from projections.store import glance, nearness, tables, versions, writing
from projections.store.places import Move, Position, Version
from projections.store.positions import moved, positions_of

# The key of the advisory lock is shared by all programs on a database: "echoic" in ASCII.
_ALONE = {"id": 0x6563686F6963}


class Store(glance.Closing):
    """A database with the read models; close it, or use it as a context manager."""

    def __init__(self, url: str) -> None:
        """Name the database; nothing is connected yet.

        Raises:
            StoreUnusable: the URL is no URL of a PostgreSQL.
        """
        self._url = url
        self._engine = sa.create_engine(
            _engine_url(url),
            pool_size=4,
            # A server that was started again leaves dead connections in the pool.
            pool_pre_ping=True,
            connect_args={
                "connect_timeout": glance.CONNECT_S,
                "options": "-c timezone=UTC",
            },
        )

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Open a transaction; it commits at the end of the block, or rolls back.

        Raises:
            StoreUnavailable: PostgreSQL is away, or the connection broke. If it broke in
                the commit, that may have been made all the same.
            StoreUnusable: it refuses the statement, and will the next time.
        """
        with self._translating(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Open a read-only transaction on one snapshot; raises as `transaction` does."""
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._translating(), self._engine.connect() as connection:
            yield connection.execution_options(**options)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock on rebuilding and verifying, for the length of the block.

        Raises:
            StoreUnusable: another program holds it.
        """
        with self._translating(), self._engine.connect() as connection:
            # A lock of the session, since a rebuild spans many transactions; in autocommit
            # the connection does not hold one open meanwhile, which would stop vacuum.
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            if not connection.scalar(
                sa.text("SELECT pg_try_advisory_lock(:id)"), _ALONE
            ):
                raise StoreUnusable(
                    f"a rebuild or a verification is under way in {self._where()}:"
                    " wait until it has ended"
                )
            try:
                yield
            finally:
                connection.execute(sa.text("SELECT pg_advisory_unlock(:id)"), _ALONE)

    def prepare(self) -> Version:
        """Create what a new database lacks, and return the version that serves."""
        with self.transaction() as connection:
            versions.one_at_a_time(connection)
            connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS vector"))
            tables.control.create_all(connection)
            serving = versions.serving(connection)
            if serving is None:
                # Empty tables serve at once, so that readers find views from the start.
                serving = versions.begin(connection, "serving")
                versions.complete(connection, serving.number)
                versions.show(connection, serving.number)
        return serving

    def serving(self) -> Version:
        """Return the version that the views show.

        Raises:
            StoreUnusable: nothing was ever projected here.
        """
        with self.transaction() as connection:
            found = versions.serving(connection)
        if found is None:
            raise glance.nothing_yet(self._where())
        return found

    def rows(self, statement: str, **values: object) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a statement, whose parameters stand as `:name`."""
        with self.transaction() as connection:
            # In raw form: the driver reads JSON by itself.
            found = connection.execute(sa.text(statement), values).mappings().all()
        return [dict(row) for row in found]

    def versions(self) -> tuple[Version, ...]:
        """Return every version there is, oldest first."""
        with self.transaction() as connection:
            return versions.all_of(connection)

    def positions(self, version: int) -> dict[int, Position]:
        """Return the position of each partition that a version has begun."""
        with self.transaction() as connection:
            return positions_of(connection, version)

    def write(
        self,
        version: int,
        changes: Mapping[TableName, TableChanges],
        moves: Sequence[Move],
    ) -> None:
        """Write a batch and move its positions, all or nothing.

        Raises:
            VersionRetired: a rebuild has replaced the version.
            PositionLost: another projector moved one of the positions.
            StoreUnavailable, StoreUnusable: as `transaction`.
        """
        with self.transaction() as connection:
            versions.check(connection, version)
            # In one order for everybody: two projectors then wait instead of deadlocking.
            for move in sorted(moves, key=lambda move: move.partition):
                if not moved(connection, version, move):
                    raise PositionLost(version, move.partition)
            writing.write(connection, version, changes)

    def tend(self, version: int) -> None:
        """Index what has grown; raises as `transaction` does."""
        with self.transaction() as connection:
            nearness.tend(connection, version)

    def begin(self) -> int:
        """Create a new set of tables beside the serving one, and return its version."""
        with self.transaction() as connection:
            versions.one_at_a_time(connection)
            return versions.begin(connection, "building").number

    def promote(self, version: int, unfounded: Mapping[int, Position]) -> bool:
        """Serve this version instead of the present one, atomically for all readers.

        The earlier version stays until it is dropped. False if this one is still behind;
        positions of the earlier one that are `unfounded` do not count.
        """
        # Indexes take long and disturb nobody; the swap that follows has to be short, as it
        # holds back the projector's writes.
        with self.transaction() as connection:
            versions.complete(connection, version)
            nearness.tend(connection, version)
        with self.transaction() as connection:
            versions.one_at_a_time(connection)
            return versions.swap(connection, version, unfounded)

    def drop(self, version: int) -> None:
        """Remove a version that does not serve.

        Raises:
            StoreUnusable: it serves.
        """
        with self.transaction() as connection:
            versions.one_at_a_time(connection)
            versions.drop(connection, version)

    def wipe(self) -> bool:
        """Take dropped versions out of the database's files; False if the role may not."""
        with self._translating(), self._engine.connect() as connection:
            # A vacuum and a checkpoint are no part of a transaction.
            return _wipe(connection.execution_options(isolation_level="AUTOCOMMIT"))

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Raise errors of the database as those of this package."""
        try:
            yield
        except (DBAPIError, psycopg.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise glance.translated(cause or error, self._where()) from error

    def _where(self) -> str:
        return glance.place(self._url)


def _engine_url(url: str) -> sa.URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise StoreUnusable(
            "DATABASE_URL is no URL: write postgresql://user:password@host:5432/name"
        ) from error
    glance.checked(url)
    # Users write the URL as libpq has it; SQLAlchemy would look for psycopg2 by that name.
    return parsed.set(drivername="postgresql+psycopg")


# Taking what was dropped out of the files of a PostgreSQL. A dropped table leaves its
# rows in the write-ahead log, whose files are used again as they are, and samples of
# its values in the planner's statistics.
_MAY = text("SELECT current_setting('is_superuser') = 'on'")
_SWITCH = text("SELECT pg_switch_wal()")
# One that is empty is not switched from.
_WRITE = text("SELECT pg_logical_emit_message(false, '', '')")
_WAITING = text(
    "SELECT count(*) FROM pg_ls_waldir()"
    " WHERE name > pg_walfile_name(pg_current_wal_insert_lsn())"
)


def _wipe(connection: Connection) -> bool:
    """Overwrite or remove all that is no longer part of the database, in autocommit.

    False: the role is no superuser's, and nothing was done.
    """
    if not connection.scalar(_MAY):
        return False
    # Rewritten: a plain vacuum leaves the bytes of dead rows in their pages.
    connection.execute(text("VACUUM (FULL) pg_statistic"))
    connection.execute(_SWITCH)
    # Removes the files of before, or keeps them under the names of files to come.
    connection.execute(text("CHECKPOINT"))
    # One more, since a file is filled with zeros when it is left.
    for _ in range(1 + (connection.scalar(_WAITING) or 0)):
        connection.execute(_WRITE)
        connection.execute(_SWITCH)
    connection.execute(text("CHECKPOINT"))
    return True
