"""The tables of the read models, by version.

Each version is a set of physical tables (`heuristics__v3`); the views of
`projections.store.versions` show the one that serves. Every row belongs to one agent and
derives from the log alone.
"""

from functools import lru_cache
from typing import Any

from pgvector.sqlalchemy import Vector
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Double,
    Integer,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB

from projections.rows.changes import TableName

PROJECTION = "read_models"
"""The name of the one projection: its tables are written and positioned together."""

_TIME = DateTime(timezone=True)

COLUMNS: dict[TableName, dict[str, Any]] = {
    "heuristics": {
        "agent": Text,
        "id": Text,
        "name": Text,
        "domain": Text,
        "condition": JSONB,
        "action": JSONB,
        "declared": Double,
        "confidence": Double,
        "alpha": Double,
        "beta": Double,
        "fire_count": Integer,
        "success_count": Integer,
        "last_fired": _TIME,
        "lifecycle": Text,
        "frozen": Boolean,
        "frozen_by_hand": Boolean,
        "in_force": Boolean,
        "origin": Text,
        "origin_id": Text,
        "content_hash": Text,
        # Without a dimension: agents of one database may use different embedders.
        "condition_embedding": Vector(),
        "embedder": Text,
        "dimension": Integer,
        "created_at": _TIME,
        "created_by": BigInteger,
    },
    "heuristic_fires": {
        "agent": Text,
        "id": Text,
        "heuristic_id": Text,
        "content_hash": Text,
        "decision_id": Text,
        "event_id": Text,
        "mode": Text,
        "similarity": Double,
        "confidence": Double,
        "fired_at": _TIME,
        "outcome": Text,
        "feedback_source": Text,
        "feedback_at": _TIME,
        "seen": Text,
        "seen_at": _TIME,
        "seen_sequence": BigInteger,
        "said": Text,
        "said_at": _TIME,
        "said_sequence": BigInteger,
        "episodic_event_id": Text,
        "sequence": BigInteger,
    },
    "feedback_events": {
        "agent": Text,
        "id": Text,
        "timestamp": _TIME,
        "target_type": Text,
        "target_id": Text,
        "feedback_type": Text,
        "feedback_value": Double,
        "weight": Double,
        "aspect": Text,
        "actor": Text,
        "comment": Text,
        "channel": Text,
        "fire_id": Text,
        "heuristic_id": Text,
        "content_hash": Text,
        "rapport_before": Double,
        "rapport_after": Double,
        "sequence": BigInteger,
    },
    "confidence_changes": {
        "agent": Text,
        "id": Text,
        "heuristic_id": Text,
        "content_hash": Text,
        "why": Text,
        "detail": Text,
        "before": Double,
        "after": Double,
        "alpha": Double,
        "beta": Double,
        "fire_id": Text,
        "decision_id": Text,
        "message_id": Text,
        "cause_id": Text,
        "sequence": BigInteger,
        "at": _TIME,
    },
    "decisions": {
        "agent": Text,
        "id": Text,
        "event_id": Text,
        "session_id": Text,
        "event_text": Text,
        "event_fields": JSONB,
        "occurred_at": _TIME,
        "event_at": _TIME,
        "decided_at": _TIME,
        "recorded_at": _TIME,
        "status": Text,
        # The message whole; `versions.view` reads further columns out of it.
        "message": JSONB,
        "completion": JSONB,
        "completed_at": _TIME,
        "completed_recorded_at": _TIME,
        "sequence": BigInteger,
        "output_sequence": BigInteger,
    },
    "episodes": {
        "agent": Text,
        "id": Text,
        "source": Text,
        "type": Text,
        "text": Text,
        "person": Text,
        "entities": JSONB,
        "said": Text,
        "said_sequence": BigInteger,
        "embedding": Vector(),
        "embedder": Text,
        "dimension": Integer,
        "at": _TIME,
        "sequence": BigInteger,
    },
    "asks": {
        "agent": Text,
        "id": Text,
        "kind": Text,
        "decision_id": Text,
        "recipient": Text,
        "text": Text,
        "priority": Double,
        "expires_at": _TIME,
        "asked_at": _TIME,
        "answered_at": _TIME,
        "answer": Text,
        "detail": Text,
        "input_tokens": BigInteger,
        "output_tokens": BigInteger,
        "cost_usd": Double,
        "sequence": BigInteger,
    },
    "rapport": {
        "agent": Text,
        "person": Text,
        "value": Double,
        "at": _TIME,
        "sequence": BigInteger,
    },
    "sessions": {
        "agent": Text,
        "id": Text,
        "title": Text,
        "clock": Text,
        "first_sequence": BigInteger,
        "last_sequence": BigInteger,
        "started_at": _TIME,
        "last_at": _TIME,
        "ended_at": _TIME,
        "ended_by": Text,
        "input_count": Integer,
        "spoke_count": Integer,
        "silent_count": Integer,
        "feedback_count": Integer,
    },
    "habituation": {
        "agent": Text,
        "source": Text,
        "type": Text,
        "habit": Text,
        "named": JSONB,
        "text": Text,
        "tau_s": Double,
        "passed_at": _TIME,
        "seen_at": _TIME,
        "recent_count": Integer,
        "sequence": BigInteger,
    },
    "quarantine": {
        "agent": Text,
        "id": Text,
        "reason": Text,
        "detail": Text,
        "subject": Text,
        "input_id": Text,
        "received_at": _TIME,
        "sequence": BigInteger,
    },
}

KEYS: dict[TableName, tuple[str, ...]] = {
    "heuristics": ("agent", "id"),
    "heuristic_fires": ("agent", "id"),
    "feedback_events": ("agent", "id"),
    "confidence_changes": ("agent", "id"),
    "decisions": ("agent", "id"),
    "episodes": ("agent", "id"),
    "asks": ("agent", "id"),
    "rapport": ("agent", "person"),
    "sessions": ("agent", "id"),
    "habituation": ("agent", "source", "type", "habit"),
    "quarantine": ("agent", "id"),
}

APPENDED = frozenset(
    {"heuristic_fires", "feedback_events", "confidence_changes", "decisions", "asks"}
    | {"quarantine", "episodes"}
)
"""Tables whose rows are put once, under new ids, so that COPY meets no conflict."""

_INDEXES: dict[TableName, tuple[tuple[str, ...], ...]] = {
    "heuristic_fires": (("agent", "heuristic_id"), ("decision_id",)),
    "feedback_events": (("agent", "target_id"),),
    "confidence_changes": (("agent", "heuristic_id", "sequence"),),
    "decisions": (("agent", "sequence"), ("session_id", "sequence"), ("event_id",)),
    "episodes": (("agent", "sequence"),),
    "asks": (("decision_id",),),
}

control = MetaData()
"""The tables that belong to no version and are never rebuilt."""

versions = Table(
    "projection_versions",
    control,
    Column("name", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("shape", Integer, nullable=False),
    Column("state", Text, nullable=False),  # building, serving or retired
)

positions = Table(
    "positions",
    control,
    Column("name", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("partition", Integer, primary_key=True),
    Column("sequence", BigInteger, nullable=False),
    Column("epoch", Text, nullable=False),
    Column("message_id", Text, nullable=False),
)


@lru_cache(maxsize=8)
def physical(version: int) -> dict[TableName, Table]:
    """Return the tables of one version, without their secondary indexes.

    Cached, since every write asks; only a few versions exist at a time.
    """
    metadata = MetaData()
    return {
        name: Table(
            f"{name}__v{version}",
            metadata,
            *(
                Column(column, type_, primary_key=column in KEYS[name])
                for column, type_ in columns.items()
            ),
        )
        for name, columns in COLUMNS.items()
    }


def indexes(version: int) -> tuple[str, ...]:
    """Return the statements that create a version's secondary indexes.

    Run once its bulk is there: rows are written faster into tables without them.
    """
    return tuple(
        f"CREATE INDEX IF NOT EXISTS {name}__v{version}_{'_'.join(columns)}"
        f" ON {name}__v{version} ({', '.join(columns)})"
        for name, keys in _INDEXES.items()
        for columns in keys
    )
