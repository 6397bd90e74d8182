"""Fold recorded facts into beliefs, under the recorded or under other learning settings.

It calls the mind's own functions of confidence, so under the recorded settings it gives
the recorded confidences to the bit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from immutables import Map

from evaluation.evidence import facts
from evaluation.evidence.facts import Evidence, Fact
from projections.folds import controls
from projections.folds.learning import beliefs, confidence
from projections.folds.learning.beliefs import Terms
from schemas.state.evidence import Belief
from schemas.values.base import Scalar
from schemas.values.learning_settings import LearningSettings
from schemas.values.reasons import Lifecycle
from schemas.values.settings_by_name import learning_with

_SOME_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for the time of a fire, on which no confidence depends."""
_Told = facts.ShownFact | facts.Seen | facts.Judged | facts.Neglected | facts.Agreed


@dataclass(frozen=True, slots=True)
class Point:
    """The confidence of a heuristic from an input on."""

    sequence: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Curve:
    """The confidence of a heuristic over time, and the lifecycle it ends in."""

    points: tuple[Point, ...]
    lifecycle: Lifecycle
    """By its confidence alone; freezing by hand is not considered."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The confidence of a heuristic when its action was shown, and how the fire ended."""

    sequence: int
    key: str
    fire_id: str
    predicted: float
    """The confidence then, 0 to 1."""
    happened: float
    """The outcome, 0 to 1."""


class BeliefFold:
    """The beliefs of one agent, folded fact by fact."""

    def __init__(
        self,
        believed: Map[str, Belief],
        learning: LearningSettings,
        changes: Mapping[str, Scalar],
        its: Mapping[str, Terms] | None = None,
    ) -> None:
        """Start from beliefs held under `learning`, recounted under `changes` to it.

        `its` are the terms (constraints and priors) of the heuristics that have any, by id.

        Raises:
            TuningError: there is no such setting, or it cannot have such a value.
        """
        self._changes = changes
        self._terms = its or {}
        self.learning = learning_with(learning, changes)
        self.believed = self._recounted(believed, learning)

    def confidence(self, key: str, declared: float) -> float:
        """Return the confidence of a heuristic now, within the bounds of its terms."""
        held = self._held(key, declared)
        return beliefs.bounded(held, self._judging(key)).confidence

    def is_frozen(self, key: str, declared: float) -> bool:
        """Tell whether a heuristic is frozen by its confidence."""
        held = beliefs.bounded(self._held(key, declared), self._judging(key))
        life = beliefs.lifecycle(held, frozen_by_hand=False, learning=self.learning)
        return life == "frozen"

    def lifecycle(self, key: str) -> Lifecycle:
        """Return a heuristic's lifecycle by its confidence; active without evidence."""
        held = self.believed.get(key)
        if held is None:
            return "active"
        held = beliefs.bounded(held, self._judging(key))
        return beliefs.lifecycle(held, frozen_by_hand=False, learning=self.learning)

    def take(self, fact: Fact) -> None:
        """Fold one fact."""
        match fact:
            case facts.Carried():
                if fact.key in self.believed:
                    self._set(fact.to, self.believed[fact.key])
            # Nothing was learnt yet, so the next fact starts from the new declaration.
            case facts.Redeclared() if fact.key not in self.believed:
                pass
            case facts.Termed():
                self._terms = fact.terms
            case facts.Ruled():
                self._rule(fact)
            case _:
                self._set(fact.key, self._moved(fact))

    def _moved(self, fact: _Told | facts.Redeclared | facts.Revived) -> Belief:
        held, learning = self._held(fact.key, fact.declared), self._judging(fact.key)
        match fact:
            case facts.Redeclared():
                return confidence.redeclared(held, fact.declared, learning)
            case facts.ShownFact():
                return confidence.fired(held, _SOME_TIME)
            case facts.Seen(sequence=place, fire_id=id_, success=success):
                return confidence.observed(
                    held, id_, success, place, learning, fact.is_second
                )
            case facts.Judged():
                return fact.vote.counted("pair", held, fact.earlier, learning)
            case facts.Neglected():
                return confidence.ignored(held, fact.fire_id, fact.sequence, learning)
            case facts.Agreed(sequence=place, decision_id=id_, similarity=similarity):
                return confidence.endorsed(held, id_, similarity, place, learning)
            case facts.Revived():
                return controls.revived(held, fact.declared, learning)

    def _rule(self, fact: facts.Ruled) -> None:
        before = self.learning
        self.learning = learning_with(fact.learning, self._changes)
        self.believed = self._recounted(self.believed, before)

    def _judging(self, key: str) -> LearningSettings:
        """Return the learning settings that apply to a heuristic, under its terms."""
        return beliefs.learning_under(self.learning, self._of(key))

    def _of(self, key: str) -> Terms:
        return self._terms.get(key.rpartition("@")[0], beliefs.FREE)

    def _recounted(
        self, believed: Map[str, Belief], before: LearningSettings
    ) -> Map[str, Belief]:
        after = self.learning
        if before == after:
            return believed
        return Map(
            {
                key: beliefs.relearnt(believed[key], before, after, self._of(key))
                for key in sorted(believed)
            }
        )

    def _held(self, key: str, declared: float) -> Belief:
        held = self.believed.get(key)
        if held is not None:
            return held
        return confidence.initial(declared, self._judging(key))

    def _set(self, key: str, belief: Belief) -> None:
        self.believed = self.believed.set(key, belief)


def _beginning(evidence: Evidence, changes: Mapping[str, Scalar]) -> BeliefFold:
    return BeliefFold(evidence.believed, evidence.learning, changes, evidence.terms)


def predictions(
    evidence: Evidence, changes: Mapping[str, Scalar]
) -> tuple[Prediction, ...]:
    """Return each fire whose outcome is known, with the confidence when it was shown."""
    believing = _beginning(evidence, changes)
    made: list[Prediction] = []
    for fact in evidence.facts:
        if isinstance(fact, facts.ShownFact) and fact.fire_id in evidence.happened:
            # Before the fact is folded: a prediction must not know its own fire.
            predicted = believing.confidence(fact.key, fact.declared)
            happened = evidence.happened[fact.fire_id]
            made.append(
                Prediction(fact.sequence, fact.key, fact.fire_id, predicted, happened)
            )
        believing.take(fact)
    return tuple(made)


def curves(evidence: Evidence, changes: Mapping[str, Scalar]) -> Mapping[str, Curve]:
    """Return the confidence over time of each heuristic that the facts are about, by key."""
    believing = _beginning(evidence, changes)
    found: dict[str, list[Point]] = {}
    for fact in evidence.facts:
        before = believing.believed
        if isinstance(fact, _Told) and fact.key not in found:
            start = believing.confidence(fact.key, fact.declared)
            found[fact.key] = [Point(fact.sequence, start)]
        believing.take(fact)
        # States are persistent: the same object means that nothing changed. Terms bound
        # what is read and leave the beliefs themselves alone.
        if believing.believed is not before or isinstance(fact, facts.Termed):
            _extend(found, believing, fact)
    return {
        key: Curve(tuple(found[key]), believing.lifecycle(key)) for key in sorted(found)
    }


def _extend(found: dict[str, list[Point]], believing: BeliefFold, fact: Fact) -> None:
    """Add a point to each curve that the fact moved."""
    if isinstance(fact, facts.Carried) and fact.to in believing.believed:
        found.setdefault(fact.to, [])
    touched = found if isinstance(fact, facts.Ruled | facts.Termed) else (_key(fact),)
    for key in touched:
        held = believing.believed.get(key)
        points = found.get(key)
        if held is None or points is None:
            continue
        confidence = believing.confidence(key, held.declared)
        # Many facts leave a bounded confidence where it was; a curve has its moves alone.
        if not points or points[-1].confidence != confidence:
            points.append(Point(fact.sequence, confidence))


def _key(fact: _Told | facts.Carried | facts.Redeclared | facts.Revived) -> str:
    return fact.to if isinstance(fact, facts.Carried) else fact.key
