"""What an estimate may not say, and what must not move it."""

from dataclasses import replace

import pytest

from evaluation.ope.estimate import estimate
from evaluation.ope.settings import EstimationSettings
from tests.evaluation.ope.samples import explored, row
from tests.evaluation.ope.test_estimate import QUICK, codes, point, status


def test_outcomes_that_are_told_by_arm_and_reward_deceive_nobody():
    """The target's failures and the baseline's successes are kept quiet, all else equal."""
    quiet = [
        replace(r, reward=None) if r.reward == (r.arm == "a") else r
        for r in explored(gain=0.0, rate=0.5, flips=1.0)
    ]
    found = estimate(quiet, QUICK)

    assert status(found, "outcome_coverage") != "invalid"
    assert point(found.difference.dr) > 0.9
    assert found.difference.bounds[0] < 0.0
    assert found.difference.verdict not in ("BETTER", "WORSE")


def test_rare_outcomes_have_no_value():
    """Two successes in a hundred: sixty flip observations hold one or two of them."""
    rare = [replace(r, reward=float(n % 50 == 0)) for n, r in enumerate(explored())]
    often = [replace(r, reward=1.0 - (r.reward or 0.0)) for r in rare]

    for log in (rare[:600], often[:600]):
        found = estimate(log, QUICK)
        assert status(found, "flip_observations") == "ok"
        assert codes(found)[0] == "rare_outcomes"
        assert found.difference.verdict == "NOT_ENOUGH_OVERLAP"
        assert found.difference.withheld


def test_what_a_gate_withholds_is_withheld_in_the_document():
    """The document says so; with all of it asked for, it gives what there is."""
    found = estimate(explored(sessions=20, decisions=5, rate=0.3), QUICK)
    told, all_ = found.as_json(), found.as_json(all_shown=True)

    for part in ("target", "difference"):
        assert told[part]["withheld"] is True
        held = ("ips", "snips", "dr", "se", "ci")
        assert {told[part][name] for name in held} == {None}
        assert all_[part]["dr"] is not None
    assert told["difference"]["bounds"] == found.difference.bounds


def test_intervals_lie_in_the_possible_range():
    """However few and heavy the decisions."""
    heavy = [
        row("b", 0.01, 1.0, "b", session="one"),
        *(row("a", 0.99, 0.5, "b", session=f"s{n}") for n in range(3)),
    ]
    found = estimate(heavy, QUICK)

    for part, least in ((found.target, 0.0), (found.difference, -1.0)):
        low, high = point(part.ci)
        assert least <= low <= point(part.dr) <= high <= 1.0


def test_the_margin_is_relative_to_the_base_rate():
    """A tenth of few successes, a tenth of few failures, .02 at most."""
    settings = EstimationSettings()

    assert settings.margin(0.5) == 0.02
    assert settings.margin(0.004) == pytest.approx(0.0004)
    assert settings.margin(0.95) == pytest.approx(0.005)
    assert estimate(explored(), QUICK).difference.margin == 0.02


def test_no_name_moves_an_estimate():
    """Sessions and decisions by other names, in another order of these: the same."""
    log = explored(gain=0.1)
    named = [
        replace(r, session=f"{hash(r.session) % 9973}-{r.session}", decision=str(n))
        for n, r in enumerate(log)
    ]
    one, other = estimate(log, QUICK), estimate(named, QUICK)

    assert one.difference.p_value == pytest.approx(other.difference.p_value)
    assert one.difference.ci == pytest.approx(other.difference.ci)
    assert one.difference.dr == pytest.approx(other.difference.dr)
