"""The whole estimate: what it says, and what it refuses to say."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from evaluation.ope.estimate import estimate
from evaluation.ope.settings import EstimationSettings, Limits, SelfReplay
from tests.evaluation.ope.samples import explored, row, rows

QUICK = EstimationSettings(resamples=200)
VALUE_KEYS = (
    "n ips snips dr dm se ci ess max_weight max_weight_share mean_weight"
    " unsupported_mass bounds withheld"
)
DIFFERENCE_KEYS = (
    "ips snips dr se ci p_value flip_share flip_observations bounds gates verdict"
    " reasons margin short_term_only withheld whom"
)
POINTS = ("ips", "snips", "dr", "dm", "se", "ci")


def points(value):
    """What may only be said of what was played."""
    return [getattr(value, name) for name in POINTS]


def codes(found):
    """The reasons' codes."""
    return [reason.code for reason in found.difference.reasons]


def point(number):
    """A number that has to be there."""
    assert number is not None
    return number


def status(found, name):
    """How a gate came out."""
    return next(gate.status for gate in found.difference.gates if gate.name == name)


def test_finds_a_gain():
    """Flips that gain .3 half the time: .15 in all, within its interval."""
    found = estimate(explored(), QUICK)

    low, high = point(found.difference.ci)
    assert found.difference.verdict == "BETTER"
    assert low < 0.15 < high
    assert found.difference.dr == pytest.approx(
        0.15, abs=4 * point(found.difference.se)
    )
    apart = point(found.target.dr) - point(found.baseline.dr)
    assert apart == pytest.approx(found.difference.dr)
    assert found.difference.flip_share == pytest.approx(0.5, abs=0.05)


def test_finds_a_loss_and_none():
    """The same log read the other way is a loss; no gain is no verdict for it."""
    swapped = [replace(r, target=r.baseline, baseline=r.target) for r in explored()]
    even = estimate(explored(gain=0.0), QUICK).difference

    assert estimate(swapped, QUICK).difference.verdict == "WORSE"
    assert even.verdict in ("INCONCLUSIVE", "EQUIVALENT")


def test_without_exploration_there_is_no_value_of_what_was_not_played():
    """Bounds and a refusal; what was played has its value."""
    found = estimate(explored(rate=0.0), QUICK)

    assert points(found.target) == [None] * 6
    assert found.baseline.ips == pytest.approx(0.4, abs=0.05)
    assert found.difference.verdict == "NOT_ENOUGH_OVERLAP"
    assert (found.difference.dr, found.difference.ci, found.difference.p_value) == (
        None,
    ) * 3
    assert (found.difference.ips, found.difference.snips) == (None, None)
    assert "no_exploration" in codes(found)
    low, high = found.target.bounds
    assert high - low == pytest.approx(found.difference.flip_share)


def test_a_little_unplayed_has_no_value_either():
    """One flip in a hundred, never played: the rest is no estimate of the whole."""
    log = [
        row(target="b" if n % 100 == 0 else "a", session=f"s{n % 40}", reward=n % 3 / 2)
        for n in range(2000)
    ]
    found = estimate(log, QUICK)

    assert points(found.target) == [None] * 6
    assert found.difference.verdict == "NOT_ENOUGH_OVERLAP"
    assert found.difference.bounds == pytest.approx((-0.005, 0.005), abs=5e-4)
    assert "bounds_within_rope" in codes(found)


def test_a_baseline_that_was_not_played_is_not_made_up():
    """The same holds of the other side: the log is the target's."""
    log = [replace(r, target=r.baseline, baseline=r.target) for r in explored(rate=0.0)]
    found = estimate(log, QUICK)

    assert points(found.baseline) == [None] * 6
    assert found.target.dr is not None
    assert found.difference.verdict == "NOT_ENOUGH_OVERLAP"


@pytest.mark.parametrize("rate", [0.0, 0.2])
@pytest.mark.parametrize("known", [1.0, 0.0])
def test_a_strategy_against_itself(rate, known):
    """The difference is exactly 0, whatever the log."""
    log = [replace(r, target=r.baseline) for r in explored(rate=rate, known=known)]
    found = estimate(log, QUICK).difference

    assert (found.ips, found.snips, found.dr, found.se) == (0.0,) * 4
    assert (found.ci, found.bounds, found.p_value) == ((0.0, 0.0), (0.0, 0.0), 1.0)
    assert found.verdict == "EQUIVALENT"


def test_claims_nothing_that_hangs_on_what_was_never_played():
    """The target's gain is smaller than its odds on an arm that the log never took."""
    rest = [row(session=f"s{i // 20}", target="c", reward=0.4) for i in range(60)]
    log = explored(gain=0.3, flips=0.2)
    seen, found = estimate(log, QUICK), estimate([*log, *rest], QUICK)

    assert seen.difference.verdict == "BETTER"
    assert found.difference.ci is not None
    assert found.difference.ci[0] < 0.0 < point(seen.difference.ci)[0]
    assert found.difference.withheld
    assert 0.02 < found.target.unsupported_mass < 0.05
    assert found.difference.verdict == "INCONCLUSIVE"
    assert codes(found)[0] == "hangs_on_what_was_never_played"


def test_what_lasts_and_cannot_be_tested_caps_the_verdict():
    """Where a session has a next decision, and a value is claimed."""
    alone = estimate([replace(each, session="") for each in explored()], QUICK)
    found = estimate(explored(), QUICK)

    assert found.difference.verdict == alone.difference.verdict == "BETTER"
    assert found.difference.short_term_only
    assert "short_term_only" in codes(found)
    assert "cannot be tested" in found.difference.reasons[-1].detail
    assert not alone.difference.short_term_only
    assert "short_term_only" not in codes(estimate(explored(rate=0.0), QUICK))


def test_wrong_probabilities_are_invalid():
    """Played half the time, logged as a fifth and four fifths."""
    log = [
        replace(
            r, propensity=1.0 if r.propensity == 1.0 else {"b": 0.2, "a": 0.8}[r.arm]
        )
        for r in explored()
    ]
    found = estimate(log, QUICK)

    assert found.difference.verdict == "INVALID"
    assert codes(found)[0] == "propensities_do_not_fit"


def test_an_unfaithful_self_replay_is_invalid():
    """However good the numbers look."""
    found = estimate(explored(), QUICK, self_replay=SelfReplay(9, 10, "input 4"))

    assert found.difference.verdict == "INVALID"
    assert status(found, "self_replay") == "invalid"


def test_cassette_is_a_gate_where_there_is_one():
    """Its share is told, and takes no verdict."""
    found = estimate(explored(), QUICK, cassette_hit_rate=0.2)

    assert status(found, "cassette") == "caution"
    assert found.difference.verdict == "BETTER"


def test_flips_that_were_partly_certain_have_bounds_alone():
    """A tenth of all decisions out of reach: exploring the others does not replace it."""
    log = explored()
    certain = [
        replace(r, arm="a", propensity=1.0) if n % 5 == 0 else r
        for n, r in enumerate(log)
    ]
    found = estimate(certain, QUICK)

    assert found.target.unsupported_mass == pytest.approx(0.1, abs=0.02)
    assert points(found.target) == [None] * 6
    assert found.difference.dr is None
    assert codes(found) == ["unsupported"]


def test_all_the_odds_are_tested_where_they_are_told():
    """With the logging policy at hand there is a gate for even odds as well."""
    told = [
        replace(r, logging={"a": 1.0} if r.propensity == 1.0 else {"a": 0.5, "b": 0.5})
        for r in explored()
    ]

    assert status(estimate(told, QUICK), "propensity_uniform") == "ok"


def test_few_sessions_have_a_plain_interval_and_say_so():
    """Where sessions cannot be drawn again."""
    found = estimate(explored(sessions=4, decisions=200), QUICK)

    assert found.difference.ci is not None
    assert "t_interval" in codes(found)


def test_few_flips_are_not_enough():
    """Twenty sessions of few decisions show too little."""
    found = estimate(explored(sessions=20, decisions=5, rate=0.3), QUICK)

    assert found.difference.flip_observations < 30
    assert found.difference.verdict == "NOT_ENOUGH_OVERLAP"
    assert "few_flip_observations" in codes(found)


def test_rows_without_sessions_count_each():
    """The same rows without sessions have enough clusters, and another error."""
    log = [replace(r, session="") for r in explored(sessions=5, decisions=100)]
    named = estimate(explored(sessions=5, decisions=100), QUICK)

    assert "few_flip_sessions" in codes(named)
    assert estimate(log, QUICK).difference.verdict == "BETTER"


def test_one_session_has_no_interval():
    """Whatever it holds."""
    found = estimate([replace(r, session="s") for r in explored()], QUICK)

    assert (found.target.se, found.target.ci, found.difference.ci) == (None,) * 3
    assert found.difference.verdict == "NOT_ENOUGH_OVERLAP"


def test_unknown_outcomes_are_left_out_and_told():
    """Values are of what is known, and the assumption is a reason."""
    found = estimate(explored(known=0.7), QUICK)

    assert status(found, "outcome_coverage") == "caution"
    assert "complete_cases" in codes(found)
    assert found.difference.dr == pytest.approx(
        0.15, abs=4 * point(found.difference.se)
    )


def test_a_verdict_survives_whatever_the_unknown_outcomes_were():
    """A gain of .6 does with one in ten unknown, and not with half of them."""
    strong = estimate(explored(300, 40, gain=0.6, known=0.9), QUICK)
    weak = estimate(explored(300, 40, gain=0.6, known=0.6), QUICK)

    assert strong.difference.verdict == "BETTER"
    assert status(weak, "outcome_coverage") == "caution"
    assert weak.difference.verdict == "INCONCLUSIVE"
    assert codes(weak)[0] == "hangs_on_unknown_outcomes"
    assert "would be WORSE [-0." in weak.difference.reasons[0].detail
    assert "as is: BETTER" in weak.difference.reasons[0].detail
    assert weak.difference.withheld
    assert weak.baseline.withheld
    assert not strong.difference.withheld


def test_no_outcome_at_all():
    """Nothing is estimated, and everything is possible."""
    found = estimate(explored(known=0.0), QUICK)

    assert points(found.target) == points(found.baseline) == [None] * 6
    assert found.target.bounds == (0.0, 1.0)
    assert found.difference.verdict == "NOT_ENOUGH_OVERLAP"


def test_cut_off_decisions_are_counted():
    """They are left out on both sides; too many leave it open."""
    log = explored()
    cut = [replace(r, is_censored=n % 3 == 0) for n, r in enumerate(log)]
    found = estimate(cut, QUICK)

    assert found.target.n == len(log) * 2 // 3
    assert status(found, "censored") == "refused"
    assert found.difference.verdict == "INCONCLUSIVE"


def test_all_cut_off():
    """There is an answer, which says nothing."""
    found = estimate([row(is_censored=True)], QUICK)

    assert (found.target.n, found.target.dr) == (0, None)
    assert found.difference.verdict == "INCONCLUSIVE"


def test_stricter_limits_refuse_more():
    """What passed at 30 does not at 10,000."""
    strict = EstimationSettings(Limits(flip_observations=10_000.0), resamples=200)

    assert estimate(explored(), strict).difference.verdict == "NOT_ENOUGH_OVERLAP"


def test_document_has_its_keys():
    """Two strategies and their difference, and all of it is JSON."""
    document = estimate(explored(), QUICK).as_json()
    text = json.dumps(document, allow_nan=False)

    assert list(document) == ["target", "baseline", "difference"]
    assert list(document["target"]) == list(document["baseline"]) == VALUE_KEYS.split()
    assert list(document["difference"]) == DIFFERENCE_KEYS.split()
    assert json.loads(text)["difference"]["verdict"] == "BETTER"
    gates = json.loads(text)["difference"]["gates"]
    assert all(set(g) == {"name", "status", "value", "limit", "detail"} for g in gates)


@settings(max_examples=40)
@given(some.data())
def test_order_of_rows_changes_no_bit(data):
    """Lines and sessions in any order give the same document."""
    log = data.draw(rows())

    assert estimate(log, QUICK) == estimate(data.draw(some.permutations(log)), QUICK)


def test_order_of_a_long_log_changes_no_bit():
    """With intervals drawn from sessions, too."""
    log = explored(known=0.9)

    assert estimate(log, QUICK) == estimate(log[::-1], QUICK)


@settings(max_examples=60)
@given(rows())
def test_any_log_has_an_answer_without_nan(log):
    """Whatever the rows: numbers or nothing, bounds in order, values within reason."""
    found = estimate(log, QUICK)

    json.dumps(found.as_json(), allow_nan=False)
    for low, high in (found.target.bounds, found.baseline.bounds):
        assert 0.0 <= low <= high <= 1.0
    assert -1.0 <= found.difference.bounds[0] <= found.difference.bounds[1] <= 1.0


def test_an_arm_that_is_never_wanted_changes_nothing():
    """To name it with probability 0 leaves every bit as it was."""
    log = explored()
    named = [replace(r, target={**r.target, "z": 0.0}) for r in log]

    assert estimate(log, QUICK) == estimate(named, QUICK)


@pytest.mark.parametrize(
    ("p", "others", "expected"),
    [
        (0.03, (), "BETTER"),
        (0.03, (None,), "BETTER"),
        (0.02, (0.5,), "BETTER"),
        (0.03, (0.5,), "INCONCLUSIVE"),
        (0.03, (0.001,), "BETTER"),
        (0.02, (0.5, 0.4), "INCONCLUSIVE"),
    ],
)
def test_a_claim_is_corrected_for_others_on_the_same_log(p, others, expected):
    """As Holm has it, whoever asks; what was not tested does not count."""
    alone = estimate(explored(), QUICK)
    luck = replace(alone, difference=replace(alone.difference, p_value=p))

    found = luck.among(others)

    assert found.difference.verdict == expected
    taken_back = expected == "INCONCLUSIVE"
    assert ("several_challengers" in codes(found)) is taken_back
    # All else stays, and a claim that never was one has nothing to lose.
    assert found.difference.ci == alone.difference.ci
    assert found.among(others).difference.verdict == expected


def test_the_estimate_itself_counts_the_others():
    """What is clear alone is not, once it is told of enough others."""
    rows = explored(gain=0.1)
    alone = estimate(rows, QUICK).difference

    told = estimate(rows, QUICK, others=[0.9] * 20).difference

    assert alone.verdict == "BETTER"
    assert 0.0025 < point(alone.p_value) < 0.05
    assert told.verdict == "INCONCLUSIVE"
    assert told.reasons[0].code == "several_challengers"
