"""For whom an estimate speaks, and what its error is then made of."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from evaluation.ope.clusters import Clusters, stratified
from evaluation.ope.estimate import estimate
from evaluation.ope.people import people_of, whom
from evaluation.ope.settings import EstimationSettings
from tests.evaluation.ope.samples import columns, explored, row
from tests.evaluation.ope.test_estimate import codes, status

QUICK = EstimationSettings(resamples=200)
ALIKE = replace(QUICK, population="alike")


def told(log, people, agent=""):
    """The same log, its sessions shared out among so many people."""
    number = {name: n for n, name in enumerate(sorted({r.session for r in log}))}
    return [
        replace(r, person=f"p{number[r.session] % people}", agent=agent) for r in log
    ]


@pytest.mark.parametrize(
    ("named", "agents", "household", "stratum"),
    [
        ([["ada"], ["ben"], ["ada"]], ["", "", ""], [0, 1, 0], [0, 1, 0]),
        ([["ada"], ["ben"], ["ada", "ben"]], ["", "", ""], [0, 0, 0], [0, 0, 0]),
        ([["ada"], ["ada"]], ["home", "car"], [0, 0], [0, 1]),
        ([[], [], []], ["home", "car", "home"], [0, 1, 0], [0, 1, 0]),
        ([["ada"], []], ["home", "home"], [0, 0], [0, 0]),
        ([["ada"], ["ben"], []], ["shop"] * 3, [0, 1, 2], [0, 1, 2]),
        ([["ada", "ben"], ["ben", "cy"], ["cy"]], [""] * 3, [0, 0, 0], [0, 0, 0]),
    ],
    ids=[
        "each their own",
        "who share a session share all",
        "one person, two agents",
        "nobody named",
        "nobody named, and one there could be",
        "nobody named, and two there could be",
        "a chain of sessions",
    ],
)
def test_whose_a_session_is(named, agents, household, stratum):
    """By who is named in it, and by agent where nobody is."""
    found = people_of(named, agents)

    assert found is not None
    assert found.household.tolist() == household
    assert found.stratum.tolist() == stratum


@pytest.mark.parametrize(
    ("persons", "agents", "population", "words"),
    [
        (["ada"], [""], "these", "for ada"),
        (["ben", "ada"], ["", ""], "these", "for ada and ben"),
        (["ada", "ben", "cy"], [""] * 3, "these", "for ada, ben and cy"),
        (["ada", "ben", "cy", "di"], [""] * 4, "these", "for these 4 people"),
        (["", ""], ["home", "home"], "these", "for agent home"),
        ([""] * 4, ["a", "b", "c", "d"], "these", "for these 4 agents"),
        (["ada", ""], ["a", "b"], "these", "for ada and agent b"),
        (["ada", "ben"], ["", ""], "alike", "for people like these 2"),
        (["", ""], ["a", "b"], "alike", "for agents like these 2"),
        (["", ""], ["", ""], "these", "for those recorded"),
        (["", ""], ["", ""], "alike", "for others like those recorded"),
    ],
)
def test_words_name_for_whom(persons, agents, population, words):
    """Up to three by their names, more by their number."""
    rows = [
        row(session=f"s{n}", person=person, agent=agent)
        for n, (person, agent) in enumerate(zip(persons, agents, strict=True))
    ]

    assert whom(columns(*rows).people, population).words == words


def test_a_row_without_a_session_is_of_its_person():
    """It is a unit of its own, and a part of that person's stratum."""
    found = columns(row(person="ada"), row(person="ben"), row(person="ada")).people

    assert found is not None
    assert sorted(np.bincount(found.stratum).tolist()) == [1, 2]


def test_agents_may_call_their_sessions_alike():
    """The first session of either is not one and the same."""
    found = columns(row(session="1", agent="a"), row(session="1", agent="b"))

    assert found.sessions == 2


def test_error_of_strata_by_hand():
    """Deviations ±1 in one pair and ±2 in another: 2·(1+1) + 2·(4+4), over 4²."""
    off = np.array([3.0, 1.0, -4.0, 0.0])
    found = stratified(np.ones(4), off, np.array([0, 0, 1, 1]))

    assert found.variance == pytest.approx(20 / 16)
    assert found.jackknife == pytest.approx(20 / 16)


def test_how_strata_differ_is_no_error():
    """Whatever is added to a whole stratum."""
    draws = np.random.default_rng(3)
    off, stratum = draws.normal(size=40), np.repeat(np.arange(4), 10)
    moved = off + np.array([5.0, -5.0, 3.0, -3.0])[stratum]
    one, other = (stratified(np.ones(40), each, stratum) for each in (off, moved))

    assert one.jackknife == pytest.approx(other.jackknife)
    assert one.freedom == other.freedom
    assert (stratified(np.ones(40), moved).jackknife or 0.0) > 10 * (
        one.jackknife or 0.0
    )


def test_one_stratum_is_a_plain_sample():
    """Its error and degrees of freedom are those of the mean of equal sessions."""
    values = np.random.default_rng(4).normal(size=12)
    found = stratified(np.ones(12), values - values.mean(), np.zeros(12, np.int64))

    assert found.stratum is None
    assert sqrt(found.jackknife or 0.0) == pytest.approx(stats.sem(values))


@pytest.mark.parametrize(
    ("stratum", "strata"),
    [([0, 1, 2, 3], 1), ([0, 0, 1, 2], 2), ([0, 0, 1, 1, 1, 2], 2), ([0], 1)],
    ids=["all alone", "two alone", "one alone", "one at all"],
)
def test_who_has_a_single_session_is_compared_with_others(stratum, strata):
    """Of one session alone nobody knows how it varies."""
    count = len(stratum)
    found = stratified(
        np.ones(count), np.arange(count, dtype=np.float64), np.array(stratum)
    )

    assert found.strata == strata
    if found.stratum is not None:
        assert np.bincount(found.stratum).min() >= 2


def test_pairs_have_a_degree_of_freedom_each():
    """Thirty people of two sessions: about 30, not 60."""
    draws = np.random.default_rng(5)
    stratum = np.repeat(np.arange(30), 2)
    freedoms = [
        stratified(np.ones(60), draws.normal(size=60), stratum).freedom
        for _ in range(200)
    ]

    assert 18 < np.mean(freedoms) <= 30


def test_levelled_units_spread_as_their_strata_do():
    """The variance of all is the sum of what each stratum has."""
    draws = np.random.default_rng(6)
    found = stratified(np.ones(12), draws.normal(size=12), np.repeat([0, 1, 2], 4))
    level = found.levelled()

    assert level.stratum is None
    assert np.square(level.off).sum() / 144 == pytest.approx(found.variance)


def test_sessions_are_the_units_for_these_people():
    """A gain that all have is found with three people as it is with one."""
    found = estimate(told(explored(), 3), QUICK).difference

    assert found.verdict == "BETTER"
    assert found.whom.words == "for p0, p1 and p2"
    assert found.whom.units == 3


@pytest.mark.parametrize(("people", "status_"), [(9, "refused"), (12, "caution")])
def test_few_people_say_nothing_of_others(people, status_):
    """Under ten there is no interval; under thirty a caution."""
    found = estimate(told(explored(), people), ALIKE)

    assert status(found, "people") == status_
    assert found.difference.withheld == (status_ == "refused")
    assert found.difference.whom.words == f"for people like these {people}"
    assert ("few_people" in codes(found)) == (status_ != "ok")


def test_a_log_that_names_nobody_says_nothing_of_others():
    """It says how to name people."""
    found = estimate(explored(), ALIKE)

    assert found.difference.verdict == "NOT_ENOUGH_OVERLAP"
    assert "`person`" in found.difference.reasons[0].detail


def test_a_household_of_a_dozen_is_one_unit():
    """What one of them hears, so do the others."""
    log = [replace(r, person=f"p{n % 12}") for n, r in enumerate(explored())]

    assert status(estimate(log, ALIKE), "people") == "refused"


def test_no_name_of_a_person_moves_an_estimate():
    """Other names, in another order."""
    log = told(explored(gain=0.1), 7)
    named = [replace(r, person=f"{hash(r.person) % 97}-{r.person}") for r in log]
    one, other = estimate(log, QUICK).difference, estimate(named, QUICK).difference

    assert one.ci == pytest.approx(other.ci)
    assert one.p_value == pytest.approx(other.p_value)


def test_clusters_know_their_strata():
    """One, where none is told."""
    assert Clusters(np.ones(3), np.zeros(3)).strata == 1
