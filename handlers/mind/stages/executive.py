"""The executive: draw one arm by the strategy's odds, and record what led to it.

A strategy gives odds, a keyed draw chooses one arm. A heuristic's answer is final at once;
a model's comes later, as an input, and is concluded then.
"""

from collections.abc import Callable, Mapping, Sequence

import orjson
from msgspec import Struct

from schemas.messages.arms import RACE, SILENT, race_deadline_ms
from schemas.messages.decisions import Candidate, Draw, Factors
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

_ARM_PURPOSE = "arm"
"""What the draw of the arm is for; part of its key."""

Drawn = Callable[[str], float]
"""A keyed draw in [0, 1) for a purpose at this occasion."""


class Race(Struct, frozen=True):
    """A race: a heuristic answers if the model has not by the deadline."""

    heuristic: HeuristicCandidate
    deadline_ms: int


class Choice(Struct, frozen=True):
    """The arm chosen at an occasion, with what is recorded of the choice."""

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
    """The learnt silence that was applied, if one was."""

    @property
    def asks_model(self) -> bool:
        """Whether the answer is still to come from the model."""
        return self.path == "llm"


def choose(odds: Odds, context: DecisionContext, drawn: Drawn) -> Choice:
    """Choose one arm of the odds; nothing is drawn if there is only one."""
    by_arm = dict(odds.arms)
    arm, draw = _taken(odds, drawn)
    arms = [(each.arm, each) for each in context.candidates]
    heuristic = next((each for its, each in arms if its == arm), None)
    race = _race(arm, context)
    return Choice(
        arm=arm,
        probability=by_arm[arm],
        odds=odds,
        draw=draw,
        heuristic=heuristic,
        path="llm" if race is not None else _path(arm, context, heuristic),
        candidates=_weighed(context, arms, by_arm, odds.scores),
        race=race,
        quiet=_quiet(arm, odds, context),
    )


@by_identity(256)
def config_hash(strategy: Strategy) -> str:
    """Return the digest of a strategy's settings: with its name it identifies the
    policy.
    """
    return ids.digest(orjson.dumps(strategy.config, option=orjson.OPT_SORT_KEYS))


def result(
    context: DecisionContext, choice: Choice, response_id: str
) -> DecisionResult:
    """Return the decision as receivers see it, before any model has answered."""
    if choice.heuristic is not None:
        confidence = choice.heuristic.confidence
        return DecisionResult(
            path="heuristic",
            response_text=choice.heuristic.words,
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
        # Candidates come best first, see `decide`.
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
    value = drawn(_ARM_PURPOSE)
    draw = Draw(purpose=_ARM_PURPOSE, value=value)
    # Inverse of the cumulative distribution, in the order of the odds.
    reached = 0.0
    for arm, probability in odds.arms:
        # Rounded at each step: the odds are millionths, and their sum must be exactly one.
        reached = round6(reached + probability)
        if value < reached:
            return arm, draw
    # Unreachable for odds that add up to one; a strategy's may lack a millionth.
    return odds.arms[-1][0], draw


def _path(
    arm: str, context: DecisionContext, heuristic: HeuristicCandidate | None
) -> Path:
    if heuristic is not None:
        return "heuristic"
    return "llm" if arm == context.llm_arm else "rejected"


def _race(arm: str, context: DecisionContext) -> Race | None:
    """Parse a race's arm: which of the candidates, and by when; None if it is no race."""
    if context.llm_arm is None or not arm.startswith(RACE):
        return None
    for each in context.candidates:
        deadline_ms = race_deadline_ms(arm, context.llm_arm, each.arm)
        if deadline_ms is not None:
            return Race(each, deadline_ms)
    return None


def _quiet(arm: str, odds: Odds, context: DecisionContext) -> HeuristicCandidate | None:
    """Return the learnt silence that the arm stands for, if it stands for one."""
    if arm != SILENT:
        return None
    return next((each for each in context.silences if each.arm == odds.quiet), None)


def _weighed(
    context: DecisionContext,
    arms: Sequence[tuple[str, HeuristicCandidate]],
    by_arm: Mapping[str, float],
    scores: tuple[Scored, ...],
) -> tuple[Candidate, ...]:
    """Return every arm as it was weighed: heuristics, the model, races of them, silence."""
    scored = {each.arm: each for each in scores}
    weighed = [
        _of_heuristic(
            each,
            arm,
            by_arm.get(arm, 0.0),
            score=scored[arm].score if scored else each.similarity,
            factors=scored[arm].factors if scored else None,
        )
        for arm, each in arms
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
    weighed += [
        _of_heuristic(each, each.arm, 0.0, silence=True) for each in context.silences
    ]
    # All arms are recorded, those without odds as well: other strategies may choose them.
    weighed.append(Candidate(arm=SILENT, probability=by_arm.get(SILENT, 0.0)))
    return tuple(weighed)


def _of_heuristic(
    each: HeuristicCandidate,
    arm: str,
    probability: float,
    *,
    score: float | None = None,
    factors: Factors | None = None,
    silence: bool | None = None,
) -> Candidate:
    """Return a heuristic as the record of the decision has it."""
    # Spelled out: passed on as a mapping, the fields take three times as long (0.6 µs).
    return Candidate(
        arm=arm,
        probability=probability,
        eligible=each.eligible,
        reason=each.reason,
        similarity=each.similarity,
        confidence=each.confidence,
        alpha=each.alpha,
        beta=each.beta,
        score=score,
        factors=factors,
        silence=silence,
    )
