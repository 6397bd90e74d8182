"""`urgency`: the more urgent the event, the less trust is asked of what was learnt."""

from typing import ClassVar, Literal

from handlers.strategies.heuristic_first import (
    SAFE_THRESHOLDS,
    THRESHOLD_BIAS,
    HeuristicFirst,
    ask_or_reject,
    confidence_gate,
)
from schemas.context import DecisionContext, HeuristicCandidate, Odds
from schemas.decisions import Gate
from schemas.message import Unit
from schemas.numbers import clamp, round6

Tier = Literal["immediate", "soon", "not_urgent"]


class Urgency(HeuristicFirst):
    """Lower the threshold by urgency times reduction, and choose by how urgent it is.

    Immediate: the most similar candidate that reaches the threshold answers, speed before
    quality. Soon: the most similar of all must reach it, else the model is asked; a better
    match of less confidence goes before a worse match of more. Not urgent: only a singular
    candidate answers, which matches well, is well trusted, and has no near rival.
    """

    name: ClassVar[str] = "urgency"
    version: ClassVar[int] = 1

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

    def odds(
        self, context: DecisionContext, pool: tuple[HeuristicCandidate, ...]
    ) -> Odds:
        """All the probability on one candidate, the model or silence."""
        if not pool:
            return ask_or_reject(context)
        threshold = self.threshold(context)
        tier = self.tier(context.urgency)
        answers = pool[0]
        if tier == "immediate":
            trusted = (each for each in pool if each.confidence >= threshold)
            answers = next(trusted, answers)
        if tier == "not_urgent":
            threshold = max(threshold, self.singular_confidence)
        gates = [confidence_gate(answers.confidence, threshold)]
        if tier == "not_urgent":
            gates += self._singular(pool)
        if all(gate.passed for gate in gates):
            return Odds.certain(answers.arm, "strategy_silent", *gates)
        return ask_or_reject(context, tuple(gates))

    def threshold(self, context: DecisionContext) -> float:
        """The threshold with the personality's bias, lowered by urgency."""
        bias = context.personality_biases.get(THRESHOLD_BIAS, 0.0)
        lowered = self.confidence_threshold + bias - context.urgency * self.reduction
        return round6(clamp(lowered, *SAFE_THRESHOLDS))

    def tier(self, urgency: float) -> Tier:
        """How soon an answer is worth having."""
        if urgency >= self.immediate_from:
            return "immediate"
        return "soon" if urgency >= self.soon_from else "not_urgent"

    def _singular(self, pool: tuple[HeuristicCandidate, ...]) -> list[Gate]:
        """Whether the best matches well, and nothing else nearly as well."""
        best, rivals = pool[0], pool[1:]
        lead = round6(
            best.similarity - max([each.similarity for each in rivals] or [0])
        )
        return [
            _at_least("similarity", best.similarity, self.singular_similarity),
            _at_least("lead", lead, self.singular_margin),
        ]


def _at_least(name: str, value: float, threshold: float) -> Gate:
    return Gate(
        name=name,
        passed=value >= threshold,
        value=value,
        threshold=threshold,
        margin=round6(value - threshold),
    )
