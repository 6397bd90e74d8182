"""A decision of a closed-loop run, beside the recorded one on the same input."""

from dataclasses import dataclass

from replay.cassette import Spread, Take
from replay.closed_loop.history import MILLISECOND_NS
from replay.recording.decisions import DecisionRecord
from schemas.messages.decisions import Completed
from schemas.values.exact_math import total


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedLoopDecision:
    """A decision that a strategy made in a closed-loop run."""

    record: DecisionRecord
    """The decision, with the words that models are taken to have said."""
    recorded: DecisionRecord | None
    """The recorded decision on the same input."""
    takes: tuple[Take, ...]
    """The answers to its requests to models, in order."""
    is_memory_estimated: bool = False
    """Whether it recalled what the recorded run did not: found by a scan of the recording,
    not by what the memory would have answered."""

    @property
    def is_recorded_arm(self) -> bool:
        """Whether the recorded run did the same."""
        return self.record.is_same_arm(self.recorded)

    @property
    def is_unknown(self) -> bool:
        """Whether a model answered whose text is unknown."""
        end = self.record.ending
        is_by_model = isinstance(end, Completed) and end.path != "heuristic"
        return is_by_model and bool(self.takes) and not self.takes[0].is_known

    @property
    def said(self) -> str | None:
        """What the person would have heard; None if nothing, or if it is unknown."""
        return None if self.is_unknown else self.record.said

    @property
    def is_imputed(self) -> bool:
        """Whether the recording holds no answer to its first request, or to its memory's."""
        if self.is_memory_estimated:
            return True
        return bool(self.takes) and self.takes[0].source in ("imputed", "assumed")

    @property
    def tokens(self) -> int:
        """How many tokens models read and wrote for it."""
        return sum(take.tokens or 0 for take in self.takes)

    @property
    def cost_usd(self) -> tuple[float, float]:
        """The least and the most that models may have cost."""
        costs = [take.cost_usd for take in self.takes if take.cost_usd is not None]
        return total(cost.low for cost in costs), total(cost.high for cost in costs)

    @property
    def latency_ms(self) -> Spread | None:
        """From the event to the answer, by the broker's time; None if no model was asked.

        A range if a model's own is only imputed or assumed.
        """
        if not self.takes or self.record.ending is None:
            return None
        took_ms = (self.record.answered_ns - self.record.arrived_ns) / MILLISECOND_NS
        if all(take.source in ("recorded", "asked") for take in self.takes):
            return Spread.exactly(took_ms)
        low = total(take.latency_ms.low for take in self.takes)
        high = total(take.latency_ms.high for take in self.takes)
        rival = next(iter(self.record.asks.values())).rival
        if rival is not None:
            # In a race the heuristic answers at its deadline at the latest.
            due_ms = (rival.due_at - self.record.at).total_seconds() * 1000.0
            low, high = min(low, due_ms), min(high, due_ms)
        return Spread(low=min(low, took_ms), middle=took_ms, high=max(high, took_ms))
