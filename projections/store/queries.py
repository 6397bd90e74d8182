"""Queries of the read models, for the command line and the dashboard.

Each is one statement over the views and returns frozen values. Ids may be given by their
first characters; all functions raise as `Store.transaction` does.
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


_LIKE_SPECIAL = str.maketrans({each: f"\\{each}" for each in "\\%_"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Heuristic:
    """A heuristic of an agent and the present belief in it."""

    agent: str
    id: str
    name: str
    domain: str
    condition: Mapping[str, Any]
    action: Mapping[str, Any]
    declared: float
    confidence: float
    alpha: float
    beta: float
    fire_count: int
    success_count: int
    last_fired: datetime | None
    lifecycle: str
    frozen: bool
    frozen_by_hand: bool
    in_force: bool
    origin: str
    origin_id: str | None
    content_hash: str
    embedder: str | None
    dimension: int | None
    created_at: datetime


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
class _Fire:
    """One use of a heuristic in a decision, and its outcome."""

    agent: str
    id: str
    heuristic_id: str
    content_hash: str
    decision_id: str
    event_id: str
    mode: str
    similarity: float
    confidence: float
    fired_at: datetime
    outcome: str
    feedback_source: str | None
    feedback_at: datetime | None
    seen: str | None
    """The observed outcome, `timeout` if none came in time; None if still open."""
    seen_at: datetime | None
    seen_sequence: int | None
    said: str | None
    """What people's votes say of it on average."""
    said_at: datetime | None
    said_sequence: int | None
    sequence: int


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
class Rapport:
    """How well a person and the agent get on (0 to 1), as of a time."""

    agent: str
    person: str
    value: float
    at: datetime


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


def heuristics(
    store: _Rows, agent: str | None = None, *, in_force: bool = True
) -> tuple[Heuristic, ...]:
    """Return all heuristics, the highest confidence first."""
    # A filter that is not given compares a column with itself: one statement serves all
    # combinations, and no SQL is put together from arguments.
    where = "agent = coalesce(:agent, agent) AND (in_force OR NOT :in_force)"
    return _rows(
        store,
        Heuristic,
        "heuristics",
        f"{where} ORDER BY confidence DESC, name, agent",
        agent=agent,
        in_force=in_force,
    )


def heuristic(store: _Rows, id_or_name: str, agent: str) -> tuple[Heuristic, ...]:
    """Return up to 20 heuristics of an agent, by name or by the start of their id."""
    return _rows(
        store,
        Heuristic,
        "heuristics",
        "agent = :agent AND (name = :name OR id LIKE :prefix) ORDER BY name, id LIMIT 20",
        agent=agent,
        name=id_or_name,
        prefix=_prefix(id_or_name),
    )


def history(
    store: _Rows, agent: str, heuristic_id: str | None = None, after: int = 0
) -> tuple[ConfidenceChange, ...]:
    """Return every change of confidence after a sequence, oldest first."""
    where = "agent = :agent AND heuristic_id = coalesce(:id, heuristic_id)"
    return _rows(
        store,
        ConfidenceChange,
        "confidence_changes",
        f"{where} AND sequence > :after ORDER BY sequence, id",
        agent=agent,
        id=heuristic_id,
        after=after,
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


def fires(
    store: _Rows, agent: str, heuristic_id: str | None = None, limit: int = 100
) -> tuple[_Fire, ...]:
    """Return the latest fires, newest first."""
    return _rows(
        store,
        _Fire,
        "heuristic_fires",
        "agent = :agent AND heuristic_id = coalesce(:id, heuristic_id)"
        " ORDER BY sequence DESC, id LIMIT :limit",
        agent=agent,
        id=heuristic_id,
        limit=limit,
    )


def decision(store: _Rows, id_: str) -> tuple[Decision, ...]:
    """Return up to 20 decisions whose own id or event's id starts with `id_`."""
    return _rows(
        store,
        Decision,
        "decisions",
        "id LIKE :prefix OR event_id LIKE :prefix ORDER BY sequence LIMIT 20",
        prefix=_prefix(id_),
    )


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
    where = "agent = coalesce(:agent, agent) ORDER BY first_sequence DESC"
    return _rows(store, Session, "sessions", where, agent=agent)


def rapport(store: _Rows, agent: str) -> tuple[Rapport, ...]:
    """Return the rapport of each person with an agent, by name."""
    where = "agent = :agent ORDER BY person"
    return _rows(store, Rapport, "rapport", where, agent=agent)


def quarantine(store: _Rows, limit: int = 100) -> tuple[Quarantined, ...]:
    """Return the latest inputs that could not be read, newest first."""
    newest = "true ORDER BY sequence DESC LIMIT :limit"
    return _rows(store, Quarantined, "quarantine", newest, limit=limit)


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


def _prefix(text: str) -> str:
    # Escaped: an id is anybody's text, and `_` would match every character.
    return text.translate(_LIKE_SPECIAL) + "%"
