"""The executive: takes an arm by the strategy's odds, and says what led there.

A strategy gives odds, a keyed draw takes one arm. A heuristic's answer is final at once;
a model's comes later, as a result, and is concluded then.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from msgspec import Struct

from schemas.messages.decisions import RACE, SILENT, Candidate, Draw, race_deadline_ms
from schemas.ports.decision_context import (
    DecisionContext,
    DecisionResult,
    HeuristicCandidate,
    Odds,
    Scored,
    Strategy,
)
from schemas.values import ids
from schemas.values.by_identity import by_identity
from schemas.values.exact_math import round6
from schemas.values.reasons import Path

ARM_PURPOSE = "arm"
"""What the draw of the arm is for; part of its key."""

Drawn = Callable[[str], float]
"""A keyed draw in [0, 1) for a purpose at this occasion."""


class Race(Struct, frozen=True):
    """A heuristic that answers if the model has not by its deadline."""

    heuristic: HeuristicCandidate
    deadline_ms: int


class Choice(Struct, frozen=True):
    """The arm taken at an occasion."""

    arm: str
    probability: float
    odds: Odds
    draw: Draw | None
    heuristic: HeuristicCandidate | None
    """The candidate that answers, if one does."""
    path: Path
    candidates: tuple[Candidate, ...]
    """Every arm that was weighed."""
    race: Race | None = None
    """The race that the arm is, if it is one."""
    quiet: HeuristicCandidate | None = None
    """The heuristic that says nothing by which nothing is said, if one does."""

    @property
    def asks_model(self) -> bool:
        """Whether the answer is still to come from the model."""
        return self.path == "llm"


def choose(odds: Odds, context: DecisionContext, drawn: Drawn) -> Choice:
    """Take one arm; without a choice to make nothing is drawn."""
    by_arm = dict(odds.arms)
    arm, draw = _taken(odds, drawn)
    heuristic = next((c for c in context.candidates if c.arm == arm), None)
    race = _race(arm, context)
    return Choice(
        arm=arm,
        probability=by_arm[arm],
        odds=odds,
        draw=draw,
        heuristic=heuristic,
        path="llm" if race is not None else _path(arm, context, heuristic),
        candidates=_weighed(context, by_arm, odds.scores),
        race=race,
        quiet=_quiet(arm, odds, context),
    )


@by_identity(256)
def config_hash(strategy: Strategy) -> str:
    """Return what a strategy's settings are known by."""
    return ids.digest(orjson.dumps(strategy.config, option=orjson.OPT_SORT_KEYS))


def result(
    context: DecisionContext, choice: Choice, response_id: str
) -> DecisionResult:
    """Return the decision in the terms of the receiver, before any model has answered."""
    if choice.heuristic is not None:
        confidence = choice.heuristic.confidence
        return DecisionResult(
            path="heuristic",
            response_text=choice.heuristic.suggested_action,
            response_id=response_id,
            matched_heuristic_id=choice.heuristic.heuristic_id,
            predicted_success=confidence,
            prediction_confidence=confidence,
        )
    if choice.quiet is not None:
        return DecisionResult(
            path="rejected",
            matched_heuristic_id=choice.quiet.heuristic_id,
            metadata={"reason": choice.odds.silence},
        )
    if choice.asks_model:
        best = next((c for c in context.candidates if c.eligible), None)
        return DecisionResult(
            path="llm",
            response_id=response_id,
            matched_heuristic_id=best.heuristic_id if best else None,
        )
    return DecisionResult(path="rejected", metadata={"reason": choice.odds.silence})


def _taken(odds: Odds, drawn: Drawn) -> tuple[str, Draw | None]:
    if len(odds.arms) == 1:
        return odds.arms[0][0], None
    value = drawn(ARM_PURPOSE)
    draw = Draw(purpose=ARM_PURPOSE, value=value)
    reached = 0.0
    for arm, probability in odds.arms:
        reached = round6(reached + probability)
        if value < reached:
            return arm, draw
    return odds.arms[-1][0], draw


def _path(
    arm: str, context: DecisionContext, heuristic: HeuristicCandidate | None
) -> Path:
    if heuristic is not None:
        return "heuristic"
    return "llm" if arm == context.llm_arm else "rejected"


def _race(arm: str, context: DecisionContext) -> Race | None:
    """Return what a race's arm says: which of the candidates, and by when."""
    if context.llm_arm is None or not arm.startswith(RACE):
        return None
    for each in context.candidates:
        deadline_ms = race_deadline_ms(arm, context.llm_arm, each.arm)
        if deadline_ms is not None:
            return Race(each, deadline_ms)
    return None


def _quiet(arm: str, odds: Odds, context: DecisionContext) -> HeuristicCandidate | None:
    """Return the heuristic that says nothing, if the arm is its silence."""
    if arm != SILENT:
        return None
    return next((each for each in context.silences if each.arm == odds.quiet), None)


def _weighed(
    context: DecisionContext,
    by_arm: Mapping[str, float],
    scores: tuple[Scored, ...],
) -> tuple[Candidate, ...]:
    """Return every arm as it was weighed: heuristics, the model, races of them, silence."""
    scored = {each.arm: each for each in scores}
    weighed = [
        _of_heuristic(
            each,
            by_arm.get(each.arm, 0.0),
            score=scored[each.arm].score if scored else each.similarity,
            factors=scored[each.arm].factors if scored else None,
        )
        for each in context.candidates
    ]
    if context.llm_arm is not None:
        weighed.append(
            Candidate(
                arm=context.llm_arm,
                probability=by_arm.get(context.llm_arm, 0.0),
                eligible=context.immediate,
                reason=None if context.immediate else "not_immediate",
            )
        )
    weighed += [
        Candidate(arm=arm, probability=by_arm[arm])
        for arm in by_arm
        if arm.startswith(RACE)
    ]
    weighed += [_of_heuristic(each, 0.0, silence=True) for each in context.silences]
    weighed.append(Candidate(arm=SILENT, probability=by_arm.get(SILENT, 0.0)))
    return tuple(weighed)


def _of_heuristic(
    each: HeuristicCandidate, probability: float, **more: Any
) -> Candidate:
    """Return a heuristic as it was weighed."""
    return Candidate(
        arm=each.arm,
        probability=probability,
        eligible=each.eligible,
        reason=each.reason,
        similarity=each.similarity,
        confidence=each.confidence,
        alpha=each.alpha,
        beta=each.beta,
        **more,
    )
