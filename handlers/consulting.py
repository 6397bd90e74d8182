"""Consulting the model: which one may be asked at this point, how, and what is made of it.

Without a model there is no consultation, and its arm is not among those of a strategy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from handlers.group import Group
from handlers.stages import conclusion, prompts
from handlers.stages.prompts import Prompt
from schemas.context import DecisionContext, Strategy
from schemas.decisions import Completed, Dropped
from schemas.packs import CompiledPack
from schemas.results import ModelAnswered
from schemas.settings import MindSettings, ModelSettings
from schemas.state import Pending


@dataclass(frozen=True, slots=True)
class Consultation:
    """A model that may be asked."""

    model: ModelSettings
    system: str
    """The system prompt, the same for every event."""
    arm: str
    max_candidates: int
    """How many candidates it is shown."""

    def prompt(self, group: Group, context: DecisionContext) -> Prompt:
        """What it is asked about an event."""
        eligible = [each for each in context.candidates if each.eligible]
        return prompts.build(
            context,
            eligible,
            self.system,
            self.model,
            self.max_candidates,
            group.draw,
        )


class Surroundings(Protocol):
    """What a consultation depends on besides the strategy."""

    @property
    def settings(self) -> MindSettings:
        """The settings in force."""

    @property
    def packs(self) -> Sequence[CompiledPack]:
        """The packs in force."""

    @property
    def goals(self) -> Sequence[str]:
        """The active goals."""


def consultation(group: Surroundings, strategy: Strategy) -> Consultation | None:
    """The model of the settings, as this strategy asks it; None if there is none."""
    model = group.settings.model
    if model is None:
        return None
    shown = strategy.config.get("max_candidates", group.settings.max_candidates)
    max_candidates = shown if isinstance(shown, int) else 0
    system = prompts.system_prompt(group.settings, group.packs, group.goals)
    arm = prompts.arm(model, system, max_candidates)
    return Consultation(model, system, arm, max_candidates)


def conclude(
    group: Group, strategy: Strategy, pending: Pending, result: ModelAnswered
) -> Completed | Dropped:
    """What a decision comes to by the model's answer."""
    settings = group.settings
    limit = strategy.config.get("llm_confidence_ceiling", settings.confidence_ceiling)
    ceiling = float(limit) if isinstance(limit, int | float) else 0.0
    read = prompts.read_answer(result.text, ceiling)
    return conclusion.answered(pending, result.model, result.text, read, group.now)
