"""The health of weights: what is supported, and whether the probabilities can be true."""

from math import inf

import numpy as np
import pytest

from evaluation.ope.weight_diagnostics import uniform_z, weights
from tests.evaluation.ope.samples import columns, explored, row


def of_target(*log):
    """The target's weights."""
    found = columns(*log)
    return weights(found, found.target)


def test_by_hand():
    """Weights 0, 5, 1 and 1."""
    found = of_target(
        row("a", 0.8, target="b"),
        row("b", 0.2, target="b"),
        row("b", 0.5, target={"a": 0.5, "b": 0.5}),
        row("a", 1.0, target="a"),
    )

    assert found.ess == pytest.approx(49 / 27)
    assert found.max_weight == 5.0
    assert found.max_share == pytest.approx(5 / 7)
    assert found.mean_weight == 7 / 4


def test_unknown_outcomes_count_for_the_mean_alone():
    """The probabilities are tested on all rows, what is effective has an outcome."""
    found = of_target(row("b", 0.5), row("b", 0.25, None))

    assert (found.mean_weight, found.max_weight, found.ess) == (3.0, 2.0, 1.0)


def test_weights_of_one_fit():
    """What was certain and is wanted has weight 1, and no variation to doubt it."""
    assert of_target(*(row(target="a"),) * 50).z == 0.0


def test_weights_that_are_all_too_large_do_not_fit():
    """A hundred times an arm drawn with p 1/1.3: that it never missed is no luck."""
    log = [row(p=1 / 1.3, target="a", session=f"s{i // 10}") for i in range(100)]

    assert of_target(*log).z == pytest.approx(0.3 / 0.003**0.5)
    assert of_target(*log).z > 3.0
    assert of_target(*log[:5]).z < 2.0


def test_certain_arms_that_nobody_wants_are_no_misfit():
    """Without exploration weights average the share of matches, as they must."""
    log = [row(target="a" if i % 3 else "b") for i in range(99)]
    found = of_target(*log)

    assert (found.mean_weight, found.unsupported_mass) == (66 / 99, 33 / 99)
    assert found.z == 0.0


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5])
def test_true_probabilities_fit(rate):
    """Of 100 logs none but one or two is off by three errors, on any strategy."""
    logs = [columns(*explored(20, 10, rate, seed=seed)) for seed in range(100)]
    off = [abs(weights(log, log.target).z) for log in logs]

    assert sum(z > 3.0 for z in off) <= 2
    assert sum(z > 2.0 for z in off) <= 12


def drawn_from_uneven_odds(seed, told=lambda p: p):
    """20 sessions whose odds vary by decision, down to one in two hundred."""
    draws = np.random.default_rng(seed)
    odds = 0.985 * draws.dirichlet([0.7] * 3, 400) + 0.005
    arms = (draws.random((400, 1)) > odds.cumsum(axis=1)[:, :2]).sum(axis=1)
    log = [
        row("abc"[arm], told(p[arm]), session=f"s{i % 20}")
        for i, (arm, p) in enumerate(zip(arms, odds, strict=True))
    ]
    return of_target(*log).z


def test_missing_a_few_heavy_weights_by_chance_is_no_misfit():
    """Then the mean is low and its error small at once, but the odds were true."""
    found = [drawn_from_uneven_odds(seed) for seed in range(200)]

    assert sum(abs(z) > 3.0 for z in found) <= 4


def test_weights_that_are_too_small_do_not_fit_however_skewed():
    """Every draw is logged as likelier than it was."""
    found = [drawn_from_uneven_odds(seed, lambda p: p**0.5) for seed in range(20)]

    assert all(z < -3.0 for z in found)


def test_wrong_probabilities_do_not_fit():
    """An arm played half the time, logged as one of three."""
    wrong = [
        row(each.arm, 1 / 3, each.reward, each.target, each.baseline, each.session)
        for each in explored(flips=1.0)
    ]

    assert abs(of_target(*wrong).z) > 3.0


def test_an_arm_that_was_never_played_where_it_is_wanted_is_unsupported():
    """Though the log shows it elsewhere."""
    log = [
        row("a", 0.5, target="c"),
        row("b", 0.5, target={"c": 0.5, "b": 0.5}),
        row("c", 0.5, target="b"),
        row("b", 0.5, target="b"),
    ]

    assert of_target(*log).unsupported_mass == 1.5 / 4


def test_the_logging_policy_tells_what_was_possible():
    """An arm that could have been drawn is supported, though it never was."""
    half = {"a": 0.5, "b": 0.5}
    log = [
        row("a", 0.5, target=t, logging=half) for t in ("b", "c", {"a": 0.5, "c": 0.5})
    ]

    assert of_target(*log).unsupported_mass == 1.5 / 3


def test_even_odds_are_tested_where_all_odds_are_told():
    """The strategy that takes each possible arm alike has weights of mean 1 too."""
    logging = {"a": 0.9, "b": 0.1}
    fair = [row("a", 0.9, logging=logging)] * 90 + [row("b", 0.1, logging=logging)] * 10
    odd = [row("b", 0.1, logging=logging)] * 100

    assert uniform_z(columns(*fair)) == pytest.approx(0.0)
    assert (uniform_z(columns(*odd)) or 0.0) > 3.0
    assert uniform_z(columns(row())) is None


def test_tells_whether_knowing_an_outcome_depends_on_the_arm():
    """Outcomes known of one arm alone bring the known weights off."""
    log = explored(flips=1.0)
    by_arm = [
        row(
            r.arm,
            r.propensity,
            r.reward if r.arm == "b" else None,
            r.target,
            session=r.session,
        )
        for r in log
    ]

    assert abs(of_target(*explored(flips=1.0, known=0.5)).known_z) < 3.0
    assert abs(of_target(*by_arm).known_z) > 3.0


def test_tiny_probabilities_stay_numbers():
    """The smallest there is gives a weight that can still be squared."""
    found = of_target(row("b", 5e-324), *(row("b", 0.5),) * 9)

    assert found.max_weight == 1e100
    assert found.ess == pytest.approx(1.0)
    assert np.isfinite([found.z, found.known_z]).all() or found.z == inf


def test_one_rare_draw_is_no_proof():
    """What comes up once in twenty times does come up."""
    assert abs(of_target(row("b", 0.05)).z) <= 1.0
    assert abs(of_target(row("b", 0.01), *(row("a", 0.99, target="a"),) * 30).z) < 2.0
