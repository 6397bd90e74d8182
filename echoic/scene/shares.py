"""Shares: by which layers a character decided, and how much of that needed a model.

Counted from the log. A decision that a model was asked for counts as the model's, whatever
came of it; occasions at which nothing was due are told apart, as nothing was decided there.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from schemas.codec.envelope import Output
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided

_HOUR_S = 3_600.0


@dataclass(slots=True)
class Shares:
    """What one character's decisions came to."""

    layers: Counter[str] = field(default_factory=Counter)
    """Decisions to act, by the layer that made them."""
    modelled: Counter[str] = field(default_factory=Counter)
    """Those for which a model was asked, by layer."""
    nothing: int = 0
    """Occasions at which nothing was due, or nobody was there to decide."""
    calls: int = 0
    """Calls of models."""
    fallbacks: int = 0
    """Decisions in which something else was done than the model was asked for."""
    first: datetime | None = None
    last: datetime | None = None

    def take(self, outputs: Sequence[Output]) -> None:
        """Count the outputs of a group."""
        for output in outputs:
            self.first = self.first or output.at
            self.last = output.at
            match output.message:
                case ModelAsked():
                    self.calls += 1
                case Decided(layer=None):
                    self.nothing += 1
                case Decided(layer=str() as layer, path=path):
                    self.layers[layer] += 1
                    self.modelled[layer] += path == "llm"
                case Completed(choice=choice) if choice is not None:
                    self.fallbacks += choice.fallback is not None
                case _:
                    pass

    @property
    def decided(self) -> int:
        """How many decisions there are."""
        return self.layers.total()

    @property
    def without_model(self) -> float | None:
        """The share of decisions for which no model was asked; None without any."""
        if not self.decided:
            return None
        return 1.0 - self.modelled.total() / self.decided

    @property
    def without_model_of_all(self) -> float | None:
        """The same of all occasions, those at which nothing was due, too."""
        whole = self.decided + self.nothing
        return 1.0 - self.modelled.total() / whole if whole else None

    @property
    def hours(self) -> float:
        """How many hours of the character's time it is about."""
        if self.first is None or self.last is None:
            return 0.0
        return (self.last - self.first).total_seconds() / _HOUR_S

    @property
    def calls_an_hour(self) -> float | None:
        """How often a model was called an hour; None of no time at all."""
        return self.calls / self.hours if self.hours > 0 else None

    def fields(self) -> dict[str, object]:
        """Return it for programs."""
        return {
            "decided": self.decided,
            "layers": dict(sorted(self.layers.items())),
            "nothing_due": self.nothing,
            "without_model": self.without_model,
            "without_model_of_all": self.without_model_of_all,
            "model_calls": self.calls,
            "hours": self.hours,
            "calls_an_hour": self.calls_an_hour,
            "fallbacks": self.fallbacks,
        }
