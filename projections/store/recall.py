"""Recall: the episodes nearest to a text, as of a place in the log."""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from projections.rows.episodes import embedding
from projections.store.store import Store
from schemas.values.vectors import Vector

_NEAREST = sa.text(
    "SELECT id, at, source, type, text, person, sequence,"
    # What was said later was not known then.
    " CASE WHEN said_sequence <= :as_of THEN said END AS said,"
    " 1 - (embedding <=> CAST(:vector AS vector)) AS similarity"
    " FROM episodes"
    " WHERE agent = :agent AND embedder = :embedder AND dimension = :dimension"
    " AND embedding IS NOT NULL AND sequence <= :as_of"
    " AND (CAST(:person AS text) IS NULL OR person IS NULL OR person = :person)"
    " ORDER BY embedding <=> CAST(:vector AS vector), sequence DESC LIMIT :limit"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """Something that happened, and what was said then."""

    id: str
    """The decision's."""
    at: datetime
    source: str
    type: str
    text: str
    said: str | None
    person: str | None
    sequence: int
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be recalled."""

    vector: Vector
    embedder: str
    as_of: int
    """Nothing later than this place in the log is recalled."""
    person: str | None = None
    """Nothing that concerns another person is recalled; None: whomever it concerns."""
    limit: int = 10


def nearest(store: Store, agent: str, wanted: Wanted) -> tuple[Episode, ...]:
    """Return the nearest episodes, nearest first, of equals the latest.

    Raises as `Store.transaction` does.
    """
    vector = embedding(wanted.vector)
    if vector is None:
        return ()
    values = {
        "agent": agent,
        "vector": vector,
        "embedder": wanted.embedder,
        "dimension": len(wanted.vector),
        "as_of": wanted.as_of,
        "person": wanted.person,
        "limit": wanted.limit,
    }
    with store.transaction() as connection:
        found = connection.execute(_NEAREST, values).mappings().all()
    return tuple(Episode(**row) for row in found)
