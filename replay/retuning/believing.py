"""Believing: evidence folded under learning settings that may not be the recorded ones.

It is the mind's own fold of beliefs. Under the recorded settings it gives the recorded
confidences, exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from immutables import Map

from projections.folds import beliefs
from projections.folds.judging import Vote
from replay.retuning.facts import (
    Agreed,
    Carried,
    Evidence,
    Fact,
    Judged,
    Neglected,
    Ruled,
    Seen,
    Shown,
)
from schemas.reasons import Lifecycle
from schemas.settings import LearningSettings
from schemas.state import Belief
from schemas.tuning import Scalar, learning_with

_SOME_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""When a heuristic last fired does not matter to what is believed of it."""
_Told = Shown | Seen | Judged | Neglected | Agreed


@dataclass(frozen=True, slots=True)
class Point:
    """What was believed of a heuristic from an input on."""

    sequence: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Curve:
    """What was believed of a heuristic over time, and where that leaves it."""

    points: tuple[Point, ...]
    life: Lifecycle
    """By its confidence alone: what a person froze by hand is frozen all the same."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What was believed of a heuristic when its action was shown, and how that ended."""

    sequence: int
    key: str
    fire_id: str
    predicted: float
    happened: float


class Believing:
    """What is believed, fact by fact."""

    def __init__(
        self,
        believed: Map[str, Belief],
        learning: LearningSettings,
        changes: Mapping[str, Scalar],
    ) -> None:
        """Begin with what was believed under `learning`, counted under the changed.

        Raises:
            TuningError: there is no such setting, or it cannot have such a value.
        """
        self._changes = changes
        self.learning = learning_with(learning, changes)
        self.believed = _recounted(believed, learning, self.learning)

    def confidence(self, key: str, declared: float) -> float:
        """What is believed of a heuristic at this point."""
        return self._held(key, declared).confidence

    def life(self, key: str) -> Lifecycle:
        """Where a heuristic of which something was learnt stands by now."""
        held = self.believed.get(key)
        if held is None:
            return "active"
        return beliefs.lifecycle(held, frozen_by_hand=False, learning=self.learning)

    def take(self, fact: Fact) -> None:
        """Learn from one fact."""
        match fact:
            case Shown():
                held = self._held(fact.key, fact.declared)
                self._set(fact.key, beliefs.fired(held, _SOME_TIME))
            case Seen():
                self._set(fact.key, self._seen(fact))
            case Judged():
                self._set(fact.key, self._judged(fact))
            case Neglected():
                self._set(fact.key, self._neglected(fact))
            case Agreed():
                self._set(fact.key, self._agreed(fact))
            case Carried():
                if fact.key in self.believed:
                    self._set(fact.to, self.believed[fact.key])
            case Ruled():
                self._rule(fact)

    def _seen(self, fact: Seen) -> Belief:
        held = self._held(fact.key, fact.declared)
        return beliefs.observed(
            held, fact.fire_id, fact.success, fact.sequence, self.learning
        )

    def _judged(self, fact: Judged) -> Belief:
        held = self._held(fact.key, fact.declared)
        given = Vote(
            aspect=fact.aspect,
            fire_id=fact.fire_id,
            actor=fact.actor,
            value=fact.value,
            base=fact.base,
            place=fact.sequence,
        )
        return given.counted("pair", held, fact.earlier, self.learning)

    def _neglected(self, fact: Neglected) -> Belief:
        held = self._held(fact.key, fact.declared)
        return beliefs.ignored(held, fact.fire_id, fact.sequence, self.learning)

    def _agreed(self, fact: Agreed) -> Belief:
        held = self._held(fact.key, fact.declared)
        return beliefs.endorsed(
            held, fact.decision_id, fact.similarity, fact.sequence, self.learning
        )

    def _rule(self, fact: Ruled) -> None:
        before, self.learning = (
            self.learning,
            learning_with(fact.learning, self._changes),
        )
        if fact.is_recounted:
            self.believed = _recounted(self.believed, before, self.learning)

    def _held(self, key: str, declared: float) -> Belief:
        held = self.believed.get(key)
        return beliefs.initial(declared, self.learning) if held is None else held

    def _set(self, key: str, belief: Belief) -> None:
        self.believed = self.believed.set(key, belief)


def predictions(
    evidence: Evidence, changes: Mapping[str, Scalar]
) -> tuple[Prediction, ...]:
    """Each fire whose end is known, with what was believed when it was shown."""
    believing = Believing(evidence.believed, evidence.learning, changes)
    made: list[Prediction] = []
    for fact in evidence.facts:
        if isinstance(fact, Shown) and fact.fire_id in evidence.happened:
            predicted = believing.confidence(fact.key, fact.declared)
            happened = evidence.happened[fact.fire_id]
            made.append(
                Prediction(fact.sequence, fact.key, fact.fire_id, predicted, happened)
            )
        believing.take(fact)
    return tuple(made)


def curves(evidence: Evidence, changes: Mapping[str, Scalar]) -> Mapping[str, Curve]:
    """The confidence of each heuristic that the facts are about, wherever it moved."""
    believing = Believing(evidence.believed, evidence.learning, changes)
    found: dict[str, list[Point]] = {}
    for fact in evidence.facts:
        before = believing.believed
        if isinstance(fact, _Told) and fact.key not in found:
            start = believing.confidence(fact.key, fact.declared)
            found[fact.key] = [Point(fact.sequence, start)]
        believing.take(fact)
        if believing.believed is not before:
            _extend(found, believing, fact)
    return {key: Curve(tuple(found[key]), believing.life(key)) for key in sorted(found)}


def _extend(found: dict[str, list[Point]], believing: Believing, fact: Fact) -> None:
    """Add a point to each curve that the fact moved."""
    if isinstance(fact, Carried) and fact.to in believing.believed:
        found.setdefault(fact.to, [])
    touched = found if isinstance(fact, Ruled) else (_key(fact),)
    for key in touched:
        held = believing.believed.get(key)
        points = found.get(key)
        if held is None or points is None:
            continue
        if not points or points[-1].confidence != held.confidence:
            points.append(Point(fact.sequence, held.confidence))


def _key(fact: _Told | Carried) -> str:
    return fact.to if isinstance(fact, Carried) else fact.key


def _recounted(
    believed: Map[str, Belief], before: LearningSettings, after: LearningSettings
) -> Map[str, Belief]:
    if before == after:
        return believed
    return Map(
        {
            key: beliefs.relearnt(believed[key], before, after)
            for key in sorted(believed)
        }
    )
