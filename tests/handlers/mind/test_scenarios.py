"""Six scenarios of an executive, from the event to what is learnt from it."""

from typing import Any

import pytest

from echoic.embedders import WordLlamaEmbedder
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed, Decided, HeuristicFired
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from schemas.packs.compiled import compile_pack
from schemas.state.evidence import Belief
from schemas.values.settings import MatchLimits
from schemas.values.vectors import Vector
from tests import factories
from tests.factories import heuristic, pack, pattern
from tests.scenario import Scenario, names, one, said

ADVISOR = pack(
    heuristic("health_v1", "player health is low", "Drink the red potion.", 0.8),
    heuristic("enemy_v1", "an enemy comes near", "Draw your sword.", 0.65),
    name="game-advisor",
    types=("health", "enemy", "story"),
    context="You are advising a player in a survival game.",
    patterns=[
        pattern("health", "player died", 60, success=False),
        pattern("health", "health restored", 120),
        pattern("enemy", "enemy defeated", 30),
    ],
)
LOW: dict[str, Any] = {"type_": "health", "salience": {"threat": 0.9}}


def belief(scenario: Scenario, row: int = 0) -> Belief:
    """What is believed of a heuristic of the pack."""
    return scenario.belief(ADVISOR.ids[row], ADVISOR.content_hashes[row])


def test_1_a_confident_heuristic_fires_and_is_delivered() -> None:
    """System 1: the cached action goes out, and the fire is on record."""
    scenario = Scenario(ADVISOR, model=factories.MODEL)
    turn = scenario.sense("player health is low", **LOW)

    assert names(turn) == ["Decided", "HeuristicFired", "DeliveryAsked"]
    decided, delivery = one(turn, Decided), one(turn, DeliveryAsked)
    assert (decided.path, decided.domain) == ("heuristic", "game-advisor")
    assert delivery.text == decided.text == "Drink the red potion."
    assert delivery.event_id == turn.input.id
    assert one(turn, HeuristicFired).heuristic_id == ADVISOR.ids[0]
    assert (belief(scenario).fire_count, belief(scenario).last_fired) == (
        1,
        factories.NOON,
    )


def test_2_an_unsure_heuristic_is_a_hint_to_the_model() -> None:
    """System 2 with a suggestion: the model decides what is said."""
    scenario = Scenario(ADVISOR, model=factories.MODEL)
    turn = scenario.sense("an enemy comes near", type_="enemy")
    told = scenario.wait(2).answer_model(turn, "Hide behind the tree.")

    assert names(turn) == ["Decided", "HeuristicFired", "ModelAsked"]
    assert one(turn, HeuristicFired).mode == "suggested"
    assert one(turn, Decided).matched_heuristic_id == ADVISOR.ids[1]
    asked = one(turn, ModelAsked)
    assert "Draw your sword." in asked.prompt
    assert "survival game" in asked.system
    assert names(told) == ["Handled", "Completed", "DeliveryAsked"]
    assert one(told, DeliveryAsked).text == "Hide behind the tree."
    assert len(scenario.mind.beliefs) == 0


def test_3_without_a_match_the_model_starts_cold() -> None:
    """System 2 from scratch."""
    scenario = Scenario(ADVISOR, model=factories.MODEL)
    turn = scenario.sense("a strange door stands open", type_="story")
    told = scenario.answer_model(turn, "Look inside.")

    assert names(turn) == ["Decided", "ModelAsked"]
    assert one(turn, Decided).matched_heuristic_id is None
    assert one(told, Completed).path == "llm"


@pytest.mark.parametrize(
    ("rating", "confidence", "rapport"),
    [("positive", 0.857143, 0.525), ("negative", 0.571429, 0.45)],
    ids=["4_positive", "5_negative"],
)
def test_feedback_moves_confidence(
    rating: str, confidence: float, rapport: float
) -> None:
    """Scenarios 4 and 5: a thumb up raises it, a thumb down lowers it."""
    scenario = Scenario(ADVISOR)
    turn = scenario.sense("player health is low", **LOW)
    applied = one(scenario.wait(5).feedback(turn, rating), FeedbackApplied)

    assert applied.heuristic_id == ADVISOR.ids[0]
    assert confidence == belief(scenario).confidence
    assert rapport == scenario.mind.rapport["user"].value


@pytest.mark.parametrize(
    ("text", "outcome", "confidence"),
    [("health restored", "success", 0.866667), ("player died", "fail", 0.533333)],
)
def test_6_an_outcome_is_credited_to_the_fire(
    text: str, outcome: str, confidence: float
) -> None:
    """What the world shows within its time moves confidence by itself."""
    scenario = Scenario(ADVISOR)
    turn = scenario.sense("player health is low", **LOW)
    shown = one(scenario.wait(20).sense(text, type_="story"), OutcomeObserved)

    assert shown.outcome == outcome
    assert shown.fire_id == turn.outputs[1].id
    assert confidence == belief(scenario).confidence
    assert belief(scenario).success_count == (outcome == "success")


def test_silence_after_a_models_answer_credits_no_heuristic() -> None:
    """The person never saw the heuristic's action, so nothing speaks for it."""
    scenario = Scenario(ADVISOR, model=factories.MODEL)
    scenario.answer_model(scenario.sense("an enemy comes near", type_="enemy"), "Hide.")
    scenario.wait(3600).sense("enemy defeated", type_="story")

    assert not [
        each for each in scenario.outputs() if isinstance(each, OutcomeObserved)
    ]
    assert len(scenario.mind.beliefs) == 0


class RealLife(Scenario):
    """A scenario whose texts mean what they say."""

    embedder = WordLlamaEmbedder()

    def embed(self, text: str) -> Vector:
        """The vector of the bundled word table."""
        return self.embedder.embed([text])[0]


@pytest.mark.parametrize(
    ("condition", "when", "event", "fields"),
    [
        ("player health is low", 'level = "low"', "player health is full", "full"),
        ("Health dropped to 2 of 9", "level <= 3", "Health dropped to 8 of 9", 8),
        (
            "The kitchen light is on",
            'level = "on"',
            "The kitchen light is not on",
            "off",
        ),
    ],
)
def test_opposites_never_fire_each_other(
    condition: str, when: str, event: str, fields: object
) -> None:
    """They are nearly the same to any embedder; what differs is in the fields."""
    limits = RealLife.embedder.limits
    manifest = pack(heuristic("h", condition, "Do something.", when=when)).pack
    garden = compile_pack(manifest, RealLife.embedder.embed([condition]))
    scenario = RealLife(
        garden,
        limits=MatchLimits(
            match=limits.match, duplicate=limits.duplicate, endorse=limits.endorse
        ),
    )
    decided = scenario.decide(event, fields={"level": fields}, salience={"threat": 0.9})

    assert decided.path == "rejected"
    (missed, _) = decided.candidates
    assert missed.similarity is not None
    assert missed.similarity > limits.match
    assert missed.reason is not None
    assert missed.reason.startswith("when: level")
    assert not said(scenario.turns[-1], HeuristicFired)
