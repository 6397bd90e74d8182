"""A decision of a life of its own: on its way, and once it is known what came of it."""

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
    """A decision that a strategy made in a life of its own."""

    agent: str
    session: str
    sequence: int
    """Of the recorded input."""
    decision_id: str
    recorded_id: str | None
    """The recorded decision on the same input."""
    event_id: str
    at_ns: int
    """The agent's time."""
    source: str
    type: str
    path: Path
    """`none` if a gate closed before the strategy was asked."""
    arm: str
    propensity: float
    silence: Silence | None
    winner: str | None
    """The arm that had the last word, where the arm left that open."""
    is_recorded_arm: bool
    """Whether the recorded life did the same."""
    said: str | None
    """What the person would have heard; None if nothing, or if nobody knows."""
    is_unknown: bool
    """Whether a model spoke whose words nobody knows."""
    dropped: Drop | None
    request_hash: str | None
    """Of what a model was asked."""
    answer_from: Source | None
    """Where its answer comes from; None if no model was asked."""
    latency_ms: Spread | None
    """Until the person heard it; None if no model was asked."""
    calls: int
    """How often a model was asked."""
    cost_low_usd: float
    cost_high_usd: float
    tokens: int


class Draft:
    """A decision on its way."""

    def __init__(
        self, agent: str, input_: Input, output: Output, decided: Decided
    ) -> None:
        """Take a decision as it was made."""
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
        """Note that a model was asked, and what it will say."""
        self._asked = self._asked or asked
        self._takes.append(take)

    def end(self, end: Completed | Dropped, time_ns: int) -> None:
        """Note what came of it."""
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
        """Return how long it took; roughly, if it is not known how long the model takes."""
        if not self._takes or self._ended_ns is None:
            return None
        took_ms = (self._ended_ns - self._made_ns) / MILLISECOND_NS
        if all(take.source in ("recorded", "asked") for take in self._takes):
            return Spread.exactly(took_ms)
        low = total(take.latency_ms.low for take in self._takes)
        high = total(take.latency_ms.high for take in self._takes)
        rival = self._asked.rival if self._asked else None
        if rival is not None:
            # Then at the latest the heuristic speaks.
            due_ms = (rival.due_at - self._output.at).total_seconds() * 1000.0
            low, high = min(low, due_ms), min(high, due_ms)
        return Spread(low=min(low, took_ms), middle=took_ms, high=max(high, took_ms))
