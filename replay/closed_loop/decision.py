"""A decision of a closed-loop run: while it is open, and once it is completed."""

from dataclasses import dataclass

from replay.cassette import Source, Spread, Take
from replay.closed_loop.history import MILLISECOND_NS, RecordedChoice
from schemas.codec.envelope import Input, Output
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.values.exact_math import total
from schemas.values.reasons import Drop, Path, Silence
from schemas.values.record import nanoseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedLoopDecision:
    """A decision that a strategy made in a closed-loop run."""

    agent: str
    session: str
    sequence: int
    """The sequence of the recorded input."""
    decision_id: str
    recorded_id: str | None
    """The recorded decision on the same input."""
    event_id: str
    at_ns: int
    """The agent's time, in nanoseconds since 1970."""
    source: str
    type: str
    path: Path
    """`none` if a gate closed before the strategy was asked."""
    arm: str
    propensity: float
    silence: Silence | None
    winner: str | None
    """The arm that won, where the arm is a race."""
    is_recorded_arm: bool
    """Whether the recorded run did the same."""
    said: str | None
    """What the person would have heard; None if nothing, or if it is unknown."""
    is_unknown: bool
    """Whether a model answered whose text is unknown."""
    dropped: Drop | None
    request_hash: str | None
    """The hash of the first request to a model; None if none was made."""
    answer_from: Source | None
    """Where its answer comes from; None if no model was asked."""
    latency_ms: Spread | None
    """From the event to the answer, by the broker's time; None if no model was asked."""
    calls: int
    """How often a model was asked."""
    cost_low_usd: float
    cost_high_usd: float
    tokens: int


class Draft:
    """A decision that is still open."""

    def __init__(
        self, agent: str, input_: Input, output: Output, decided: Decided
    ) -> None:
        """Start with the decision as it was made."""
        self.sequence = input_.sequence
        self.decision_id = output.id
        self.is_whole = decided.final
        self._agent = agent
        self._output = output
        self._decided = decided
        self._made_ns = input_.record.time_ns
        self._end: Completed | Dropped | None = None
        self._ended_ns: int | None = None
        self._takes: list[Take] = []
        self._asked: ModelAsked | None = None

    def asked(self, asked: ModelAsked, take: Take, time_ns: int) -> None:
        """Record a request to a model, and its answer to come."""
        self._asked = self._asked or asked
        self._takes.append(take)

    def end(self, end: Completed | Dropped, time_ns: int) -> None:
        """Record the completion, or that the decision was dropped."""
        self._end, self._ended_ns, self.is_whole = end, time_ns, True

    def decision(
        self, past: RecordedChoice | None, is_recorded_arm: bool
    ) -> ClosedLoopDecision:
        """Return the decision as it stands."""
        decided, end = self._decided, self._end
        costs = [take.cost_usd for take in self._takes if take.cost_usd is not None]
        return ClosedLoopDecision(
            agent=self._agent,
            session=decided.session_id or "",
            sequence=self.sequence,
            decision_id=self.decision_id,
            recorded_id=past.decision_id if past else None,
            event_id=decided.event_id,
            at_ns=nanoseconds(self._output.at),
            source=decided.source,
            type=decided.type,
            path=decided.path,
            arm=decided.arm,
            propensity=decided.probability,
            silence=decided.silence,
            winner=end.winner if isinstance(end, Completed) else None,
            is_recorded_arm=is_recorded_arm,
            said=self._said(),
            is_unknown=self._is_unknown(),
            dropped=end.reason if isinstance(end, Dropped) else None,
            request_hash=self._asked.request_hash if self._asked else None,
            answer_from=self._takes[0].source if self._takes else None,
            latency_ms=self._latency(),
            calls=len(self._takes),
            cost_low_usd=sum(cost.low for cost in costs),
            cost_high_usd=sum(cost.high for cost in costs),
            tokens=sum(take.tokens or 0 for take in self._takes),
        )

    def _said(self) -> str | None:
        if self._decided.final:
            return self._decided.text
        is_said = isinstance(self._end, Completed) and not self._is_unknown()
        return self._end.text if is_said and isinstance(self._end, Completed) else None

    def _is_unknown(self) -> bool:
        end = self._end
        is_by_model = isinstance(end, Completed) and end.path != "heuristic"
        return is_by_model and bool(self._takes) and not self._takes[0].is_known

    def _latency(self) -> Spread | None:
        """Return the latency, as a range if a model's own is only imputed or assumed."""
        if not self._takes or self._ended_ns is None:
            return None
        took_ms = (self._ended_ns - self._made_ns) / MILLISECOND_NS
        if all(take.source in ("recorded", "asked") for take in self._takes):
            return Spread.exactly(took_ms)
        low = total(take.latency_ms.low for take in self._takes)
        high = total(take.latency_ms.high for take in self._takes)
        rival = self._asked.rival if self._asked else None
        if rival is not None:
            # In a race the heuristic answers at its deadline at the latest.
            due_ms = (rival.due_at - self._output.at).total_seconds() * 1000.0
            low, high = min(low, due_ms), min(high, due_ms)
        return Spread(low=min(low, took_ms), middle=took_ms, high=max(high, took_ms))
