"""Strategies of one's own, good and bad, as a person might write them."""

from dataclasses import dataclass
from typing import Any, NoReturn

from schemas.messages.arms import SILENT
from schemas.messages.decisions import Gate
from schemas.ports.decision_context import DecisionContext, Odds

Parameters = dict[str, Any]


@dataclass(frozen=True)
class Given:
    """Says whatever odds it was given."""

    config: Parameters
    arms: tuple[tuple[str, float], ...]
    greedy: str
    silence: Any = "strategy_silent"
    gates: tuple[Any, ...] = ()
    name: str = "given"
    version: int = 3

    def decide(self, context: DecisionContext) -> Odds:
        """The given odds; `best` stands for the first candidate, `llm` for the model."""
        named = {"best": context.candidates[0].arm, "llm": context.llm_arm or "none"}
        named["race"] = f"race:{named['llm']}+{named['best']}@250"
        return Odds(
            arms=tuple((named.get(arm, arm), share) for arm, share in self.arms),
            greedy=named.get(self.greedy, self.greedy),
            silence=self.silence,
            gates=self.gates,
        )


def make(parameters: Parameters) -> Given:
    """Odds by arm."""
    if not parameters:
        raise ValueError("give odds by arm")
    silence = parameters.pop("silence", "strategy_silent")
    greedy = parameters.pop("greedy", next(iter(parameters)))
    return Given(parameters, tuple(parameters.items()), greedy, silence)


def gated(parameters: Parameters) -> Given:
    """Silence with a gate that is none."""
    return Given(parameters, ((SILENT, 1.0),), SILENT, gates=("no gate",))


def twice(parameters: Parameters) -> Given:
    """An arm that stands twice."""
    return Given(parameters, ((SILENT, 0.5), (SILENT, 0.5)), SILENT)


class Plain:
    """The least that decides."""

    def decide(self, context: DecisionContext) -> Odds:
        """Silence."""
        return Odds.certain(SILENT, "strategy_silent", Gate(name="mine", passed=True))


def plain(parameters: Parameters) -> Plain:
    """A strategy without version or configuration."""
    return Plain()


def nothing(parameters: Parameters) -> None:
    """No strategy at all."""


class Waiting:
    """Asks a model by itself."""

    async def decide(self, context: DecisionContext, llm: object) -> None:
        """Wait for it."""


def waiting(parameters: Parameters) -> Waiting:
    """A strategy as the first designs wrote them."""
    return Waiting()


class Leaving:
    """Ends the program."""

    def decide(self, context: DecisionContext) -> NoReturn:
        """Leave."""
        raise SystemExit(3)


def leaving(parameters: Parameters) -> Leaving:
    """A strategy that goes too far."""
    return Leaving()


class Failing:
    """Never decides."""

    def decide(self, context: DecisionContext) -> NoReturn:
        """Fail."""
        raise KeyError("mood")


def failing(parameters: Parameters) -> Failing:
    """A strategy with a bug."""
    return Failing()
