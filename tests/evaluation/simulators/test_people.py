"""Several people, each with a gain or a loss of their own: for whom a verdict holds.

Runs are independent, with fixed seeds; `python -m bench.estimates` is the larger study.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from bench.estimates import people
from bench.estimates.measuring import MeasuredCrowd, exact_bounds, measured_crowd
from bench.estimates.people import Crowd
from evaluation.ope.estimate import estimate_of
from evaluation.ope.settings import EstimationSettings

RUNS = 60
EIGHT = Crowd(name="eight", people=8, sessions=12, is_null=True)
THESE = (
    Crowd(name="one", people=1, sessions=40, is_null=True),
    EIGHT,
    Crowd(name="uneven", people=5, sessions=(3, 12), uneven=True, is_null=True),
    Crowd(name="one session each", people=60, sessions=1, is_null=True),
)
OTHERS = (
    Crowd(name="ten", population="alike", people=10, sessions=(1, 40), uneven=True),
    Crowd(name="twenty", population="alike", people=20, sessions=6),
    Crowd(name="sixty", population="alike", people=60, sessions=(1, 3)),
)
HIDDEN = (
    Crowd(name="any", people=1, sessions=20, uneven=True, unknown=0.15, is_null=True),
    Crowd(
        name="b", people=3, sessions=12, unknown=0.3, hidden="of b", is_null=True
    ),
    Crowd(name="failures", people=3, sessions=12, unknown=0.3, hidden="failures of b"),
    Crowd(
        name="late", people=3, sessions=12, unknown=0.5, hidden="late", gain=0.3,
        spread=0.05,
    ),
)  # fmt: skip


@cache
def found(crowd: Crowd) -> MeasuredCrowd:
    """What so many logs of a world came to."""
    return measured_crowd(crowd, RUNS, resamples=200)


@pytest.mark.parametrize("crowds", [THESE, OTHERS], ids=["these", "alike"])
def test_intervals_hold_the_truth_of_whom_they_name(crowds):
    """Of all that are shown, as nearly as so few logs tell; and seldom a wrong verdict."""
    measured = [found(each) for each in crowds]
    shown = sum(each.shown for each in measured)

    held = sum((each.coverage or 0.0) * each.shown for each in measured) / shown
    assert held >= 0.91
    assert sum(each.wrong for each in measured) / len(measured) <= 0.08


def test_these_people_are_not_all_people():
    """Held against what holds for all, logs of eight would be wrong in a quarter."""
    draws = np.random.default_rng(31)
    settings, wrong = EstimationSettings(resamples=200), 0
    crowd = replace(EIGHT, is_null=False, length=20, spread=0.2)
    for _ in range(40):
        columns = people.play(crowd, draws).columns
        ci = estimate_of(columns, settings).difference.ci
        wrong += ci is not None and not ci[0] <= 0.0 <= ci[1]

    assert wrong > 10


def test_eight_people_are_too_few_to_speak_for_others():
    """No interval, and no verdict."""
    crowd = Crowd(name="eight of many", population="alike", people=8, sessions=12)

    assert (found(crowd).shown, found(crowd).claims) == (0.0, 0.0)


@pytest.mark.parametrize("crowd", HIDDEN, ids=lambda crowd: crowd.name)
def test_what_is_unknown_for_a_reason_deceives_nobody(crowd):
    """Shown intervals hold the truth, or none is; hardly a verdict is wrong."""
    measured = found(crowd)

    assert measured.coverage is None or measured.coverage >= 0.95
    assert measured.wrong <= 0.03


@pytest.mark.parametrize(
    ("count", "of", "bounds"),
    [(0, 10, (0.0, 0.3085)), (10, 10, (0.6915, 1.0)), (950, 1000, (0.9346, 0.9627))],
)
def test_exact_bounds(count, of, bounds):
    """Clopper's and Pearson's."""
    assert exact_bounds(count, of) == pytest.approx(bounds, abs=1e-4)
