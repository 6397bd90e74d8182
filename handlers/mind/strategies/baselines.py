"""Baselines: strategies that others must beat, or be measured against."""

from typing import ClassVar

from pydantic import JsonValue

from handlers.mind.strategies.heuristic_first import Asking, ask_or_reject
from handlers.mind.strategies.scoring import ranked
from schemas.messages.arms import SILENT
from schemas.ports.decision_context import DecisionContext, Odds
from schemas.values.base import Part
from schemas.values.exact_math import round6


class AlwaysLlm(Asking):
    """`always_llm`: asks the model whatever was learnt."""

    name: ClassVar[str] = "always_llm"
    version: ClassVar[int] = 1

    def decide(self, context: DecisionContext) -> Odds:
        """Return the model, if it can be asked."""
        return ask_or_reject(context)


class Silent(Part):
    """`silent`: never says anything."""

    name: ClassVar[str] = "silent"
    version: ClassVar[int] = 1

    @property
    def config(self) -> dict[str, JsonValue]:
        """Its settings in full, for the record."""
        return {"strategy": self.name}

    def decide(self, context: DecisionContext) -> Odds:
        """Return silence with certainty."""
        return Odds.certain(SILENT, "strategy_silent")


class Random(Asking):
    """`random`: any eligible arm, silence among them, with the same probability."""

    name: ClassVar[str] = "random"
    version: ClassVar[int] = 1

    def decide(self, context: DecisionContext) -> Odds:
        """Return equal odds; greedy is the best candidate, else the model, else silence."""
        arms = [candidate.arm for candidate in ranked(context.candidates)]
        if context.llm_arm is not None and context.immediate:
            arms.append(context.llm_arm)
        arms.append(SILENT)
        share = round6(1.0 / len(arms))
        odds = [(arm, share) for arm in arms[:-1]]
        # Thirds do not add up to one in six decimals: silence takes what rounding leaves.
        rest = round6(1.0 - share * len(odds))
        return Odds(
            arms=(*odds, (SILENT, rest)), greedy=arms[0], silence="strategy_silent"
        )
