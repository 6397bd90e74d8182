"""Each gate at its limits, and limits that can only become stricter."""

import re
from dataclasses import fields

import pytest

from evaluation.ope import gates
from evaluation.ope.carryover import CarryOver
from evaluation.ope.flips import FlipObservations
from evaluation.ope.intervals import Interval
from evaluation.ope.settings import EstimationSettings, Limits, SelfReplay
from evaluation.ope.weight_diagnostics import Weights

LIMITS = Limits()


def weights(**changes):
    """Healthy weights, but for these."""
    healthy = {
        "ess": 500.0,
        "max_weight": 5.0,
        "max_share": 0.01,
        "mean_weight": 1.0,
        "z": 0.0,
        "unsupported_mass": 0.0,
        "pareto_k": None,
        "known_z": 0.0,
    }
    return Weights(**(healthy | changes))


@pytest.mark.parametrize(
    ("z", "status"),
    [(0, "ok"), (2.0, "ok"), (-2.6, "caution"), (3.0, "caution"), (-3.1, "invalid")],
)
def test_propensities(z, status):
    """Off by more than three errors on either side, they cannot be true."""
    assert gates.propensity("target", z, 1.0, LIMITS).status == status


def test_propensities_that_cannot_be_have_no_number():
    """Infinitely many errors are no number in JSON."""
    gate = gates.propensity("uniform", float("inf"), None, LIMITS)

    assert (gate.name, gate.status, gate.value) == (
        "propensity_uniform",
        "invalid",
        None,
    )


@pytest.mark.parametrize(
    ("mass", "status"),
    [(0.01, "ok"), (0.011, "caution"), (0.05, "caution"), (0.051, "refused")],
)
def test_unsupported_mass(mass, status):
    """More than a twentieth out of reach is too much, on either side."""
    poor, healthy = weights(unsupported_mass=mass), weights()

    assert gates.unsupported(poor, healthy, LIMITS).status == status
    assert gates.unsupported(healthy, poor, LIMITS).status == status


@pytest.mark.parametrize(
    ("count", "status"),
    [(60, "ok"), (59, "caution"), (30, "caution"), (29.9, "refused")],
)
def test_flip_observations(count, status):
    """Thirty at least, of the side that has fewer."""
    few, many = FlipObservations(count, 40, 90), FlipObservations(500, 40, 90)

    assert gates.flip_observations(few, many, 0.3, LIMITS).status == status
    assert "baseline" in gates.flip_observations(many, few, 0.3, LIMITS).detail


@pytest.mark.parametrize(
    ("count", "status"), [(30, "ok"), (29, "caution"), (15, "caution"), (14, "refused")]
)
def test_flip_sessions(count, status):
    """Fifteen sessions at least, of the side that has fewer."""
    few, many = FlipObservations(90, count, 90), FlipObservations(500, 40, 90)

    assert gates.flip_sessions(few, many, 0.3, LIMITS).status == status
    assert gates.flip_sessions(many, few, 0.3, LIMITS).status == status


def test_without_flips_none_is_needed():
    """Who never differs needs no observation of a difference."""
    none = FlipObservations(0, 0, 0)

    assert gates.flip_observations(none, none, 0.0, LIMITS).status == "ok"
    assert gates.flip_sessions(none, none, 0.0, LIMITS).status == "ok"
    assert gates.rare_outcomes(none, none, 0.0, LIMITS).status == "ok"


@pytest.mark.parametrize(
    ("rare", "status"),
    [(20, "ok"), (19.9, "caution"), (10, "caution"), (9.9, "refused")],
)
def test_rare_outcomes(rare, status):
    """Ten successes and ten failures, of the side that has fewer."""
    few, many = FlipObservations(90, 40, rare), FlipObservations(500, 40, 90)

    assert gates.rare_outcomes(few, many, 0.3, LIMITS).status == status
    assert gates.rare_outcomes(many, few, 0.3, LIMITS).status == status


def test_every_refusal_shows_the_limit_that_was_missed():
    """Whoever reads that it is too little reads how much it takes."""
    bad = weights(unsupported_mass=0.2, ess=3, max_share=0.4, pareto_k=0.9, known_z=4)
    few = FlipObservations(3, 3, 3)
    found = [
        gates.propensity("target", 9.0, 1.0, LIMITS),
        gates.unsupported(bad, bad, LIMITS),
        gates.flip_observations(few, few, 0.3, LIMITS),
        gates.flip_sessions(few, few, 0.3, LIMITS),
        gates.rare_outcomes(few, few, 0.3, LIMITS),
        gates.effective_size(bad, bad, 100, LIMITS),
        gates.weight_share(bad, bad, LIMITS),
        gates.pareto(bad, bad, LIMITS),
        gates.outcome_coverage(40, 100, bad, bad, LIMITS),
        gates.censored(30, 70, LIMITS),
    ]

    for gate, limit in zip(
        found,
        ("3", "5%", "30", "15", "10", "50", "10%", "0.7", "50%", "20%"),
        strict=True,
    ):
        assert gate.status in ("refused", "invalid")
        assert re.search(rf"(need|most|below|up to) {re.escape(limit)}", gate.detail)


@pytest.mark.parametrize(
    ("ess", "rows", "status"),
    [
        (50, 100, "ok"),
        (49, 100, "refused"),
        (99, 1000, "caution"),
        (199, 10_000, "refused"),
        (200, 10_000, "caution"),
    ],
)
def test_effective_size(ess, rows, status):
    """At least 50, and a fiftieth of all; under a tenth it is a caution."""
    gate = gates.effective_size(weights(ess=ess), weights(ess=9e9), rows, LIMITS)

    assert gate.status == status


@pytest.mark.parametrize(
    ("share", "status"),
    [(0.05, "ok"), (0.06, "caution"), (0.1, "caution"), (0.11, "refused")],
)
def test_weight_share(share, status):
    """No decision may be a tenth of all."""
    assert (
        gates.weight_share(weights(max_share=share), weights(), LIMITS).status == status
    )


@pytest.mark.parametrize(
    ("k", "status"), [(None, "ok"), (0.49, "ok"), (0.5, "caution"), (0.7, "refused")]
)
def test_pareto(k, status):
    """From 0.7 on the mean does not settle; a tail without shape is fine."""
    assert gates.pareto(weights(), weights(pareto_k=k), LIMITS).status == status


@pytest.mark.parametrize(
    ("known", "status"), [(80, "ok"), (79, "caution"), (50, "caution"), (49, "refused")]
)
def test_outcome_coverage(known, status):
    """Half of the outcomes at least."""
    gate = gates.outcome_coverage(known, 100, weights(), weights(), LIMITS)

    assert gate.status == status


def test_outcomes_known_by_arm_are_no_fair_sample():
    """Whatever their share; where all are known there is nothing to select."""
    skewed = weights(known_z=-3.5)

    assert (
        gates.outcome_coverage(95, 100, skewed, weights(), LIMITS).status == "refused"
    )
    assert gates.outcome_coverage(100, 100, skewed, weights(), LIMITS).status == "ok"


@pytest.mark.parametrize(
    ("count", "status"),
    [(0, "ok"), (5, "ok"), (6, "caution"), (20, "caution"), (21, "refused")],
)
def test_censored(count, status):
    """Of a hundred decisions no more than twenty may be cut off."""
    assert gates.censored(count, 100 - count, LIMITS).status == status


def test_self_replay():
    """One output that differs makes everything invalid; other code is worth a word."""
    broken = gates.self_replay(SelfReplay(9, 10, "input 4: other arm"))

    assert broken.status == "invalid"
    assert "input 4: other arm" in broken.detail
    assert gates.self_replay(SelfReplay(10, 10)).status == "ok"
    assert gates.self_replay(SelfReplay(10, 10, is_other_code=True)).status == "caution"


def test_cassette():
    """Below nine tenths what the answers say is not compared."""
    assert gates.cassette(0.9, LIMITS).status == "ok"
    assert gates.cassette(0.89, LIMITS).status == "caution"


@pytest.mark.parametrize(("p", "status"), [(0.05, "ok"), (0.049, "caution")])
def test_carry_over(p, status):
    """What lasts restricts the claim to the short term."""
    gate = gates.carry_over(CarryOver(-0.1, 0.05, p, 300, 40))

    assert gate.status == status
    assert ("short term only" in gate.detail) == (status == "caution")


@pytest.mark.parametrize(
    ("points", "one", "other", "status"),
    [
        ((0.1, 0.1), (0.0, 0.2), (0.0, 0.2), "ok"),
        ((0.1, 0.3), (0.0, 0.2), (0.11, 0.5), "caution"),
        ((0.1, -0.1), (-0.1, 0.3), (-0.3, 0.1), "refused"),
        ((0.001, -0.001), (-0.01, 0.01), (-0.01, 0.01), "ok"),
        ((0.1, 0.1), (0.1, 0.1), (0.0, 0.2), "ok"),
    ],
)
def test_estimators_agree(points, one, other, status):
    """Other signs leave it open, unless both mean no difference."""
    around = Interval(0.1, one, None), Interval(0.1, other, None)

    assert gates.agreement(points, around, LIMITS, margin=0.02).status == status


@pytest.mark.parametrize("name", [each.name for each in fields(Limits)])
def test_limits_only_become_stricter(name):
    """A little stricter is taken, a little looser is not."""
    step = -1e-6 if name.endswith("_max") else 1e-6
    default = getattr(LIMITS, name)

    assert getattr(Limits(**{name: default + step}), name) == default + step
    with pytest.raises(ValueError, match=f"limit {name} .* only be made stricter"):
        Limits(**{name: default - step})
    with pytest.raises(ValueError, match=name):
        Limits(**{name: float("nan")})


@pytest.mark.parametrize(
    "wrong", [{"rope": -0.1}, {"rope": 1.0}, {"rope_share": 0.0}, {"resamples": 10}]
)
def test_settings_make_sense(wrong):
    """No negative width, no handful of resamples."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        EstimationSettings(**wrong)
