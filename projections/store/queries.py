"""What the command line and the dashboard ask of the read models.

Each question is one statement over the views, and its answer frozen values. Ids may be
given by their first characters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from projections.rows.decisions import NO_ROWS
from projections.store.store import Store

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")
_LIKE_SPECIAL = str.maketrans({each: f"\\{each}" for each in "\\%_"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Heuristic:
    """A heuristic of an agent, as it stands."""

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
    """How often a heuristic fired, how alike it was, and how that went."""

    fires: int
    similarity: float | None
    """The mean of the fires'; None if there is none."""
    judged: int
    """Of the fires, those that went well or badly."""
    succeeded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    """A heuristic that took part in a decision, and how that ended."""

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
    """How it ended, as the world showed it, or did not in time."""
    seen_at: datetime | None
    seen_sequence: int | None
    said: str | None
    """What people's votes say of it on the whole."""
    said_at: datetime | None
    said_sequence: int | None
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision and what became of it."""

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
    """In a race of two arms, the one whose words were said."""
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
    """A stretch of an agent's life, and what happened in it."""

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
    """How a person and the companion stand, as of a time."""

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
    store: Store, agent: str | None = None, *, in_force: bool = True
) -> tuple[Heuristic, ...]:
    """Return every heuristic, the most trusted first."""
    where = "agent = coalesce(:agent, agent) AND (in_force OR NOT :in_force)"
    return _rows(
        store,
        Heuristic,
        "heuristics",
        f"{where} ORDER BY confidence DESC, name, agent",
        agent=agent,
        in_force=in_force,
    )


def heuristic(store: Store, id_or_name: str, agent: str) -> tuple[Heuristic, ...]:
    """Return the heuristics of an agent that a name or the beginning of an id may mean."""
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
    store: Store, agent: str, heuristic_id: str | None = None, after: int = 0
) -> tuple[ConfidenceChange, ...]:
    """Return every change of confidence behind a sequence, oldest first."""
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


def fired(store: Store, agent: str, heuristic_id: str, content_hash: str) -> Fired:
    """Return the shown fires of one content of a heuristic, taken together."""
    statement = sa.text(
        "SELECT count(*) AS fires, avg(similarity) AS similarity,"
        " count(CASE WHEN outcome IN ('success', 'fail') THEN 1 END) AS judged,"
        " count(CASE WHEN outcome = 'success' THEN 1 END) AS succeeded"
        " FROM heuristic_fires WHERE agent = :agent AND heuristic_id = :id"
        " AND content_hash = :content AND mode = 'shown'"
    )
    values = {"agent": agent, "id": heuristic_id, "content": content_hash}
    with store.transaction() as connection:
        return Fired(**connection.execute(statement, values).mappings().one())


def fires(
    store: Store, agent: str, heuristic_id: str | None = None, limit: int = 100
) -> tuple[Fire, ...]:
    """Return the latest fires, newest first."""
    return _rows(
        store,
        Fire,
        "heuristic_fires",
        "agent = :agent AND heuristic_id = coalesce(:id, heuristic_id)"
        " ORDER BY sequence DESC, id LIMIT :limit",
        agent=agent,
        id=heuristic_id,
        limit=limit,
    )


def decision(store: Store, id_: str) -> tuple[Decision, ...]:
    """Return the decisions that an id of a decision or an event, or its beginning, may mean."""
    return _rows(
        store,
        Decision,
        "decisions",
        "id LIKE :prefix OR event_id LIKE :prefix ORDER BY sequence LIMIT 20",
        prefix=_prefix(id_),
    )


def decisions(
    store: Store,
    agent: str | None = None,
    *,
    session: str | None = None,
    status: str | None = None,
    limit: int = 100,
) -> tuple[Decision, ...]:
    """Return the latest decisions, newest first; with status `silent` and limit 1 the last
    one.
    """
    return _rows(
        store,
        Decision,
        "decisions",
        "agent = coalesce(:agent, agent) AND status = coalesce(:status, status)"
        " AND (CAST(:session AS text) IS NULL OR session_id = :session)"
        " ORDER BY sequence DESC LIMIT :limit",
        agent=agent,
        session=session,
        status=status,
        limit=limit,
    )


def sessions(store: Store, agent: str | None = None) -> tuple[Session, ...]:
    """Return every session, the latest first."""
    where = "agent = coalesce(:agent, agent) ORDER BY first_sequence DESC"
    return _rows(store, Session, "sessions", where, agent=agent)


def rapport(store: Store, agent: str) -> tuple[Rapport, ...]:
    """Return how everybody stands with an agent."""
    where = "agent = :agent ORDER BY person"
    return _rows(store, Rapport, "rapport", where, agent=agent)


def quarantine(store: Store, limit: int = 100) -> tuple[Quarantined, ...]:
    """Return the latest inputs that could not be read, newest first."""
    newest = "true ORDER BY sequence DESC LIMIT :limit"
    return _rows(store, Quarantined, "quarantine", newest, limit=limit)


def without_rows(store: Store) -> tuple[Quarantined, ...]:
    """Return the inputs whose rows could not be made, newest first."""
    where = "reason = :reason ORDER BY sequence DESC"
    return _rows(store, Quarantined, "quarantine", where, reason=NO_ROWS)


def _rows(
    store: Store, kind: type[T], view: str, where: str, **values: object
) -> tuple[T, ...]:
    """Return the rows of a view as values, whose fields are named as its columns."""
    columns = ", ".join(f'"{each.name}"' for each in fields(kind))
    statement = sa.text(f"SELECT {columns} FROM {view} WHERE {where}")
    with store.transaction() as connection:
        found = connection.execute(statement, values).mappings().all()
    return tuple(kind(**row) for row in found)


def _prefix(text: str) -> str:
    return text.translate(_LIKE_SPECIAL) + "%"
