"""Aspects: what of an answer was judged, and the one place where that counts."""

from typing import Any

import pytest
from pydantic import ValidationError

from handlers.mind.turn import Turn
from schemas.messages.decisions import Candidate
from schemas.messages.feedback import FeedbackGiven, ForgottenDecision
from schemas.messages.learning import FeedbackApplied
from schemas.state.evidence import Belief
from tests.factories import heuristic, pack
from tests.scenario import Scenario, one, said

THREAT = {"threat": 0.9}
GARDEN = pack(heuristic("low", "health low", "Drink.", confidence=0.5))
ID, KEY = GARDEN.ids[0], f"{GARDEN.ids[0]}@{GARDEN.content_hashes[0]}"


def start(**learning: Any) -> Scenario:
    """A scenario in which the heuristic answers."""
    return Scenario(GARDEN, threshold=0.3, learning=learning)


def advised(scenario: Scenario) -> Turn:
    """An event that the heuristic answered."""
    return scenario.sense("health low", salience=THREAT)


def pair(scenario: Scenario) -> Belief:
    """What is believed of the answer in the situation."""
    return scenario.mind.beliefs[KEY]


def felt(scenario: Scenario) -> float:
    """How the person stands."""
    rapport = scenario.mind.rapport.get("user")
    return 0.5 if rapport is None else rapport.value


def weighed(scenario: Scenario, text: str = "health low") -> Candidate:
    """The heuristic as it is weighed at the next such event."""
    candidates = scenario.decide(text, salience=THREAT).candidates
    return next(each for each in candidates if each.arm.startswith("heuristic:"))


@pytest.mark.parametrize(
    ("aspect", "confidence", "similarity", "rapport"),
    [
        ("overall", 0.357143, 1.0, 0.45),
        ("action", 0.357143, 1.0, 0.5),
        ("condition", 0.5, 0.714286, 0.5),
        ("timing", 0.5, 1.0, 0.45),
    ],
)
def test_each_aspect_counts_in_its_own_place(
    aspect: str, confidence: float, similarity: float, rapport: float
) -> None:
    """Confidence, the condition's match, or how the person stands, and nothing else."""
    scenario = start()
    applied = one(
        scenario.feedback(advised(scenario), "negative", aspect=aspect, comment="no"),
        FeedbackApplied,
    )

    assert (applied.aspect, applied.comment) == (aspect, "no")
    assert pair(scenario).confidence == confidence
    assert felt(scenario) == rapport
    assert weighed(scenario).similarity == similarity


def test_a_condition_that_told_wrongly_matches_less() -> None:
    """Vote by vote it takes a nearer event, until none is near enough."""
    scenario = start()
    turns = [advised(scenario) for _ in range(2)]
    for turn in turns:
        scenario.feedback(turn, "negative", aspect="condition")
    candidate = weighed(scenario)

    assert candidate.similarity == 0.555556
    assert not candidate.eligible
    assert candidate.reason == "condition: by its fit of 0.56 it is not near enough"
    assert pair(scenario).confidence == 0.5


def test_a_condition_can_be_set_right_and_never_reaches_further() -> None:
    """What was said against it is outweighed; trust begins whole and grows no wider."""
    scenario = start()
    bad, good = advised(scenario), advised(scenario)
    scenario.feedback(bad, "negative", aspect="condition")
    narrow = weighed(scenario).similarity
    scenario.feedback(good, "positive", aspect="condition")
    wider = weighed(scenario).similarity
    scenario.feedback(bad, "positive", aspect="condition")

    assert narrow is not None
    assert wider is not None
    assert narrow < wider < 1.0
    assert weighed(scenario).similarity == 1.0


def test_a_vote_on_one_aspect_replaces_one_on_another() -> None:
    """A person who says what was wrong takes back that all of it was."""
    scenario, only = start(), start()
    turn = advised(scenario)
    for aspect in ("overall", "condition", "action", "timing", "condition"):
        scenario.feedback(turn, "negative", aspect=aspect)
    only.feedback(advised(only), "negative", aspect="condition")

    assert pair(scenario).signals == ()
    assert pair(scenario).confidence == 0.5
    assert felt(scenario) == 0.5
    assert weighed(scenario).similarity == weighed(only).similarity


def test_taking_a_vote_elsewhere_leaves_the_others() -> None:
    """One person's change of mind is not another's."""
    scenario = start()
    turn = advised(scenario)
    scenario.feedback(turn, "negative", actor="a")
    scenario.feedback(turn, "positive", actor="b")
    scenario.feedback(turn, "negative", actor="b", aspect="timing")

    (signal,) = pair(scenario).signals
    assert dict(signal.votes) == {"a": -1.0}
    assert pair(scenario).confidence == 0.357143


@pytest.mark.parametrize(
    ("stars", "value"), [(1, -1.0), (2, -0.5), (3, 0.0), (4, 0.5), (5, 1.0)]
)
def test_stars_are_votes_from_minus_one_to_one(stars: int, value: float) -> None:
    """Three are the middle; each star is half."""
    scenario = start()
    applied = one(
        scenario.feedback(advised(scenario), "scaled", stars=stars), FeedbackApplied
    )

    assert applied.value == value
    assert pair(scenario).signals[0].value == (value + 1) / 2


@pytest.mark.parametrize(
    "fields",
    [
        {"decision_id": "d", "rating": "scaled"},
        {"decision_id": "d", "rating": "scaled", "value": 1, "stars": 5},
        {"decision_id": "d", "rating": "positive", "stars": 5},
        {"decision_id": "d", "rating": "scaled", "stars": 6},
        {"decision_id": "d", "rating": "positive", "aspect": "mood"},
        {"heuristic_id": "h", "rating": "negative", "aspect": "timing"},
    ],
)
def test_a_vote_says_one_thing(fields: dict[str, Any]) -> None:
    """How much only where it is scaled, and of an aspect that there is."""
    with pytest.raises(ValidationError):
        FeedbackGiven.from_fields(fields)


def test_a_condition_may_be_judged_by_itself() -> None:
    """A vote that names the heuristic reaches its condition, too."""
    scenario = start()
    vote = FeedbackGiven(heuristic_id=ID, rating="negative", aspect="condition")
    scenario.tell(vote)

    assert KEY not in scenario.mind.beliefs
    assert weighed(scenario).similarity == 0.714286


def test_a_vote_on_a_forgotten_decision_counts_by_what_the_log_knows() -> None:
    """The shell brings it with the vote; what is remembered goes before it."""
    scenario, forged = (
        start(),
        ForgottenDecision(event_id="e", source="game", path="none"),
    )
    turn = advised(scenario)
    fire = scenario.mind.decisions.sorted_keys()[0]
    remembered = scenario.mind.decisions[fire]
    about = ForgottenDecision(
        event_id=remembered.event_id,
        source=remembered.source,
        path="heuristic",
        fire_id=remembered.fire_id,
        heuristic_id=ID,
        content_hash=GARDEN.content_hashes[0],
    )
    scenario.feedback("long ago", "negative", about=about)
    found = one(scenario.feedback(turn, "positive", about=forged), FeedbackApplied)

    assert said(scenario.turns[-2], FeedbackApplied)
    assert found.heuristic_id == ID
    assert dict(pair(scenario).signals[0].votes) == {"user": 1.0}


def test_harsh_and_gentle_people_weigh_less_where_that_is_wanted() -> None:
    """What somebody says of everything tells little; what they rarely say counts whole."""

    def after(last: str, *, calibrate: bool) -> float:
        scenario = start(calibrate_raters=calibrate)
        for _ in range(30):
            scenario.feedback(scenario.sense("dusk falls", salience=THREAT), "negative")
        scenario.feedback(advised(scenario), last)
        return pair(scenario).confidence

    assert after("negative", calibrate=False) == 0.357143
    assert after("negative", calibrate=True) == 0.454545  # 1 / (2 + 0.8 * 0.25)
    assert after("positive", calibrate=True) == after("positive", calibrate=False)


def test_a_base_is_known_whether_or_not_it_weighs() -> None:
    """So that a replay can tell what calibrating would have made of the same votes."""
    scenario = start()
    for _ in range(10):
        scenario.feedback(scenario.sense("dusk falls", salience=THREAT), "positive")
    turn = advised(scenario)
    for _ in range(2):
        scenario.feedback(turn, "positive")

    rater = scenario.mind.raters["user"]
    assert (rater.count, rater.total) == (11, 11.0)
    assert dict(pair(scenario).signals[0].bases) == {"user": 0.5}
