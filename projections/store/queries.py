"""Queries of the read models, for the command line and the dashboard.

Each is one statement over the views and returns frozen values; all raise as
`Store.transaction` does. What is so now is asked of the state, not of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from schemas.values.reasons import NO_ROWS

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_T = TypeVar("_T", bound="DataclassInstance")


class _Rows(Protocol):
    """What answers a statement: the store, or a glance at it."""

    def rows(self, statement: str, **values: object) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a statement, whose parameters stand as `:name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceChange:
    """One step in the history of a heuristic's confidence."""

    agent: str
    heuristic_id: str
    content_hash: str
    why: str
    """`pack`, `seed`, `edit`, `vote`, `outcome_report` or `outcome_pattern`."""
    detail: str
    before: float | None
    after: float
    alpha: float
    beta: float
    fire_id: str | None
    decision_id: str | None
    message_id: str | None
    cause_id: str
    sequence: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """The fires of a heuristic taken together: number, similarity, outcomes."""

    fires: int
    similarity: float | None
    """The mean over its fires, -1 to 1; None if there are none."""
    judged: int
    """How many of the fires succeeded or failed."""
    succeeded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision and its completion."""

    agent: str
    id: str
    event_id: str
    session_id: str | None
    source: str
    type: str
    domain: str
    event_text: str | None
    event_fields: Mapping[str, Any] | None
    decided_at: datetime
    recorded_at: datetime
    latency_ms: float
    completed_latency_ms: float | None
    status: str
    """`silent`, `spoke`, `pending` or `dropped`."""
    path: str
    arm: str
    winner: str | None
    """In a race of two arms, the one whose answer was delivered."""
    silence: str | None
    text: str | None
    response_type: str | None
    urgency: float
    salience: Mapping[str, Any]
    gates: Sequence[Mapping[str, Any]] | None
    candidates: Sequence[Mapping[str, Any]] | None
    matched_heuristic_id: str | None
    predicted_success: float
    prediction_confidence: float
    strategy: str
    model: str | None
    drop_reason: str | None
    drop_detail: str | None
    chain: str
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session of an agent and its counts."""

    agent: str
    id: str
    title: str
    clock: str
    first_sequence: int
    last_sequence: int
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None
    ended_by: str | None
    input_count: int
    spoke_count: int
    silent_count: int
    feedback_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """An input that could not be read."""

    agent: str
    id: str
    reason: str
    detail: str
    subject: str
    input_id: str
    received_at: datetime
    sequence: int


def history(
    store: _Rows, agent: str, heuristic_id: str
) -> tuple[ConfidenceChange, ...]:
    """Return every change of a heuristic's confidence, oldest first."""
    where = "agent = :agent AND heuristic_id = :id ORDER BY sequence, id"
    return _rows(
        store,
        ConfidenceChange,
        "confidence_changes",
        where,
        agent=agent,
        id=heuristic_id,
    )


def fired(store: _Rows, agent: str, heuristic_id: str, content_hash: str) -> Fired:
    """Return the totals of the shown fires of one content of a heuristic."""
    statement = (
        "SELECT count(*) AS fires, avg(similarity) AS similarity,"
        " count(CASE WHEN outcome IN ('success', 'fail') THEN 1 END) AS judged,"
        " count(CASE WHEN outcome = 'success' THEN 1 END) AS succeeded"
        " FROM heuristic_fires WHERE agent = :agent AND heuristic_id = :id"
        " AND content_hash = :content AND mode = 'shown'"
    )
    found = store.rows(statement, agent=agent, id=heuristic_id, content=content_hash)
    return Fired(**found[0])


def decisions(
    store: _Rows,
    agent: str | None = None,
    *,
    session: str | None = None,
    status: str | None = None,
    before: int | None = None,
    limit: int = 100,
) -> tuple[Decision, ...]:
    """Return the latest decisions, newest first, by agent, session and status if given.

    `before` is a sequence: only earlier decisions are returned.
    """
    return _rows(
        store,
        Decision,
        "decisions",
        "agent = coalesce(:agent, agent) AND status = coalesce(:status, status)"
        # A decision may have no session, so a column compared with itself would drop it;
        # the cast gives PostgreSQL the type of a parameter that is only tested for NULL.
        " AND (CAST(:session AS text) IS NULL OR session_id = :session)"
        " AND (CAST(:before AS bigint) IS NULL OR sequence < :before)"
        " ORDER BY sequence DESC LIMIT :limit",
        agent=agent,
        session=session,
        status=status,
        before=before,
        limit=limit,
    )


def sessions(store: _Rows, agent: str | None = None) -> tuple[Session, ...]:
    """Return every session, the latest first."""
    # A filter that is not given compares a column with itself: one statement serves all
    # combinations, and no SQL is put together from arguments.
    where = "agent = coalesce(:agent, agent) ORDER BY first_sequence DESC"
    return _rows(store, Session, "sessions", where, agent=agent)


def without_rows(store: _Rows) -> tuple[Quarantined, ...]:
    """Return the inputs whose rows could not be made, newest first."""
    where = "reason = :reason ORDER BY sequence DESC"
    return _rows(store, Quarantined, "quarantine", where, reason=NO_ROWS)


def _rows(
    store: _Rows, kind: type[_T], view: str, where: str, **values: object
) -> tuple[_T, ...]:
    """Return the rows of a view as values of `kind`, whose fields name its columns.

    `where` is SQL and comes from this module alone; `values` are bound parameters.
    """
    columns = ", ".join(f'"{each.name}"' for each in fields(kind))
    statement = f"SELECT {columns} FROM {view} WHERE {where}"
    return tuple(kind(**row) for row in store.rows(statement, **values))
