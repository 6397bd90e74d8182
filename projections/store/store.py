"""The read models in PostgreSQL: versions, positions, and batches written with them.

A batch and the positions it moves are one transaction, so whatever happens in between,
the tables are what the log up to their positions makes of them. Two projectors cannot
both move a position: the second finds it moved and stops.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import psycopg
import sqlalchemy as sa
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from projections.errors import PositionLost, StoreUnavailable, StoreUnusable
from projections.rows.changes import TableChanges, TableName
from projections.store import tables, versions, writing
from projections.store.positions import Move, Position, moved, positions_of
from projections.store.versions import Version

CONNECT_S = 5
"""How long a connection may take."""

_ALONE = {"id": 0x6563686F6963}


class Store:
    """A database with the read models; close it, or use it as a context manager."""

    def __init__(self, url: str) -> None:
        """Name the database; nothing is connected yet.

        Raises:
            StoreUnusable: the URL is no URL of a PostgreSQL.
        """
        self._engine = sa.create_engine(
            _engine_url(url),
            pool_size=4,
            pool_pre_ping=True,
            connect_args={
                "connect_timeout": CONNECT_S,
                "options": "-c timezone=UTC",
            },
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A transaction; what the database says of it comes out as an error of ours.

        Raises:
            StoreUnavailable: PostgreSQL is away, or broke off; nothing was committed.
            StoreUnusable: it refuses what is asked, now and the next time.
        """
        with self._translating(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A transaction that sees one moment and changes nothing; raises as the other."""
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._translating(), self._engine.connect() as connection:
            yield connection.execution_options(**options)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be the only one who makes tables again, for the length of the block.

        Raises:
            StoreUnusable: somebody else does.
        """
        with self._translating(), self._engine.connect() as connection:
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
        """Make what a new database lacks, and return the version that serves."""
        with self.transaction() as connection:
            versions.one_at_a_time(connection)
            connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS vector"))
            tables.control.create_all(connection)
            serving = versions.serving(connection)
            if serving is None:
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
            raise StoreUnusable(
                f"{self._where()} holds no read models yet: run `echoic up` once"
            )
        return found

    def versions(self) -> tuple[Version, ...]:
        """Return every version there is, oldest first."""
        with self.transaction() as connection:
            return versions.all_of(connection)

    def positions(self, version: int) -> dict[int, Position]:
        """Return where each partition stands in a version; one that is not begun is missing."""
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
            for move in sorted(moves, key=lambda move: move.partition):
                if not moved(connection, version, move):
                    raise PositionLost(version, move.partition)
            writing.write(connection, version, changes)

    def begin(self) -> int:
        """Make a new set of tables beside the serving one, and return its version."""
        with self.transaction() as connection:
            versions.one_at_a_time(connection)
            return versions.begin(connection, "building").number

    def promote(self, version: int) -> bool:
        """Show this version instead of the serving one, at once and for everybody.

        The earlier version stays until it is dropped. False: this one is still behind.
        """
        with self.transaction() as connection:
            versions.complete(connection, version)
        with self.transaction() as connection:
            versions.one_at_a_time(connection)
            return versions.swap(connection, version)

    def drop(self, version: int) -> None:
        """Remove a version that does not serve.

        Raises:
            StoreUnusable: it serves.
        """
        with self.transaction() as connection:
            versions.one_at_a_time(connection)
            versions.drop(connection, version)

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Let errors of the database come out as ours."""
        try:
            yield
        except (DBAPIError, psycopg.Error) as error:
            raise _translated(error, self._where()) from error

    def _where(self) -> str:
        return f"PostgreSQL at {self._engine.url.render_as_string(hide_password=True)}"


def _engine_url(url: str) -> sa.URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise StoreUnusable(
            "DATABASE_URL is no URL: write postgresql://user:password@host:5432/name"
        ) from error
    if parsed.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise StoreUnusable(
            f"DATABASE_URL begins with {parsed.drivername!r}: the read models need"
            " PostgreSQL, so write postgresql://user:password@host:5432/name"
        )
    return parsed.set(drivername="postgresql+psycopg")


def _translated(error: Exception, where: str) -> StoreUnavailable | StoreUnusable:
    cause = error.orig if isinstance(error, DBAPIError) else error
    reason = str(cause).strip().partition("\n")[0]
    if isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreUnavailable(
            f"{where} is away: {reason}; start it, or set DATABASE_URL to another."
            " The mind goes on, and nothing is lost meanwhile"
        )
    return StoreUnusable(
        f"{where} refuses: {reason}; see `echoic doctor`, and"
        " `echoic projection rebuild` makes the tables again"
    )
