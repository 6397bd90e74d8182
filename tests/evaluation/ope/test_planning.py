"""What has to be recorded: the formula, its schemes, and what is there already."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evaluation.ope.advising import advice, effect_to_plan_for
from evaluation.ope.planning import challenger, plan, plans, uniform
from evaluation.ope.recorded import Recorded, recorded_from
from tests.evaluation.ope.samples import row
from tests.evaluation.simulators import companion

SESSIONS_OF_40: dict[str, Any] = {"flip_rate": 0.3, "decisions_per_session": 40.0}


def test_schemes_need_what_was_measured_for_them():
    """Near the sessions that had 80 % power in the method's table, for each scheme."""
    needed = {each.scheme.name: each.sessions for each in plans(0.25, **SESSIONS_OF_40)}

    assert 80 <= needed["uniform 0.1"] <= 110
    assert 25 <= needed["challenger 0.1"] <= 35
    assert 15 <= needed["challenger 0.2"] <= 20
    assert needed["challenger 0.5"] == 15


def test_a_plan_passes_the_gates():
    """However large the effect: 30 flip observations, also by chance, and 15 sessions."""
    found = plan(0.9, challenger(0.2), flip_rate=1.0, decisions_per_session=500.0)

    assert found.flip_observations == 42
    assert found.decisions == 210
    assert found.sessions == 15


def test_rare_outcomes_take_more():
    """A plan that the gate on rare outcomes would close is no plan."""
    often = Recorded(20, 800, 0.3, 60.0)
    rare = Recorded(20, 800, 0.3, 60.0, rarer=0.04)
    found = [
        plan(0.3, challenger(0.2), recorded=each, **SESSIONS_OF_40).flip_observations
        for each in (often, rare)
    ]

    assert found[0] < 60
    assert found[1] >= 400


def test_the_plan_finds_the_effect():
    """Of 300 recordings as large as planned, about four in five find the effect."""
    arms = companion.challenger_odds("tuned", 0.2)
    found = plan(0.25, challenger(0.2), **SESSIONS_OF_40)
    draws = np.random.default_rng(5)
    significant = 0
    for _ in range(300):
        log = companion.play(draws, arms, sessions=found.decisions)
        is_flip = log.flips("tuned")
        sign = np.where(log.is_played("tuned"), 1.0, -1.0)
        terms = np.where(is_flip, sign * (log.reward - 0.5) / log.propensity, 0.0)
        z = terms.mean() / (terms.std() / np.sqrt(len(terms)))
        significant += z > 1.96

    assert 0.72 <= significant / 300 <= 0.92


def test_counts_what_is_recorded():
    """Flips, and how often the challenger's arm was played there, as one would by eye."""
    arms = companion.uniform_odds(0.3)
    log = companion.play(np.random.default_rng(6), arms, sessions=50, length=40)
    found = recorded_from(log.observations("tuned"))

    is_flip = log.flips("tuned")
    assert (found.sessions, found.decisions) == (50, 2000)
    assert found.flip_rate == is_flip.mean()
    assert found.flip_observations == (is_flip & log.is_played("tuned")).sum()
    assert found.exploration is not None
    assert found.exploration.challenger == pytest.approx(0.1, abs=0.03)


def test_what_is_recorded_counts():
    """Sessions on record lower what is to come, though never below the gates."""
    recorded = Recorded(sessions=20, decisions=800, flip_rate=0.3, flip_observations=24)
    anew = plan(0.25, challenger(0.2), **SESSIONS_OF_40)
    more = plan(0.25, challenger(0.2), recorded=recorded, **SESSIONS_OF_40)

    assert 0 < more.more_sessions < anew.more_sessions
    assert more.sessions == anew.sessions
    done = Recorded(sessions=20, decisions=800, flip_rate=0.3, flip_observations=60)
    found = plan(0.3, challenger(0.2), recorded=done, **SESSIONS_OF_40)
    assert found.more_sessions == 0


def test_noisy_recordings_are_left_behind():
    """Where the old log costs more than it brings, the plan starts anew."""
    recorded = Recorded(sessions=90, decisions=3600, flip_rate=0.3, flip_observations=9)
    found = plan(0.25, challenger(0.2), recorded=recorded, **SESSIONS_OF_40)

    assert found.more_sessions == found.sessions


def test_advice_names_both_ways():
    """More of the same, or fewer with a challenger."""
    recorded = Recorded(sessions=20, decisions=800, flip_rate=0.3, flip_observations=8)

    assert advice(recorded, 0.075).words == (
        "85 more sessions at the current exploration,"
        " or 19 more sessions with challenger exploration at 0.2"
    )


def test_advice_without_exploration_names_the_challenger_alone():
    """More of a log that never explored would tell nothing."""
    recorded = Recorded(sessions=20, decisions=800, flip_rate=0.3, flip_observations=0)

    assert (
        advice(recorded).words == "51 more sessions with challenger exploration at 0.2"
    )
    assert "current" not in advice(recorded, 0.1).words


def test_advice_for_noisy_sessions_asks_for_more():
    """Twice the error that coin flips would have takes about four times the sessions."""
    recorded = Recorded(
        sessions=40, decisions=1600, flip_rate=0.3, flip_observations=96
    )
    expected = (0.3 * (1 / 0.2 + 1 / 0.8) * 0.25 / 1600) ** 0.5

    def sessions(se):
        return int(advice(recorded, 0.03, se).words.split()[0])

    assert sessions(expected / 2) == sessions(expected) == sessions(None)
    assert 40 + sessions(2 * expected) == pytest.approx(
        4 * (40 + sessions(expected)), rel=0.02
    )


def test_advice_never_says_none():
    """Asked where nothing is decided, it asks for something."""
    recorded = Recorded(
        sessions=400, decisions=16_000, flip_rate=0.3, flip_observations=999
    )

    assert advice(recorded, 0.2).words.startswith("1 more session at")


def test_advice_where_nothing_differs():
    """Two strategies that never differ need no sessions."""
    assert "never differ" in advice(Recorded(20, 800, 0.0, 0.0)).words


def test_advice_where_no_strategy_was_asked():
    """What was no strategy's says nothing of two of them, and another session may."""
    assert advice(Recorded(1, 0, 0.0, 0.0)).words.startswith("another session")


def test_plans_for_the_measured_difference():
    """What a flip gains is the difference over the flips, at least the ROPE's."""
    assert effect_to_plan_for(0.06, 0.3) == pytest.approx(0.2)
    assert effect_to_plan_for(-0.06, 0.3) == pytest.approx(0.2)
    assert effect_to_plan_for(0.001, 0.1) == pytest.approx(0.2)
    assert effect_to_plan_for(0.5, 0.01) == 1.0
    assert effect_to_plan_for(None, 0.3) == 0.15


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.2, float("nan")])
def test_refuses_what_is_no_rate(rate):
    """A rate that leaves one side without a chance explores nothing."""
    with pytest.raises(ValueError, match="rate"):
        challenger(rate)
    with pytest.raises(ValueError, match="rate"):
        uniform(rate)


@pytest.mark.parametrize("effect", [0.0, 1.5, float("nan")])
def test_refuses_an_impossible_effect(effect):
    """What a flip gains lies above 0 and within an outcome's range."""
    with pytest.raises(ValueError, match="effect"):
        plan(effect, challenger(0.2), **SESSIONS_OF_40)


def test_refuses_sessions_without_decisions():
    """A session has to hold something."""
    with pytest.raises(ValueError, match="decisions per session"):
        plan(0.2, challenger(0.2), flip_rate=0.3, decisions_per_session=0.0)
    with pytest.raises(ValueError, match="flip rate"):
        plan(0.2, challenger(0.2), flip_rate=0.0, decisions_per_session=40.0)


def learning(rates, decisions=10, offered=0.2):
    """A log of sessions whose flip rates change; the challenger's arm is drawn by lot."""
    draws = np.random.default_rng(3)
    for session, rate in enumerate(rates):
        for _ in range(decisions):
            flips = draws.random() < rate
            plays = flips and draws.random() < offered
            p = (offered if plays else 1.0 - offered) if flips else 1.0
            good = float(draws.random() < 0.5)
            yield row(
                "b" if plays else "a",
                p,
                good,
                "b" if flips else "a",
                "a",
                f"s{session}",
            )


@pytest.mark.parametrize(
    ("rates", "falls", "hopeless"),
    [
        ([0.4] * 30, False, False),
        ([0.4] * 20 + [0.0] * 10, True, True),
        ([0.4] * 20 + [0.05] * 10, True, False),
        ([0.05] * 10 + [0.4] * 20, False, False),
        ([0.4] * 4 + [0.0] * 2, False, False),
        ([0.02] * 30, False, False),
    ],
    ids=["steady", "none left", "few left", "more", "few sessions", "rare"],
)
def test_a_trend_is_told_from_chance(rates, falls, hopeless):
    """What learning made agree is planned with what flips now, or called hopeless."""
    recorded = recorded_from(learning(rates))
    found = advice(recorded)

    assert (found.trend is not None) is falls
    assert found.is_hopeless is hopeless


def test_steady_sessions_seldom_seem_to_fall():
    """At the level of the test: of 400 logs without a trend, a few."""
    draws = np.random.default_rng(8)
    seeming = 0
    for _ in range(400):
        counts = draws.binomial(10, 0.3, 18)
        log = Recorded(
            18, 180, 0.3, 10.0, by_session=tuple((10, float(n)) for n in counts)
        )
        seeming += log.trend is not None

    assert seeming <= 8


def test_the_number_named_is_that_of_sessions_which_still_flip():
    """A third of the flips take three times the sessions."""
    falling = recorded_from(learning([0.4] * 20 + [0.04] * 10))
    blind = replace(falling, by_session=())
    thinned = falling.flip_rate / falling.coming_rate

    named, unaware = (
        int(advice(each).words.split()[0].replace(",", "")) for each in (falling, blind)
    )

    assert thinned > 3.0
    assert named == pytest.approx(unaware * thinned, rel=0.01)


def test_sessions_without_a_tried_flip_open_no_gate():
    """Sixteen sessions, of which eight tried one: seven more have to, and not all will."""
    every = Recorded(16, 160, 0.5, 50.0, tried=15)
    half = Recorded(16, 160, 0.5, 50.0, tried=8)

    found = [
        plan(
            0.9, challenger(0.2), flip_rate=0.5, decisions_per_session=10.0, recorded=r
        )
        for r in (every, half)
    ]

    # Five flips a session, drawn in one of five: 63 % of sessions try one.
    assert [each.more_sessions for each in found] == [0, 12]


@pytest.mark.parametrize(
    ("offered", "words", "rate"),
    [
        (None, " at the current exploration, or ", 0.2),
        (0.05, " at the current exploration, or ", 0.2),
        (0.2, " at the current exploration", None),
        (0.5, " at the current exploration", None),
    ],
)
def test_no_rate_below_the_recorded_one_is_handed_out(offered, words, rate):
    """And the one in force is not named twice."""
    recorded = Recorded(20, 800, 0.3, 12.0, offered=offered)

    found = advice(recorded, 0.075)

    assert words in found.words
    assert found.rate == rate
    assert ("challenger exploration" in found.words) is (rate is not None)


def test_a_recording_without_a_flip_is_planned_by_the_rate_that_is_named():
    """What was never seen to flip may yet: the caller says how often."""
    recorded = Recorded(20, 800, 0.0, 0.0)
    bare = plan(0.25, challenger(0.2), **SESSIONS_OF_40)

    found = plan(0.25, challenger(0.2), recorded=recorded, **SESSIONS_OF_40)

    assert (found.decisions, found.sessions) == (bare.decisions, bare.sessions)
