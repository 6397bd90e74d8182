"""The episodes of a log's own decisions, found by likeness with an exact scan."""

from collections.abc import Sequence

from projections.rows.episodes import Episode
from replay.recording.decisions import DecisionRecord
from schemas.values import vectors
from schemas.values.vectors import Vector


def is_episode(record: DecisionRecord) -> bool:
    """Tell whether a decision considered an event, or heard a person."""
    event = record.event
    return event is not None and (record.decided.path != "none" or event.is_persons)


def nearest(
    records: Sequence[DecisionRecord], made: Sequence[Vector], wanted: Vector
) -> list[Episode]:
    """Return the episodes of decisions, by their vectors; the nearest first, then the
    latest."""
    near = [
        _episode(each, vectors.cosine(vector, wanted))
        for each, vector in zip(records, made, strict=True)
    ]
    return sorted(near, key=lambda each: (-each.similarity, -each.sequence))


def _episode(record: DecisionRecord, similarity: float) -> Episode:
    event = record.event
    return Episode(
        id=record.id,
        at=record.at,
        source=record.decided.source,
        type=record.decided.type,
        text=record.text,
        said=record.said,
        person=event.person if event is not None else None,
        sequence=record.sequence,
        similarity=similarity,
    )
