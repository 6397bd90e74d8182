"""Run challengers in closed loop over a recording, and sum each run up for the document."""

from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from evaluation.compare.behaviour import Act, quantile
from evaluation.compare.charts import Curve
from evaluation.compare.flips import arm_class
from evaluation.compare.sayings import Saying, sayings
from evaluation.evidence.facts import Evidence
from evaluation.evidence.refold import curves
from replay.cassette import ModelMiss
from replay.closed_loop.decision import ClosedLoopDecision
from replay.closed_loop.run import ClosedLoopRun
from replay.closed_loop.simulation import Ending
from replay.recording.recorded_decisions import RecordedDecisions
from schemas.codec.envelope import Input
from schemas.messages.arms import HEURISTIC, heuristic_arm, heuristic_of
from schemas.ports.aids import Aids
from schemas.ports.decision_context import Odds
from schemas.values.base import rfc3339
from streams.groups import Group

_FAST = ("heuristic",)
"""Paths whose latency is that of the mind alone, without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedLoopSummary:
    """What a challenger did while its state followed from its own decisions."""

    acts: tuple[Act, ...]
    compared: int
    """Decisions that reached a strategy both here and at the logged state."""
    drifted: int
    """Those of them whose arm the challenger would not take at the logged state."""
    classes: Mapping[str, str] = field(default_factory=dict)
    """The class of the arm it took, by event id."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """What it said, by the recorded decision's id, as far as known."""
    sayings: tuple[Saying, ...] = ()
    """What it made of each occasion beside what was said, if it has another voice."""
    curves: Mapping[str, Curve] = field(default_factory=dict)
    """Confidence of each heuristic over time."""
    hits: int = 0
    misses: int = 0
    """Requests whose answer the recording held, or not."""
    watermark: str | None = None
    """A notice for documents that hold words nobody ever said."""


class ClosedLoopRuns:
    """Several strategies' closed-loop runs, side by side over one pass of a recording."""

    def __init__(self, runs: Iterable[ClosedLoopRun]) -> None:
        """Take runs that have begun."""
        self._runs: list[tuple[ClosedLoopRun, list[ClosedLoopDecision]]] = [
            (run, []) for run in runs
        ]
        self._miss: ModelMiss | None = None

    async def take(self, group: Group, input_: Input, aids: Aids) -> None:
        """Give every run the next group."""
        await self._each(lambda run: run.take(group, input_, aids))

    async def end(self) -> list[tuple[list[ClosedLoopDecision], Ending]]:
        """Return the decisions of each run, and what it came to.

        Raises:
            ModelMiss: mode `strict`, and a model's answer was not recorded; that of the
                first run that misses one.
        """
        await self._each(lambda run: run.end())
        if self._miss is not None:
            raise self._miss
        return [(decisions, run.ending) for run, decisions in self._runs]

    async def _each(
        self, step: Callable[[ClosedLoopRun], Awaitable[Iterator[ClosedLoopDecision]]]
    ) -> None:
        for index, (run, decisions) in enumerate(self._runs):
            try:
                decisions += await step(run)
            except ModelMiss as miss:
                # Runs before this one go on: if one of them misses an answer later, its
                # error is raised instead, as if they had run one after the other.
                self._miss = miss
                del self._runs[index:]
                return


def summarized(
    decisions: Sequence[ClosedLoopDecision],
    ending: Ending,
    at_logged_state: Mapping[str, Odds],
    past: RecordedDecisions,
    *,
    has_other_voice: bool = False,
) -> ClosedLoopSummary:
    """Return what the document needs of a run.

    Args:
        decisions: all of it made, in order.
        ending: what it came to.
        at_logged_state: its odds at the recorded decisions that reached a strategy, by id.
        past: what was recorded, for how fast the mind is.
        has_other_voice: whether its words are to be compared.
    """
    fast = _usual_latency(past)
    compared = [
        (each.record.decided, at_logged_state[each.recorded.id])
        for each in decisions
        if not each.record.is_gated
        and each.recorded is not None
        and each.recorded.id in at_logged_state
    ]
    return ClosedLoopSummary(
        acts=tuple(_act(each, fast) for each in decisions),
        compared=len(compared),
        drifted=sum(not _would_take(odds, own.arm) for own, odds in compared),
        classes={
            each.record.decided.event_id: arm_class(each.record.decided.arm)
            for each in decisions
            if not each.record.is_gated
        },
        texts={
            each.recorded.id: each.said
            for each in decisions
            if each.recorded is not None and each.said is not None
        },
        sayings=tuple(sayings(decisions)) if has_other_voice else (),
        curves={id_: _curve(points) for (id_, _), points in ending.curves.items()},
        hits=ending.hits,
        misses=ending.misses,
        watermark=ending.watermark,
    )


def _would_take(odds: Odds, arm: str) -> bool:
    """Tell whether an arm has a chance, in whatever voice a heuristic is said."""
    wanted = _unvoiced(arm)
    return any(share > 0.0 and _unvoiced(each) == wanted for each, share in odds.arms)


def _unvoiced(arm: str) -> str:
    return heuristic_arm(*heuristic_of(arm)) if arm.startswith(HEURISTIC) else arm


def _act(own: ClosedLoopDecision, fast: tuple[float, float] | None) -> Act:
    record = own.record
    return Act(
        # A model whose words are not known has spoken all the same.
        spoke=own.said is not None or own.is_unknown,
        path=record.decided.path if record.winner is None else arm_class(record.winner),
        asked_model=bool(own.takes),
        latency_ms=_latency(own, fast),
        tokens=own.tokens,
        cost_usd=own.cost_usd,
        is_imputed=own.is_imputed,
    )


def _latency(
    own: ClosedLoopDecision, fast: tuple[float, float] | None
) -> tuple[float, float] | None:
    if own.latency_ms is not None:
        return own.latency_ms.low, own.latency_ms.high
    past = own.recorded
    # The same arm takes as long as it did; of another one, only the
    # mind's usual range is known.
    is_known = past is not None and past.is_final and own.is_recorded_arm
    return (past.latency_ms, past.latency_ms) if past and is_known else fast


def _usual_latency(past: RecordedDecisions) -> tuple[float, float] | None:
    """Return the mind's own latency in ms, as its 10th and 90th percentile."""
    usual = sorted(
        each.latency_ms for each in past.records if each.is_final and each.path in _FAST
    )
    low, high = quantile(usual, 0.1), quantile(usual, 0.9)
    return None if low is None or high is None else (low, high)


def _curve(points: Sequence[tuple[int, float]]) -> Curve:
    return tuple(
        (rfc3339(datetime.fromtimestamp(at_ns / 1e9, UTC)), confidence)
        for at_ns, confidence in points
    )


def recorded_curves(
    evidence: Sequence[Evidence], recorded: RecordedDecisions
) -> tuple[Mapping[str, Curve], Mapping[str, str]]:
    """Return the recorded curves and the names, by heuristic id."""
    times = _Times(recorded)
    found: dict[str, list[tuple[str, float]]] = {}
    names: dict[str, str] = {}
    for part in evidence:
        for key, curve in curves(part, {}).items():
            id_ = key.rpartition("@")[0]
            points = [
                (times.at(each.sequence), each.confidence) for each in curve.points
            ]
            found.setdefault(id_, []).extend(points)
            names[id_] = part.names.get(id_, id_)
    return {id_: tuple(points) for id_, points in found.items()}, names


class _Times:
    """The agent's time at a place in the recording: that of the last decision by then."""

    def __init__(self, recorded: RecordedDecisions) -> None:
        self._sequences = [each.sequence for each in recorded.records]
        self._times: list[datetime] = [each.at for each in recorded.records]

    def at(self, sequence: int) -> str:
        """Return the time as RFC 3339; before the first decision it is that decision's."""
        index = max(0, bisect_right(self._sequences, sequence) - 1)
        return rfc3339(self._times[index])
