"""Holm's adjustment for several challengers."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from evaluation.ope.significance import holm


def test_adjusts_a_worked_example():
    """The smallest counts thrice, the next twice, and none falls below an earlier one."""
    raw = {"tuned": 0.01, "quiet": 0.04, "urgency": 0.03}

    assert holm(raw) == {"tuned": 0.03, "quiet": 0.06, "urgency": 0.06}


def test_one_challenger_keeps_its_p_value():
    """Without company there is nothing to adjust."""
    assert holm({"tuned": 0.04}) == {"tuned": 0.04}


def test_what_was_not_tested_costs_the_others_nothing():
    """A challenger without a p-value stays without one."""
    assert holm({"tuned": 0.04, "voice": None}) == {"tuned": 0.04, "voice": None}


def test_refuses_what_is_no_p_value():
    """A number outside [0, 1] is named with its challenger."""
    with pytest.raises(ValueError, match=r"1\.5 of 'tuned'"):
        holm({"tuned": 1.5})


@given(some.dictionaries(some.text(max_size=3), some.floats(0.0, 1.0), max_size=8))
def test_never_below_the_raw_and_in_the_same_order(raw):
    """Adjusting keeps the names, their ranks, and only ever raises a p-value."""
    adjusted = {name: p for name, p in holm(raw).items() if p is not None}

    assert list(adjusted) == list(raw)
    by_raw = sorted(raw, key=lambda name: (raw[name], name))
    assert all(raw[name] <= adjusted[name] <= 1.0 for name in raw)
    ranked = [adjusted[name] for name in by_raw]
    assert ranked == sorted(ranked)
