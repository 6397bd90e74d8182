"""Measure how long each heuristic took from its birth until it answers by itself."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from evaluation.learning.history import LearningHistory, Move
from schemas.values.reasons import Origin

_BIRTHS = ("taught", "formed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """One heuristic that began under the threshold, and whether it got over it."""

    agent: str
    heuristic_id: str
    name: str
    origin: Origin
    began_at: datetime | None
    """When it was taught or formed; None if that was before the recordings."""
    began: float
    """What was believed of it then, or at the recordings' start."""
    threshold: float
    reached_at: datetime | None
    decisions: int | None
    """How many decisions the agent made meanwhile."""
    hours: float | None
    """By the agent's time; None unless both ends are known, by one clock."""
    confidence: float
    """What is believed of it in the end."""


def rises(
    histories: Sequence[LearningHistory], decisions: Sequence[Sequence[int]]
) -> tuple[Rise, ...]:
    """Return the rises in all recordings, agent by agent, finished or not.

    Args:
        histories: one for each recording, in order.
        decisions: the sequences of each recording's decisions.
    """
    agents = dict.fromkeys(each.agent for each in histories)
    return tuple(
        rise
        for agent in agents
        for rise in _of_agent(
            [
                (history, sequences)
                for history, sequences in zip(histories, decisions, strict=True)
                if history.agent == agent
            ]
        )
    )


@dataclass(slots=True)
class _Climb:
    """A heuristic while it is under the threshold, or after it has crossed it."""

    began: float
    began_at: datetime | None
    decided: int
    """How many decisions there were before it began."""
    reached_at: datetime | None = None
    decisions: int | None = None


def _of_agent(parts: Sequence[tuple[LearningHistory, Sequence[int]]]) -> Iterator[Rise]:
    climbs = _before(parts[0][0])
    decided = 0
    for history, sequences in parts:
        for move in history.moves:
            place = decided + bisect_right(sequences, move.cause.sequence)
            _take(climbs, move, place, history.threshold)
        decided += len(sequences)
    last = parts[-1][0]
    for id_, climb in climbs.items():
        known = last.ends.get(id_)
        if known is None:
            continue
        yield Rise(
            agent=last.agent,
            heuristic_id=id_,
            name=known.name,
            origin=known.origin,
            began_at=climb.began_at,
            began=climb.began,
            threshold=last.threshold,
            reached_at=climb.reached_at,
            decisions=climb.decisions,
            hours=_hours(climb),
            confidence=known.confidence,
        )


def _before(history: LearningHistory) -> dict[str, _Climb]:
    """Return those from before the recordings that have yet to get there."""
    return {
        id_: _Climb(each.confidence, None, 0)
        for id_, each in history.begins.items()
        if each.origin != "skill_pack" and each.confidence < history.threshold
    }


def _take(climbs: dict[str, _Climb], move: Move, place: int, threshold: float) -> None:
    id_, at = move.cause.heuristic_id, move.cause.at
    if move.cause.kind in _BIRTHS:
        if move.after < threshold:
            climbs[id_] = _Climb(move.after, at, place)
        return
    climb = climbs.get(id_)
    if climb is not None and climb.reached_at is None and move.after >= threshold:
        climb.reached_at, climb.decisions = at, place - climb.decided


def _hours(climb: _Climb) -> float | None:
    if climb.began_at is None or climb.reached_at is None:
        return None
    # A session by the clock of its events may come after one by that of the broker, and
    # tell of an earlier time.
    if climb.reached_at < climb.began_at:
        return None
    return (climb.reached_at - climb.began_at).total_seconds() / 3600.0


def named(histories: Sequence[LearningHistory]) -> Mapping[str, str]:
    """Return what every heuristic is called, by the latest recording that knows it."""
    return {id_: name for history in histories for id_, name in history.names.items()}
