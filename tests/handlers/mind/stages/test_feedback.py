"""Learning: what votes count for, and for whom."""

from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.controls import HeuristicSeeded
from schemas.messages.decisions import HeuristicFired
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied, FeedbackRefused, LifecycleChanged
from schemas.state.evidence import Belief
from schemas.values.learning_settings import SEED_LEARNING
from tests import factories
from tests.factories import heuristic, pack
from tests.scenario import Scenario, decision_id, one, output, said

THREAT = {"threat": 0.9}
GARDEN = pack(heuristic("low", "health low", "Drink.", confidence=0.5))
ID = GARDEN.ids[0]


def advised(scenario: Scenario, **event: Any) -> Turn:
    """An event that the heuristic answered: the threshold is down to its confidence."""
    return scenario.sense("health low", salience=THREAT, **event)


def start(**settings: Any) -> Scenario:
    """A scenario in which the heuristic answers."""
    return Scenario(GARDEN, threshold=0.3, **settings)


def belief(scenario: Scenario) -> Belief:
    """What is believed of the heuristic."""
    return scenario.belief(ID, GARDEN.content_hashes[0])


def test_a_vote_credits_the_heuristic_that_was_seen() -> None:
    """It names the fire, the heuristic and its content."""
    scenario = start()
    turn = advised(scenario)
    applied = one(scenario.feedback(turn, comment="thanks"), FeedbackApplied)

    assert applied == FeedbackApplied(
        decision_id=decision_id(turn),
        fire_id=output(turn, HeuristicFired).id,
        heuristic_id=ID,
        content_hash=GARDEN.content_hashes[0],
        actor="user",
        value=1.0,
        comment="thanks",
        age_s=0.0,
    )
    assert belief(scenario).confidence == 0.642857


@pytest.mark.parametrize(
    ("rating", "confidence"), [("positive", 0.666667), ("negative", 0.333333)]
)
def test_with_whole_votes_the_first_is_a_third_or_two(
    rating: str, confidence: float
) -> None:
    """The preset of whole observations gives 2/3 and 1/3."""
    scenario = start(learning=SEED_LEARNING)
    scenario.feedback(advised(scenario), rating)

    assert confidence == belief(scenario).confidence


def test_a_scaled_vote_counts_by_its_value() -> None:
    """Half a thumb up is worth half."""
    scenario = start()
    applied = one(
        scenario.feedback(advised(scenario), "scaled", value=0.5), FeedbackApplied
    )

    assert applied.value == 0.5
    assert belief(scenario).confidence == pytest.approx(
        (1 + 0.8 * 0.75) / 2.8, abs=1e-6
    )


def test_down_after_up_counts_once_as_down() -> None:
    """The latest vote of an actor replaces the earlier one, in confidence and rapport."""
    changed, down = start(), start()
    turn = advised(changed)
    changed.feedback(turn, "positive")
    changed.feedback(turn, "negative")
    down.feedback(advised(down), "negative")

    assert belief(changed).confidence == belief(down).confidence == 0.357143
    assert changed.mind.rapport["user"].value == down.mind.rapport["user"].value == 0.45


def test_three_clicks_count_once() -> None:
    """Each is applied, and together they weigh as one."""
    scenario = start()
    turn = advised(scenario)
    for _ in range(3):
        assert said(scenario.feedback(turn, "negative"), FeedbackApplied)

    assert belief(scenario).confidence == 0.357143
    assert scenario.mind.rapport["user"].value == 0.45


def test_several_people_are_heard_as_one() -> None:
    """One up and one down leave confidence where the prior had it."""
    scenario = start()
    turn = advised(scenario)
    scenario.feedback(turn, "positive", actor="bo")
    scenario.feedback(turn, "negative", actor="cy")

    assert belief(scenario).confidence == 0.5
    assert scenario.mind.rapport["bo"].value == 0.525
    assert scenario.mind.rapport["cy"].value == 0.45


def test_a_vote_on_an_unknown_decision_is_refused() -> None:
    """With the reason, and without a trace in what is believed."""
    scenario = start()
    refused = one(scenario.feedback("no-such-decision"), FeedbackRefused)

    assert refused.reason == "unknown_decision"
    assert "no-such-decision" in refused.detail
    assert len(scenario.mind.rapport) == 0


def test_a_vote_on_silence_moves_rapport_alone() -> None:
    """Nobody answered, so nobody is credited."""
    scenario = start()
    applied = one(
        scenario.feedback(scenario.sense("dusk falls"), "negative"), FeedbackApplied
    )

    assert applied.heuristic_id is None
    assert scenario.mind.rapport["user"].value == 0.45
    assert len(scenario.mind.beliefs) == 0


def test_a_vote_on_the_models_words_credits_no_heuristic() -> None:
    """The best candidate is named on the decision, and earns nothing by it."""
    scenario = Scenario(GARDEN, model=factories.MODEL)
    turn = advised(scenario)
    scenario.answer_model(turn)
    applied = one(scenario.feedback(turn, "negative"), FeedbackApplied)

    assert applied.heuristic_id is None
    assert applied.fire_id is None
    assert len(scenario.mind.beliefs) == 0
    assert scenario.mind.rapport["user"].value == 0.45


def test_a_vote_may_name_the_heuristic_itself() -> None:
    """It is one entry of its own, and says nothing of how the person feels."""
    scenario = start()
    vote = FeedbackGiven(heuristic_id=ID, rating="negative")
    applied = one(scenario.tell(vote), FeedbackApplied)
    scenario.tell(vote)

    assert applied.heuristic_id == ID
    assert applied.decision_id is None
    assert belief(scenario).confidence == 0.357143
    assert len(scenario.mind.rapport) == 0


def test_a_vote_on_an_unknown_heuristic_is_refused() -> None:
    """A name nobody knows cannot be credited."""
    vote = FeedbackGiven(heuristic_id="nobody", rating="positive")
    refused = one(start().tell(vote), FeedbackRefused)

    assert refused.reason == "unknown_heuristic"


def test_a_taught_heuristic_can_be_voted_on() -> None:
    """Its declared confidence is its prior."""
    scenario = Scenario()
    seed = HeuristicSeeded(
        heuristic_id="h",
        name="h",
        domain="game",
        condition="health low",
        text="Rest.",
        confidence=0.3,
    )
    scenario.control(seed)
    scenario.tell(FeedbackGiven(heuristic_id="h", rating="negative"))

    (held,) = scenario.mind.beliefs.values()
    assert (held.declared, held.confidence) == (0.3, 0.214286)


def test_a_deprecated_heuristic_is_announced_and_still_fires() -> None:
    """Below 0.3 it is flagged, and remains a choice."""
    garden = pack(heuristic("low", "health low", "Drink.", confidence=0.3))
    scenario = Scenario(garden, strategy={"name": "random", "parameters": {}})
    vote = FeedbackGiven(heuristic_id=garden.ids[0], rating="negative")

    assert one(scenario.tell(vote), LifecycleChanged) == LifecycleChanged(
        heuristic_id=garden.ids[0],
        content_hash=garden.content_hashes[0],
        before="active",
        after="deprecated",
        confidence=0.214286,
    )
    assert any(
        said(scenario.sense("health low", salience=THREAT), HeuristicFired)
        for _ in range(9)
    )


def test_a_heuristic_that_always_fails_is_frozen() -> None:
    """Failure by failure it comes down to the last limit, and is silent from there."""
    garden = pack(heuristic("low", "health low", "Drink.", confidence=0.3))
    scenario = Scenario(garden, strategy={"name": "random", "parameters": {}})
    changes = []
    for _ in range(40):
        turn = scenario.sense("health low", salience=THREAT)
        if said(turn, HeuristicFired):
            report = scenario.sense(
                "hm", in_reply_to=decision_id(turn), outcome="failed"
            )
            changes += said(report, LifecycleChanged)

    assert [each.after for each in changes] == ["deprecated", "frozen"]
    assert changes[1].confidence < 0.1
    assert belief_of(scenario, garden.ids[0]).fire_count == 5
    assert scenario.decide("health low", salience=THREAT).arm == "silent"


def belief_of(scenario: Scenario, heuristic_id: str) -> Belief:
    """What is believed of the only content of a heuristic."""
    (held,) = (
        scenario.mind.beliefs[key]
        for key in scenario.mind.beliefs
        if key.startswith(heuristic_id)
    )
    return held
