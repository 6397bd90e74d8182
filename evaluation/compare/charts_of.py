"""The parts of a comparison that are drawn, from what each recording came to."""

from collections.abc import Iterator, Sequence

from evaluation.compare.charts import (
    CalibrationBin,
    CalibrationPart,
    CurvePart,
    Timeline,
    TimelineEvent,
)
from evaluation.compare.flips import arm_class
from evaluation.compare.session import SessionResult
from evaluation.ope.calibration import LEAST_PAIRS, calibration
from replay.recording.outcomes import SEEN
from schemas.values.base import rfc3339

_EVENT_LIMIT = 2_000
"""Events of a session that are drawn at most, so that the page stays responsive."""

_GATED = "gated"
"""The lane's word for a decision that a gate made before any strategy."""


def calibrated(results: Sequence[SessionResult]) -> CalibrationPart | None:
    """Return Brier score, skill and reliability; None of fewer than `LEAST_PAIRS` answers."""
    pairs = [pair for result in results for pair in _pairs(result)]
    if len(pairs) < LEAST_PAIRS:
        return None
    found = calibration(
        [predicted for predicted, _ in pairs], [happened for _, happened in pairs]
    )
    return CalibrationPart(
        answers=len(pairs),
        brier=found.brier,
        skill=found.skill,
        ece=found.error,
        null_band=(found.null_band.mean, found.null_band.p95),
        bins=tuple(
            CalibrationBin(
                low=each.low,
                high=each.high,
                count=each.n,
                predicted=each.predicted,
                observed=each.happened,
            )
            for each in found.bins
        ),
    )


def lanes(result: SessionResult, challenger: int) -> Timeline:
    """Return one session's lanes: the recorded arms and the challenger's."""
    theirs = {
        each.record.id: arm_class(each.odds[challenger].greedy)
        for each in result.decisions
    }
    run = result.closed_loops[challenger - 1]
    outcomes = result.recorded.outcomes
    events = []
    for record in result.recorded.records[:_EVENT_LIMIT]:
        at_logged_state = theirs.get(record.id, _GATED)
        # The arm of its own run, if it decided there, is preferred to its most likely one
        # at the logged state.
        own = run.classes.get(record.decided.event_id)
        outcome = outcomes.get(record.id)
        events.append(
            TimelineEvent(
                at=rfc3339(record.at),
                baseline=_GATED if record.is_gated else arm_class(record.decided.arm),
                challenger=own or at_logged_state,
                outcome=outcome.value if outcome is not None else None,
            )
        )
    name = ", ".join(result.recording.sessions)
    return Timeline(session=name, events=tuple(events))


def curves(results: Sequence[SessionResult], index: int) -> tuple[CurvePart, ...]:
    """Return confidence over time, in the recording and in the challenger's run."""
    return tuple(
        CurvePart(
            heuristic=heuristic,
            name=result.names.get(heuristic, heuristic),
            session=", ".join(result.recording.sessions),
            baseline=result.curves.get(heuristic, ()),
            challenger=result.closed_loops[index - 1].curves.get(heuristic, ()),
        )
        for result in results
        for heuristic in sorted(
            result.curves.keys() | result.closed_loops[index - 1].curves.keys()
        )
    )


def _pairs(result: SessionResult) -> Iterator[tuple[float, float]]:
    for decision_id, confidence in result.predicted.items():
        outcome = result.recorded.outcomes.get(decision_id)
        # Only observed outcomes count: a value assumed for silence would score itself.
        if outcome is None or outcome.value is None or outcome.source not in SEEN:
            continue
        yield confidence, outcome.value
