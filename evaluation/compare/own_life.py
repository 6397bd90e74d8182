"""Run challengers' own lives over a recording, and sum each up for the document."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from evaluation.compare.behaviour import Act, quantile
from evaluation.compare.charts import Curve
from evaluation.compare.flips import arm_class
from evaluation.compare.life import Life
from replay.cassette import ModelMiss
from replay.closed_loop.decision import ClosedLoopDecision
from replay.closed_loop.run import ClosedLoopRun
from replay.closed_loop.simulation import Ending
from replay.recording.recorded_decisions import RecordedDecisions
from schemas.codec.envelope import Input
from schemas.ports.aids import Aids
from schemas.ports.decision_context import Odds
from schemas.values.base import rfc3339
from streams.groups import Group

_FAST = ("heuristic",)
"""Paths whose latency is that of the mind alone, without a model."""


class Lives:
    """Several strategies' closed-loop runs, side by side over one pass of a recording."""

    def __init__(self, lives: Iterable[ClosedLoopRun]) -> None:
        """Lead lives that have begun."""
        self._led: list[tuple[ClosedLoopRun, list[ClosedLoopDecision]]] = [
            (o, []) for o in lives
        ]
        self._miss: ModelMiss | None = None

    async def take(self, group: Group, input_: Input, aids: Aids) -> None:
        """Give every life the next group."""
        await self._each(lambda own: own.take(group, input_, aids))

    async def end(self) -> list[tuple[list[ClosedLoopDecision], Ending]]:
        """Return the decisions of each life, and what it came to.

        Raises:
            ModelMiss: mode `strict`, and a model's answer was not recorded; that of the
                first life that misses one.
        """
        await self._each(lambda own: own.end())
        if self._miss is not None:
            raise self._miss
        return [(decisions, own.ending) for own, decisions in self._led]

    async def _each(
        self, step: Callable[[ClosedLoopRun], Awaitable[Iterator[ClosedLoopDecision]]]
    ) -> None:
        for index, (own, decisions) in enumerate(self._led):
            try:
                decisions += await step(own)
            except ModelMiss as miss:
                # Runs before this one go on: if one of them misses an answer later, its
                # error is raised instead, as if they had run one after the other.
                self._miss = miss
                del self._led[index:]
                return


def documented(
    decisions: Sequence[ClosedLoopDecision],
    ending: Ending,
    at_logged_state: Mapping[str, Odds],
    past: RecordedDecisions,
) -> Life:
    """Return what the document needs of a life.

    Args:
        decisions: all of it made, in order.
        ending: what it came to.
        at_logged_state: its odds at the recorded decisions that reached a strategy, by id.
        past: what was recorded, for how fast the mind is.
    """
    fast = _usual_latency(past)
    compared = [
        (each.record.decided, at_logged_state[each.recorded.id])
        for each in decisions
        if not each.record.is_gated
        and each.recorded is not None
        and each.recorded.id in at_logged_state
    ]
    return Life(
        acts=tuple(_act(each, fast) for each in decisions),
        compared=len(compared),
        drifted=sum(dict(odds.arms).get(own.arm, 0.0) == 0.0 for own, odds in compared),
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
        curves={id_: _curve(points) for (id_, _), points in ending.curves.items()},
        hits=ending.hits,
        misses=ending.misses,
        watermark=ending.watermark,
    )


def _act(own: ClosedLoopDecision, fast: tuple[float, float] | None) -> Act:
    record = own.record
    return Act(
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
