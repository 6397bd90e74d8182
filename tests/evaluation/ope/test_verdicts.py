"""Which verdict wins, and what it says of itself."""

from dataclasses import replace

import pytest

from evaluation.ope.gates import Gate
from evaluation.ope.intervals import Interval
from evaluation.ope.verdicts import (
    CODES,
    OVERLAP,
    Evidence,
    Reason,
    conclude,
    hangs_on,
    standing,
)

ROPE = 0.02


def gate(name, status):
    """A gate with an outcome."""
    return Gate(name, status, 1.0, 2.0, f"{name} is {status}")


def around(low, high):
    """An interval."""
    return Interval(0.01, (low, high), None)


def verdict(*gates, ci=(0.03, 0.1), **more):
    """The verdict and its reasons' codes."""
    doubly = None if ci is None else around(*ci)
    evidence = Evidence(gates, True, 100, doubly, (-0.5, 0.5))
    found, reasons = conclude(replace(evidence, **more), ROPE)
    return found, [reason.code for reason in reasons]


@pytest.mark.parametrize(
    ("ci", "expected", "code"),
    [
        ((0.03, 0.1), "BETTER", "interval_above_zero"),
        ((-0.1, -0.03), "WORSE", "interval_below_zero"),
        ((-0.1, 0.03), "INCONCLUSIVE", "interval_holds_zero"),
        ((0.0, 0.1), "INCONCLUSIVE", "interval_holds_zero"),
        ((-0.02, 0.02), "EQUIVALENT", "interval_within_rope"),
        ((0.01, 0.015), "EQUIVALENT", "interval_within_rope"),
        ((0.01, 0.03), "BETTER", "interval_above_zero"),
    ],
)
def test_the_interval_decides(ci, expected, code):
    """All above 0, all below, all too small to matter, or open."""
    assert verdict(ci=ci) == (expected, [code])


def test_invalid_before_all():
    """What cannot be true has no verdict, not even of two alike."""
    wrong = gate("propensity_target", "invalid")

    expected = ("INVALID", ["propensities_do_not_fit"])
    assert verdict(wrong) == expected
    assert verdict(wrong, has_flips=False) == expected
    assert verdict(gate("self_replay", "invalid"))[1] == ["self_replay_differs"]


def test_no_difference_needs_no_overlap():
    """Two that never differ are alike, however little was seen."""
    assert verdict(gate("ess", "refused"), has_flips=False)[0] == "EQUIVALENT"


@pytest.mark.parametrize("name", sorted(OVERLAP))
def test_each_overlap_gate_takes_the_verdict(name):
    """Any of them refusing is not enough overlap."""
    assert verdict(gate(name, "refused")) == ("NOT_ENOUGH_OVERLAP", [CODES[name]])


def test_no_point_is_not_enough_overlap():
    """Where there are only bounds there is no verdict; narrow ones are mentioned."""
    assert verdict(ci=None) == ("NOT_ENOUGH_OVERLAP", [])
    assert verdict(ci=None, bounds=(-0.01, 0.02))[1] == ["bounds_within_rope"]


@pytest.mark.parametrize("name", ["censored", "estimators_agree"])
def test_other_refusals_leave_it_open(name):
    """They take the verdict without a lack of overlap."""
    assert verdict(gate(name, "refused")) == ("INCONCLUSIVE", [CODES[name]])


@pytest.mark.parametrize(
    ("filled", "expected"),
    [
        ((around(0.1, 0.2), around(0.03, 0.1)), "BETTER"),
        ((around(0.1, 0.2), around(-0.1, 0.1)), "INCONCLUSIVE"),
        ((around(0.1, 0.2), around(-0.2, -0.1)), "INCONCLUSIVE"),
        ((), "INCONCLUSIVE"),
    ],
)
def test_few_outcomes_must_not_matter(filled, expected):
    """A verdict on few outcomes stands if it stands with the others 0, and 1."""
    few = gate("outcome_coverage", "refused")

    assert verdict(few, filled=filled)[0] == expected
    assert verdict(few, gate("censored", "refused"), filled=filled)[0] == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("ci", "by", "expected"),
    [
        ((0.03, 0.1), 0.02, ("BETTER", ["interval_above_zero"])),
        ((0.03, 0.1), 0.04, ("INCONCLUSIVE", ["hangs_on_what_was_never_played"])),
        ((-0.01, 0.01), 0.02, ("INCONCLUSIVE", ["hangs_on_what_was_never_played"])),
        ((-0.1, 0.01), 0.02, ("INCONCLUSIVE", ["interval_holds_zero"])),
    ],
)
def test_what_was_never_played_must_not_matter(ci, by, expected):
    """A verdict stands if it stands however that would have turned out."""
    unseen = around(*ci).moved(-by), around(*ci).moved(by)

    assert verdict(ci=ci, unseen=unseen) == expected


def test_one_session_leaves_it_open():
    """Without an interval there is nothing to conclude from."""
    found = verdict(doubly=Interval(None, None, None))

    assert found == ("INCONCLUSIVE", ["single_session"])


def test_all_cut_off_leaves_it_open():
    """No row, no verdict."""
    assert verdict(rows=0)[0] == "INCONCLUSIVE"


def test_reasons_come_worst_first_and_name_every_gate_not_passed():
    """What decided stands first; what passed is no reason."""
    found = verdict(
        gate("ess", "caution"), gate("pareto_k", "refused"), gate("censored", "ok")
    )

    assert found == ("NOT_ENOUGH_OVERLAP", ["heavy_tail", "low_ess"])


def test_short_term_only_is_a_reason():
    """Carry-over keeps the verdict and restricts it."""
    found = verdict(gate("carry_over", "caution"))

    assert found == ("BETTER", ["interval_above_zero", "short_term_only"])


@pytest.mark.parametrize(
    ("difference", "share", "expected"),
    [
        (0.10, 0.06, False),
        (0.10, 0.12, True),
        (-0.10, 0.06, False),
        (-0.10, 0.12, True),
        (0.0, 0.01, False),
        (0.0, 0.03, True),
        (0.05, 0.04, True),
    ],
)
def test_only_what_outlasts_any_interval_is_called_undecidable(
    difference, share, expected
):
    """A gain that exceeds what is never played wants a narrower interval, no more."""
    assert hangs_on(difference, share, ROPE) is expected


@pytest.mark.parametrize(
    ("name", "status", "expected"),
    [
        ("outcome_coverage", "caution", "met"),
        ("outcome_coverage", "refused", "refuses"),
        ("unsupported_mass", "caution", "met"),
        ("flip_observations", "caution", "met"),
        ("flip_observations", "refused", "refuses"),
        ("carry_over", "caution", "caution"),
        ("cassette", "caution", "caution"),
        ("propensity_target", "invalid", "refuses"),
    ],
)
def test_a_limit_that_is_met_is_told_from_one_that_refuses(name, status, expected):
    """What reads alike, "109 of 166 known (need 50%)", is marked by how it came out."""
    found = gate(name, status)
    evidence = Evidence([found], True, 100, around(0.03, 0.1), (-0.5, 0.5))
    _, reasons = conclude(evidence, ROPE)
    kinds = {standing(each, [found]) for each in reasons if each.detail == found.detail}

    assert kinds == {expected}
    assert standing(Reason("interval_above_zero", "lies above 0"), [found]) == "note"
