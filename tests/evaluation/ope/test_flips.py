"""Where strategies differ, and how often the log shows it."""

import numpy as np
import pytest
from hypothesis import given

from evaluation.ope.columns import columns_of
from evaluation.ope.estimators import effective_number
from evaluation.ope.flips import contrasted, flip_observations
from tests.evaluation.ope.samples import columns, row, rows


def flips(*log, of_baseline=False):
    """Flip observations, as a number and its sessions."""
    found = columns(*log)
    seen = flip_observations(found, contrasted(found), of_baseline=of_baseline)
    return seen.count, seen.sessions


def test_counts_what_the_target_alone_would_do_and_was_done():
    """Neither agreement nor the baseline's arm nor a third one counts."""
    log = [
        row("b", 0.2, session="s"),
        row("b", 0.1, session="s"),
        row("b", 0.5, session="t"),
        row("a", 0.8, session="u"),
        row("c", 0.1, session="u"),
        row("a", 1.0, target="a", session="v"),
    ]

    assert flips(*log) == (3, 2)
    assert flips(*log, of_baseline=True) == (1, 1)


def test_what_only_rounding_tells_apart_is_no_flip():
    """Odds that were added up in another order, or written with six decimals."""
    thirds = {"a": 1 / 3, "b": 2 / 3}
    same = [
        row("a", 0.9, target={"a": 1.0, "b": 1e-10}),
        row("b", 0.9, target={"a": 0.1 + 0.2, "b": 0.7}, baseline={"a": 0.3, "b": 0.7}),
        row("b", 0.9, target=thirds, baseline={"a": 0.333333, "b": 0.666667}),
    ]
    found = contrasted(columns(*same))

    assert not found.differs.any()
    assert (found.share, found.is_plain) == (0.0, True)
    assert flips(*same, row("b", 0.2)) == (1, 1)
    assert flips(*same, row("a", 0.8), of_baseline=True) == (1, 1)


def test_unknown_outcomes_show_nothing():
    """A flip that was played without an outcome is no observation."""
    assert flips(row("b", 0.2, None)) == (0, 0)


def test_rows_without_session_count_each():
    """Each is a session of its own."""
    assert flips(*(row("b", 0.2),) * 4) == (4, 4)


def test_odds_count_by_their_effective_number():
    """Weights 2, 2 and 1 by which the target exceeds are worth 25 / 9 rows."""
    log = [
        row("b", 0.25, target={"a": 0.5, "b": 0.5}),
        row("b", 0.5),
        row("b", 0.5, target={"a": 0.5, "b": 0.5}),
    ]

    assert flips(*log)[0] == pytest.approx(25 / 9)


@given(rows())
def test_share_is_the_distance_of_the_odds(log):
    """Half of what the odds differ by, arm by arm; nothing where they are equal."""
    found = contrasted(columns_of(log))
    distances = [
        sum(abs(each.target[arm] - each.baseline[arm]) for arm in "abc") / 2
        for each in log
    ]

    assert found.share == pytest.approx(sum(distances) / len(log))
    assert np.count_nonzero(found.differs) == sum(d > 0 for d in distances)


def test_effective_number():
    """Equal weights count whole, one large weight counts alone, none count nothing."""
    assert effective_number(np.full(7, 0.3)) == pytest.approx(7)
    assert effective_number(np.array([1e200, 1.0])) == pytest.approx(1)
    assert effective_number(np.zeros(3)) == 0.0
    assert effective_number(np.array([])) == 0.0
