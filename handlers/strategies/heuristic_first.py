"""`heuristic_first`: what was learnt if it is trusted, else the model, else silence."""

from typing import ClassVar

from pydantic import Field

from handlers.strategies.asking import Asking
from handlers.strategies.ranking import ranked
from schemas.context import DecisionContext, Odds
from schemas.decisions import SILENT, Gate
from schemas.message import Unit
from schemas.numbers import clamp, round6

SAFE_THRESHOLDS = (0.3, 0.95)
"""No bias moves the threshold out of this range."""

THRESHOLD_BIAS = "confidence_threshold"
"""The personality bias that adjusts the threshold."""


class HeuristicFirst(Asking):
    """Test the best candidate against the threshold; ask the model if it falls short."""

    name: ClassVar[str] = "heuristic_first"
    version: ClassVar[int] = 1

    confidence_threshold: Unit = 0.7
    """The confidence from which a heuristic answers by itself."""
    max_candidates: int | None = Field(default=3, ge=0, le=5)
    """How many candidates the model is shown."""
    llm_confidence_ceiling: Unit | None = 0.8
    """The model's own confidence counts up to here."""

    def decide(self, context: DecisionContext) -> Odds:
        """All the probability on the heuristic, the model or silence."""
        best = next(iter(ranked(context.candidates)), None)
        gates: tuple[Gate, ...] = ()
        if best is not None:
            gate = confidence_gate(best.confidence, self.threshold(context))
            gates = (gate,)
            if gate.passed:
                return Odds.certain(best.arm, "strategy_silent", gate)
        return ask_or_reject(context, gates)

    def threshold(self, context: DecisionContext) -> float:
        """The threshold with the personality's bias, within the safe range."""
        bias = context.personality_biases.get(THRESHOLD_BIAS, 0.0)
        return round6(clamp(self.confidence_threshold + bias, *SAFE_THRESHOLDS))


def confidence_gate(confidence: float, threshold: float) -> Gate:
    """Whether a heuristic is trusted enough to answer by itself."""
    return Gate(
        name="confidence",
        passed=confidence >= threshold,
        value=confidence,
        threshold=threshold,
        margin=round6(confidence - threshold),
    )


def ask_or_reject(context: DecisionContext, gates: tuple[Gate, ...] = ()) -> Odds:
    """The model if there is one and the event may wait for it, else silence."""
    if context.llm_arm is None:
        return Odds.certain(SILENT, "llm_unavailable", *gates)
    if not context.immediate:
        return Odds.certain(SILENT, "not_immediate", *gates)
    return Odds.certain(context.llm_arm, "strategy_silent", *gates)
