"""`heuristic_first`: what was learnt if it is trusted, else the model, else silence."""

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

from msgspec import structs
from pydantic import Field, JsonValue

from handlers.mind.strategies.exploration import criticality, whole
from handlers.mind.strategies.scoring import Rank, Weights, best_first, ranked, scored
from schemas.messages.arms import SILENT
from schemas.messages.decisions import Gate
from schemas.packs.templates import PredictionTemplate, SystemPrompt
from schemas.ports.decision_context import DecisionContext, HeuristicCandidate, Odds
from schemas.values.base import Name, Part, Unit
from schemas.values.exact_math import clamp, round6
from schemas.values.settings import Prediction, Presentation

SAFE_THRESHOLDS = (0.3, 0.95)
"""No bias moves the threshold out of this range."""

TRIAL = "trial"
"""The gate of a trial: its value is the confidence that was declared."""

_NOTHING_ELSE = ("llm_unavailable", "not_immediate")
"""The silences in which no model could be asked either."""

THRESHOLD_BIAS = "confidence_threshold"
"""The personality bias that adjusts the threshold."""


class Asking(Part):
    """How the model is asked; None is as the settings say."""

    name: ClassVar[str]

    model: Name | None = None
    """Which model of a chain is asked alone."""
    max_candidates: int | None = Field(default=None, ge=0, le=5)
    """How many candidates it is shown."""
    llm_confidence_ceiling: Unit | None = None
    """Its own confidence counts up to here."""
    present: Presentation | None = None
    """How candidates are put to it."""
    prediction: Prediction | None = None
    """How it is asked how its answer will turn out."""
    system_prompt: SystemPrompt | None = None
    """The system prompt; `@FILE` takes it from a file."""
    prediction_prompt_template: PredictionTemplate | None = None
    """How it is asked for a separate prediction, its answer in place of `{answer}`."""

    @cached_property
    def config(self) -> dict[str, JsonValue]:
        """What is set, for the record."""
        return {"strategy": self.name, **self.model_dump(exclude_none=True)}


class Trusting(Asking):
    """What the strategies share that let a trusted heuristic answer."""

    confidence_threshold: Unit = 0.7
    """The confidence from which a heuristic answers by itself."""
    max_candidates: int | None = Field(default=3, ge=0, le=5)
    """How many candidates the model is shown."""
    llm_confidence_ceiling: Unit | None = 0.8
    """The model's own confidence counts up to here."""

    def threshold(self, context: DecisionContext) -> float:
        """Return the threshold with the personality's bias, within the safe range."""
        return self.biased(context.personality_biases)

    def or_silence(self, context: DecisionContext, odds: Odds) -> Odds:
        """Return the odds with the model's share given to silence, where that was learnt.

        The model is still asked with a known probability, and always where much is at
        stake. Urgency lowers no threshold for silence.
        """
        # They come surest first, so the first eligible one decides.
        quiet = next((each for each in context.silences if each.eligible), None)
        if quiet is None or context.llm_arm is None:
            return odds
        asked = dict(odds.arms).get(context.llm_arm, 0.0)
        if not asked:
            return odds
        # A silence must never swallow an alarm, however sure it is.
        critical = criticality(context, SILENT)
        # Not `threshold`, which some strategies lower by urgency.
        gate = confidence_gate(
            quiet.confidence, self.biased(context.personality_biases)
        )
        passed = gate.passed and critical is None
        gate = structs.replace(gate, name="silence", passed=passed, note=critical)
        odds = structs.replace(odds, gates=(*odds.gates, gate))
        if not passed:
            return odds
        # Asking on with a known probability lets the model speak against a wrong silence,
        # and gives estimates an overlap (ADR 0017).
        shares, still = dict(odds.arms), asked * context.silence_asks
        shares[SILENT] = shares.get(SILENT, 0.0) + asked - still
        shares[context.llm_arm] = still
        greedy = SILENT if odds.greedy == context.llm_arm else odds.greedy
        return structs.replace(
            odds,
            arms=whole(shares, greedy),
            greedy=greedy,
            silence="learned_silence",
            quiet=quiet.arm,
        )

    def or_trial(
        self, context: DecisionContext, pool: tuple[HeuristicCandidate, ...], odds: Odds
    ) -> Odds:
        """Return the odds with a trial of one that was trusted, where nothing else answers.

        Evidence comes of what is said alone: else a few failures would silence it for good.
        One whose confidence is locked never falls, and has none.
        """
        if not context.trials or odds.silence not in _NOTHING_ELSE:
            return odds
        if odds.arms != ((SILENT, 1.0),):
            return odds
        threshold = self.biased(context.personality_biases)
        fallen = (each for each in pool if each.confidence < threshold <= each.declared)
        tried = next(fallen, None)
        if tried is None:
            return odds
        gate = confidence_gate(tried.declared, threshold)
        shares = {tried.arm: context.trials, SILENT: 1.0 - context.trials}
        return structs.replace(
            odds,
            arms=whole(shares, SILENT),
            gates=(*odds.gates, structs.replace(gate, name=TRIAL)),
        )

    def biased(self, biases: Mapping[str, float]) -> float:
        """Return the threshold with these biases of a personality, whatever is urgent."""
        bias = biases.get(THRESHOLD_BIAS, 0.0)
        return round6(clamp(self.confidence_threshold + bias, *SAFE_THRESHOLDS))


class HeuristicFirst(Weights, Trusting):
    """Test the best candidate against the threshold; ask the model if it falls short."""

    name: ClassVar[str] = "heuristic_first"
    version: ClassVar[int] = 1

    rank: Rank = Field(default="similarity", exclude_if="similarity".__eq__)
    """By what the best is found: `similarity`, `similarity_confidence` or `full`."""

    def decide(self, context: DecisionContext) -> Odds:
        """Return all the probability on one candidate, the model or silence."""
        # Candidates come with scores only where scores decide: else records would change.
        if self.rank == "similarity":
            pool = ranked(context.candidates)
            odds = self.odds(context, pool)
        else:
            scores = scored(context.candidates, self.rank, self, context.now)
            pool = best_first(context.candidates, scores)
            odds = structs.replace(self.odds(context, pool), scores=scores)
        return self.or_trial(context, pool, self.or_silence(context, odds))

    def odds(
        self, context: DecisionContext, pool: tuple[HeuristicCandidate, ...]
    ) -> Odds:
        """Return the odds over candidates that are already in the order to try them."""
        if not pool:
            return ask_or_reject(context)
        best = pool[0]
        gate = confidence_gate(best.confidence, self.threshold(context))
        if gate.passed:
            return Odds.certain(best.arm, "strategy_silent", gate)
        return ask_or_reject(context, (gate,))


def confidence_gate(confidence: float, threshold: float) -> Gate:
    """Return the gate that a heuristic passes if it is trusted to answer by itself."""
    return Gate(
        name="confidence",
        passed=confidence >= threshold,
        value=confidence,
        threshold=threshold,
        margin=round6(confidence - threshold),
    )


def ask_or_reject(context: DecisionContext, gates: tuple[Gate, ...] = ()) -> Odds:
    """Return the model if there is one and the event may wait for it, else silence."""
    if context.llm_arm is None:
        return Odds.certain(SILENT, "llm_unavailable", *gates)
    if not context.immediate:
        return Odds.certain(SILENT, "not_immediate", *gates)
    return Odds.certain(context.llm_arm, "strategy_silent", *gates)
