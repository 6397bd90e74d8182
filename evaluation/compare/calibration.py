"""Calibration of confidence against outcomes, over the heuristics that answered."""

from collections.abc import Iterator, Sequence

from evaluation.compare.charts import CalibrationBin, CalibrationPart
from evaluation.compare.session import SessionResult
from evaluation.ope.calibration import LEAST_PAIRS, calibration
from replay.recording.outcomes import SEEN


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


def _pairs(result: SessionResult) -> Iterator[tuple[float, float]]:
    for decision_id, confidence in result.predicted.items():
        outcome = result.recorded.outcomes.get(decision_id)
        # Only observed outcomes count: a value assumed for silence would score itself.
        if outcome is None or outcome.value is None or outcome.source not in SEEN:
            continue
        yield confidence, outcome.value
