"""Versions of the tables: built beside the serving one, swapped in, dropped.

Readers use views: `heuristics` shows `heuristics__v3`. A view has the columns of its
table, and that of decisions further ones read out of the stored messages.

Each function works within its caller's transaction.
"""

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from projections.errors import StoreUnusable, VersionRetired
from projections.rows.changes import TableName
from projections.store import tables
from projections.store.places import SHAPE, Position, Version
from projections.store.positions import positions_of
from projections.store.tables import COLUMNS


def one_at_a_time(connection: Connection) -> None:
    """Wait for other transactions that create, swap or drop tables, and keep them out.

    The lock is released at the end of the transaction.
    """
    connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('echoic'))"))


def serving(connection: Connection) -> Version | None:
    """Return the version that the views show; None in a database that is new."""
    if not sa.inspect(connection).has_table(tables.versions.name):
        return None
    row = connection.execute(
        sa.select(tables.versions).where(tables.versions.c.state == "serving")
    ).one_or_none()
    return Version(row.version, row.shape, row.state) if row is not None else None


def all_of(connection: Connection) -> tuple[Version, ...]:
    """Return every version there is, oldest first."""
    rows = connection.execute(
        sa.select(tables.versions).order_by(tables.versions.c.version)
    )
    return tuple(Version(row.version, row.shape, row.state) for row in rows)


def begin(connection: Connection, state: str) -> Version:
    """Create a new set of tables, and return its version."""
    highest = connection.scalar(sa.select(sa.func.max(tables.versions.c.version)))
    version = Version((highest or 0) + 1, SHAPE, state)
    _metadata(version.number).create_all(connection)
    connection.execute(
        sa.insert(tables.versions).values(
            name=tables.PROJECTION,
            version=version.number,
            shape=version.shape,
            state=version.state,
        )
    )
    return version


def complete(connection: Connection, version: int) -> None:
    """Create the secondary indexes of a version whose bulk is written."""
    for statement in tables.indexes(version):
        connection.execute(sa.text(statement))


def show(connection: Connection, version: int) -> None:
    """Point the views at this version."""
    # Dropped and created: CREATE OR REPLACE VIEW cannot remove or retype a column.
    for name in tables.KEYS:
        connection.execute(sa.text(f"DROP VIEW IF EXISTS {name}"))
        connection.execute(sa.text(_view(name, version)))


def swap(
    connection: Connection, version: int, unfounded: Mapping[int, Position]
) -> bool:
    """Serve this version instead of the present one; false if it is still behind.

    Positions that are `unfounded`, by partition, are known not to be in the log.
    """
    earlier = serving(connection)
    if earlier is not None:
        # Waits for a write under way; the next one finds its version retired and moves on.
        check(connection, earlier.number, for_change=True)
        if _is_behind(connection, version, earlier.number, unfounded):
            return False
        _set_state(connection, earlier.number, "retired")
    _set_state(connection, version, "serving")
    show(connection, version)
    return True


def drop(connection: Connection, version: int) -> None:
    """Remove a version that does not serve.

    Raises:
        StoreUnusable: it serves.
    """
    current = serving(connection)
    if current is not None and current.number == version:
        raise StoreUnusable(
            f"version {version} of the read models serves: rebuild first"
        )
    _metadata(version).drop_all(connection)
    for table in (tables.positions, tables.versions):
        connection.execute(sa.delete(table).where(table.c.version == version))


def check(connection: Connection, version: int, *, for_change: bool = False) -> None:
    """Hold a version as it is until the transaction ends.

    Raises:
        VersionRetired: it was replaced, or is gone.
    """
    state = connection.scalar(
        sa.select(tables.versions.c.state)
        .where(tables.versions.c.version == version)
        # Writers share the row's lock among themselves; a swap needs it exclusively.
        .with_for_update(read=not for_change)
    )
    if state is None or state == "retired":
        raise VersionRetired(version)


def _metadata(version: int) -> sa.MetaData:
    return tables.physical(version)["decisions"].metadata


def _set_state(connection: Connection, version: int, state: str) -> None:
    connection.execute(
        sa.update(tables.versions)
        .where(tables.versions.c.version == version)
        .values(state=state)
    )


def _is_behind(
    connection: Connection,
    version: int,
    earlier: int,
    unfounded: Mapping[int, Position],
) -> bool:
    """Tell whether readers would see less of the same log than they do now.

    Positions in another log are not compared, nor those that the log does not have: a
    rebuild may be due to just that.
    """
    now = positions_of(connection, version)
    for partition, stood in positions_of(connection, earlier).items():
        stands = now.get(partition)
        if stood == unfounded.get(partition):
            continue
        if stands is None or stands.is_before(stood):
            return True
    return False


_FROM_MESSAGES = {
    **{
        name: f"message ->> '{name}'"
        for name in ("source", "type", "domain", "arm", "silence", "strategy", "chain")
    },
    **{
        name: f"message -> '{name}'"
        for name in ("candidates", "gates", "salience", "draw", "flags")
    },
    **{
        name: f"coalesce(completion ->> '{name}', message ->> '{name}')"
        for name in ("text", "response_type", "matched_heuristic_id")
    },
    **{
        name: f"coalesce(completion ->> '{name}', message ->> '{name}')::float8"
        for name in ("predicted_success", "prediction_confidence", "urgency")
    },
    "path": "CASE WHEN status = 'dropped' THEN 'fallback'"
    " ELSE coalesce(completion ->> 'path', message ->> 'path') END",
    "action": "coalesce(completion -> 'action', message -> 'action')",
    "winner": "completion ->> 'winner'",
    "completed_by": "completion ->> 'ask_id'",
    "model": "completion ->> 'model'",
    "drop_reason": "completion ->> 'reason'",
    "drop_detail": "completion ->> 'detail'",
    "latency_ms": "extract(epoch FROM recorded_at - event_at)::float8 * 1000",
    "completed_latency_ms": "extract(epoch FROM completed_recorded_at - event_at)::float8"
    " * 1000",
}
"""Columns of the view of decisions, by the SQL that reads them out of its messages."""


def _view(name: TableName, version: int) -> str:
    """Return the statement that creates the view of a version's table."""
    columns = [f'"{column}"' for column in COLUMNS[name]]
    if name == "decisions":
        columns += [f'{read} AS "{column}"' for column, read in _FROM_MESSAGES.items()]
    return f"CREATE VIEW {name} AS SELECT {', '.join(columns)} FROM {name}__v{version}"
