"""`urgency` and `hybrid`: what is urgent needs less confidence, or waits less for a model."""

from typing import ClassVar, Literal

from pydantic import Field

from handlers.mind.strategies.exploration import criticality, whole
from handlers.mind.strategies.heuristic_first import (
    SAFE_THRESHOLDS,
    THRESHOLD_BIAS,
    HeuristicFirst,
    ask_or_reject,
    confidence_gate,
)
from handlers.mind.strategies.scoring import scored
from schemas.messages.arms import race_arm
from schemas.messages.decisions import Gate
from schemas.ports.decision_context import DecisionContext, HeuristicCandidate, Odds
from schemas.values.base import Unit
from schemas.values.exact_math import clamp, round6, total

_Tier = Literal["immediate", "soon", "not_urgent"]


class Urgency(HeuristicFirst):
    """Lower the threshold by urgency times reduction, and choose by how urgent it is.

    Immediate: the most similar of all that are not distrusted answers, speed before
    quality. Soon: one of those that reach the threshold answers, by a draw in proportion
    to similarity squared times confidence (and what else it is ranked by); if none does,
    the model is asked. Not urgent: only a singular candidate answers, which matches well,
    is well trusted, and has no near rival.
    """

    name: ClassVar[str] = "urgency"
    version: ClassVar[int] = 2

    reduction: Unit = 0.3
    """What an urgency of 1 takes off the threshold."""
    immediate_from: Unit = 0.7
    """The urgency from which any trusted match answers."""
    soon_from: Unit = 0.3
    """The urgency from which the best match may answer."""
    singular_similarity: Unit = 0.75
    """The similarity of a singular match, at least."""
    singular_confidence: Unit = 0.8
    """Its confidence, at least."""
    singular_margin: Unit = 0.1
    """How far behind the next similar match must lie."""
    reasonable_confidence: Unit = 0.3
    """The confidence from which any match will do where it is immediate."""

    def threshold(self, context: DecisionContext) -> float:
        """Return the threshold with the personality's bias, lowered by urgency.

        Where it is immediate it is `reasonable_confidence` at most.
        """
        bias = context.personality_biases.get(THRESHOLD_BIAS, 0.0)
        # Clamped after both: no urgency takes the threshold below the safe range.
        by_urgency = context.urgency * self.reduction
        lowered = self.confidence_threshold + bias - by_urgency
        lowered = round6(clamp(lowered, *SAFE_THRESHOLDS))
        if self.tier(context.urgency) != "immediate":
            return lowered
        return min(self.reasonable_confidence, lowered)

    def tier(self, urgency: float) -> _Tier:
        """Return the tier that an urgency falls into."""
        if urgency >= self.immediate_from:
            return "immediate"
        return "soon" if urgency >= self.soon_from else "not_urgent"

    def singular(
        self, context: DecisionContext, pool: tuple[HeuristicCandidate, ...]
    ) -> Odds:
        """Return the odds where nothing is urgent: only a clear and trusted match
        answers.
        """
        trusted = max(self.threshold(context), self.singular_confidence)
        gates = (confidence_gate(pool[0].confidence, trusted), *self._leads(pool))
        if all(gate.passed for gate in gates):
            return Odds.certain(pool[0].arm, "strategy_silent", *gates)
        return ask_or_reject(context, gates)

    def _leads(self, pool: tuple[HeuristicCandidate, ...]) -> list[Gate]:
        """Return the gates that the best matches well, and that nothing else nearly
        does.
        """
        best, rivals = pool[0], pool[1:]
        lead = round6(
            best.similarity - max([each.similarity for each in rivals] or [0])
        )
        return [
            _at_least("similarity", best.similarity, self.singular_similarity),
            _at_least("lead", lead, self.singular_margin),
        ]

    def odds(
        self, context: DecisionContext, pool: tuple[HeuristicCandidate, ...]
    ) -> Odds:
        """Return the odds of the tier that the event's urgency puts it in."""
        if not pool:
            return ask_or_reject(context)
        tier = self.tier(context.urgency)
        if tier == "not_urgent":
            return self.singular(context, pool)
        if tier == "soon":
            return self._weighted(context, pool)
        return _first_over(context, pool, self.threshold(context))

    def _weighted(
        self, context: DecisionContext, pool: tuple[HeuristicCandidate, ...]
    ) -> Odds:
        threshold = self.threshold(context)
        trusted = [each for each in pool if each.confidence >= threshold]
        # The draw is the strategy's own: its shares go on record as propensities.
        weights = {each.arm: self._weight(context, each) for each in trusted}
        whole_weight = total(weights.values())
        # Nobody is trusted, or all weigh nothing: no shares to draw by.
        if not whole_weight:
            return _first_over(context, pool, threshold)
        best = max(trusted, key=lambda each: weights[each.arm])
        shares = {arm: weights[arm] / whole_weight for arm in weights}
        return Odds(
            arms=whole(shares, best.arm),
            greedy=best.arm,
            silence="strategy_silent",
            gates=(confidence_gate(best.confidence, threshold),),
        )

    def _weight(self, context: DecisionContext, each: HeuristicCandidate) -> float:
        if self.rank == "similarity":
            return each.similarity * each.similarity * each.confidence
        (ranked_by,) = scored((each,), self.rank, self, context.now)
        return each.similarity * ranked_by.score


def _first_over(
    context: DecisionContext, pool: tuple[HeuristicCandidate, ...], bar: float
) -> Odds:
    """Return all the probability on the first that reaches `bar`, else on the model."""
    reaching = (each for each in pool if each.confidence >= bar)
    answers = next(reaching, pool[0])
    gate = confidence_gate(answers.confidence, bar)
    if gate.passed:
        return Odds.certain(answers.arm, "strategy_silent", gate)
    return ask_or_reject(context, (gate,))


def _at_least(name: str, value: float, threshold: float) -> Gate:
    return Gate(
        name=name,
        passed=value >= threshold,
        value=value,
        threshold=threshold,
        margin=round6(value - threshold),
    )


class Hybrid(HeuristicFirst):
    """Ask the model; a trusted heuristic answers if it has not by the deadline.

    The race is one arm. Where there is no model, no time for one, or no heuristic to be
    trusted, it is `heuristic_first`. A model that fails has lost; one that chooses to say
    nothing has answered. The deadline is a timer of the agent's time: in a session on the
    clock of its events it runs out with the next event, however late.
    """

    name: ClassVar[str] = "hybrid"
    version: ClassVar[int] = 1

    deadline_ms: int = Field(default=400, ge=1, le=600_000)
    """How long the model is waited for."""

    def odds(
        self, context: DecisionContext, pool: tuple[HeuristicCandidate, ...]
    ) -> Odds:
        """Return all the probability on the race, else as `heuristic_first`."""
        odds = super().odds(context, pool)
        # Only a trusted heuristic may stand by: else `heuristic_first` chose the model
        # alone.
        if not pool or odds.greedy != pool[0].arm:
            return odds
        if context.llm_arm is None or not context.immediate:
            return odds
        # What is critical is answered at once, and not after a deadline.
        if criticality(context, pool[0].arm) is not None:
            return odds
        race = race_arm(context.llm_arm, pool[0].arm, self.deadline_ms)
        return Odds.certain(race, odds.silence, *odds.gates)
