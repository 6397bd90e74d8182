"""Recall: the episodes nearest to a text, as of a place in the log."""

from dataclasses import dataclass, replace
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from projections.errors import StoreUnusable
from projections.rows.episodes import Episode, embedding
from projections.store import nearness, versions
from projections.store.positions import positions_of
from projections.store.store import Store
from schemas.values.subjects import partition_of
from schemas.values.vectors import Vector

_NO_LONGER = sa.text("SELECT set_config('statement_timeout', :limit, true)")

_NEAREST = (
    "SELECT id, at, source, type, text, person, sequence,"
    # What was said later was not known then.
    " CASE WHEN said_sequence <= :as_of THEN said END AS said,"
    " 1 - ({distance}) AS similarity FROM episodes"
    " WHERE agent = :agent AND embedder = :embedder AND dimension = {dimension}"
    " AND embedding IS NOT NULL AND sequence <= :as_of"
    " AND (:of_anybody OR person IS NULL OR person = :person)"
    " ORDER BY {distance}, sequence DESC LIMIT :limit"
)
_DISTANCE = "embedding::vector({dimension}) <=> CAST(:vector AS vector({dimension}))"
_SEARCH = sa.text(
    "SELECT set_config('ivfflat.probes', :probes, true),"
    # More lists are searched until enough is found that may be told.
    " set_config('ivfflat.iterative_scan', 'relaxed_order', true)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be recalled."""

    vector: Vector
    embedder: str
    as_of: int
    """Nothing later than this place in the log is recalled."""
    person: str | None = None
    """Nothing that concerns another person is recalled; None: whomever it concerns."""
    is_private: bool = False
    """Whether without a person nothing is recalled that concerns one."""
    limit: int = 10


def nearest(store: Store, agent: str, wanted: Wanted) -> tuple[Episode, ...]:
    """Return the nearest episodes, nearest first, of equals the latest.

    Raises as `Store.transaction` does.
    """
    with store.transaction() as connection:
        return _nearest(connection, agent, wanted)


def nearest_in_time(
    store: Store, agent: str, wanted: Wanted, epoch: UUID, within_s: float
) -> tuple[tuple[Episode, ...], int]:
    """Return the same, and up to which place of the log the tables held it.

    The server gives up after `within_s`.

    Raises:
        StoreUnavailable, StoreUnusable: as `Store.transaction`, or it took too long, or the
            tables are of another log.
    """
    with store.transaction() as connection:
        limit = {"limit": f"{max(1, round(within_s * 1000))}ms"}
        connection.execute(_NO_LONGER, limit)
        known = _position(connection, agent, str(epoch))
        as_of = min(wanted.as_of, known)
        return _nearest(connection, agent, replace(wanted, as_of=as_of)), as_of


def _position(connection: Connection, agent: str, epoch: str) -> int:
    serving = versions.serving(connection)
    if serving is None:
        raise StoreUnusable("there are no read models yet")
    found = positions_of(connection, serving.number).get(partition_of(agent))
    if found is None:
        return 0
    if found.epoch != epoch:
        raise StoreUnusable("the read models are of another log")
    return found.sequence


def _nearest(connection: Connection, agent: str, wanted: Wanted) -> tuple[Episode, ...]:
    vector = embedding(wanted.vector)
    if vector is None:
        return ()
    values = {
        "agent": agent,
        "vector": vector,
        "embedder": wanted.embedder,
        "as_of": wanted.as_of,
        "person": wanted.person,
        "of_anybody": wanted.person is None and not wanted.is_private,
        "limit": wanted.limit,
    }
    connection.execute(_SEARCH, {"probes": str(nearness.PROBES)})
    # Written out, not bound: a plan for any dimension could use no index.
    dimension = len(wanted.vector)
    distance = _DISTANCE.format(dimension=dimension)
    statement = _NEAREST.format(distance=distance, dimension=dimension)
    rows = connection.execute(sa.text(statement), values).mappings().all()
    found = [Episode(**row) for row in rows]
    # What an index finds comes nearly in order.
    return tuple(sorted(found, key=lambda each: (-each.similarity, -each.sequence)))
