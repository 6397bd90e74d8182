"""Find the heuristics that would have answered at other confidence thresholds.

The agent's strategy is asked again at each threshold, at every recorded decision;
`heuristic_first` stands in for a strategy without one. Only recorded candidates can be
found: those over the match limit, ten at most.
"""

from collections import defaultdict
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime

from evaluation.learning.thresholds import tested, threshold
from handlers.mind.strategies.heuristic_first import THRESHOLD_BIAS
from replay.open_loop.asked import LoggedDecision, ask_open_loop
from replay.recording.in_force import InForce
from replay.recording.recorded_groups import recorded_groups
from replay.recording.source import Recording
from schemas.messages.arms import HEURISTIC, heuristic_of
from schemas.messages.decisions import Decided
from schemas.ports.decision_context import HeuristicCandidate
from schemas.values.settings_by_name import strategy_with

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)

_DECIDED = Decided.token


@dataclass(frozen=True, slots=True, kw_only=True)
class _Miss:
    """An event that a heuristic did not answer, and would have with less trust asked."""

    sequence: int
    session: str
    at: datetime
    decision_id: str
    event_id: str
    text: str
    """The event's."""
    heuristic_id: str
    similarity: float
    confidence: float
    needed: float
    """The threshold up to which it would have answered."""
    happened: str
    """What happened instead: `llm` or the reason of the silence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counts:
    """How often one heuristic would have answered at each threshold."""

    heuristic_id: str
    by_threshold: tuple[int, ...]
    """In the order of `THRESHOLDS`."""
    answered: int
    """How often it did."""
    confidence: tuple[float, float]
    """The least and the most that was believed of it when it was weighed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMisses:
    """What a recording tells of other thresholds."""

    strategy: str
    """The one that was asked."""
    is_own: bool
    """Whether it is the agent's own."""
    threshold: float
    """In force at its start."""
    bias: float
    """What the personality adds to any threshold."""
    match_limit: float
    """The similarity from which a candidate is recorded at all."""
    decisions: int
    gated: int
    """Decisions at which a gate closed before any strategy was asked."""
    without_candidate: int
    answered: int
    """Decisions that a heuristic answered."""
    by_threshold: tuple[int, ...]
    """How many it would have answered at each."""
    counts: tuple[_Counts, ...]
    """The most answers first."""
    misses: tuple[_Miss, ...]
    """The nearest first."""


async def near_misses(recording: Recording) -> NearMisses:
    """Return the near misses of a recording.

    Raises:
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged: the recording is not sound.
        MissingPackError: a pack in force is not in the recording's store.
    """
    in_force = await _at_first_decision(recording)
    spec = tested(in_force)
    asked = tuple(
        strategy_with(spec, {"strategy.threshold": each}) for each in THRESHOLDS
    )
    count = _Count()
    async with aclosing(ask_open_loop(recording, asked)) as decisions:
        async for decision in decisions:
            count.take(decision)
    return NearMisses(
        strategy=spec.name,
        is_own=spec == in_force.strategy,
        threshold=threshold(in_force),
        bias=in_force.biases_of().get(THRESHOLD_BIAS, 0.0),
        match_limit=in_force.settings.limits.match,
        decisions=count.decisions,
        gated=count.gated,
        without_candidate=count.without_candidate,
        answered=sum(each.answered for each in count.tallies.values()),
        by_threshold=tuple(
            sum(each.would[place] for each in count.tallies.values())
            for place in range(len(THRESHOLDS))
        ),
        counts=tuple(sorted(count.counts(), key=_most)),
        misses=tuple(
            sorted(count.misses, key=lambda each: (-each.confidence, each.sequence))
        ),
    )


async def _at_first_decision(recording: Recording) -> InForce:
    """Return what is in force at the first decision, else at the recording's start.

    The first settings of an agent's life come into force only once its mind has started,
    which is after the recording's start.
    """
    async with aclosing(recorded_groups(recording)) as groups:
        async for group in groups:
            if _DECIDED in group.tokens:
                return group.before
    return InForce.of(recording.start, recording.agent)


@dataclass(slots=True)
class _Tally:
    """One heuristic's count."""

    would: list[int] = field(default_factory=lambda: [0] * len(THRESHOLDS))
    answered: int = 0
    confidences: list[float] = field(default_factory=list)


class _Count:
    """The counts while decisions are read."""

    def __init__(self) -> None:
        self.decisions = self.gated = self.without_candidate = 0
        self.tallies: dict[str, _Tally] = defaultdict(_Tally)
        self.misses: list[_Miss] = []

    def take(self, decision: LoggedDecision) -> None:
        """Count one decision."""
        self.decisions += 1
        if decision.context is None:
            self.gated += 1
            return
        eligible = [each for each in decision.context.candidates if each.eligible]
        self.without_candidate += not eligible
        by_arm = {each.arm: each for each in eligible}
        answered = _answered(decision)
        if answered is not None:
            # An arm is `heuristic:<id>@<content hash>`; the count is of a
            # heuristic through all its contents.
            id_ = heuristic_of(answered)[0]
            self.tallies[id_].answered += 1
        for each in eligible:
            self.tallies[each.heuristic_id].confidences.append(each.confidence)
        nearest: tuple[float, HeuristicCandidate] | None = None
        # Thresholds ascend, so the last one answered at is the largest that would do.
        for place, asked in enumerate(THRESHOLDS):
            candidate = by_arm.get(decision.odds[place].greedy)
            if candidate is not None:
                self.tallies[candidate.heuristic_id].would[place] += 1
                nearest = asked, candidate
        if nearest is not None and answered is None:
            self.misses.append(_miss(decision, *nearest))

    def counts(self) -> list[_Counts]:
        """Return the counts of every heuristic that answered, or would have."""
        return [
            _Counts(
                heuristic_id=id_,
                by_threshold=tuple(each.would),
                answered=each.answered,
                confidence=(min(each.confidences), max(each.confidences)),
            )
            for id_, each in sorted(self.tallies.items())
            if (any(each.would) or each.answered) and each.confidences
        ]


def _answered(decision: LoggedDecision) -> str | None:
    """Return the arm of the heuristic that answered, at once or in the end."""
    if decision.decided.path == "heuristic":
        return decision.decided.arm
    won = decision.record.winner or ""
    return won if won.startswith(HEURISTIC) else None


def _miss(
    decision: LoggedDecision, needed: float, candidate: HeuristicCandidate
) -> _Miss:
    record = decision.record
    return _Miss(
        sequence=record.sequence,
        session=record.session,
        at=record.at,
        decision_id=record.id,
        event_id=record.decided.event_id,
        text=record.text,
        heuristic_id=candidate.heuristic_id,
        similarity=candidate.similarity,
        confidence=candidate.confidence,
        needed=needed,
        happened=record.silence or record.decided.path,
    )


def _most(counts: _Counts) -> tuple[int, str]:
    return -max(*counts.by_threshold, counts.answered), counts.heuristic_id
