"""Counted once: a changed vote, a changed preset and a changed declaration."""

from typing import Any

import pytest
from msgspec.structs import replace

from projections.folds.learning import raters
from schemas.messages.controls import HeuristicEdited, HeuristicSeeded
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import Endorsed
from schemas.state.agent import STRANGER, Rapport
from schemas.state.evidence import Rater
from schemas.values.bounded_map import Bounded
from schemas.values.learning_settings import (
    SEED_LEARNING,
    LearningSettings,
    LearningWeights,
)
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.factories import heuristic, pack, plain_learning
from tests.scenario import Scenario, decision_id, said

THREAT = {"threat": 0.9}
GARDEN = pack(heuristic("low", "health low", "Drink.", confidence=0.5))
ID, CONTENT = GARDEN.ids[0], GARDEN.content_hashes[0]


def start(**settings: Any) -> Scenario:
    """A scenario in which the heuristic answers."""
    return Scenario(GARDEN, threshold=0.1, **settings)


def seeded(confidence: float = 0.5, text: str = "Rest.") -> HeuristicSeeded:
    """A heuristic that a person teaches."""
    return HeuristicSeeded(
        heuristic_id="h",
        name="rest",
        domain="game",
        condition="very tired",
        text=text,
        confidence=confidence,
    )


def taught_confidence(scenario: Scenario) -> float:
    """What the taught heuristic is trusted with."""
    decided = scenario.decide("very tired", type_="mood", salience=THREAT)
    (known,) = [each for each in decided.candidates if "heuristic:h@" in each.arm]
    assert known.confidence is not None
    return known.confidence


def confidence(scenario: Scenario) -> float:
    """What the pack's heuristic is trusted with."""
    return scenario.belief(ID, CONTENT).confidence


def forgetful(scenario: Scenario) -> None:
    """Let a person's vote on everything but something else be forgotten."""
    me = scenario.mind
    rater, rapport = me.raters["user"], me.rapport["user"]
    votes = Bounded[str, float](1).set("another", 1.0)
    deltas = Bounded[str, float](1).set("another", 0.01)
    me = replace(
        me,
        raters=me.raters.set("user", replace(rater, count=2, votes=votes)),
        rapport=me.rapport.set("user", replace(rapport, deltas=deltas)),
    )
    scenario.state = replace(
        scenario.state, agents=scenario.state.agents.set(scenario.agent, me)
    )


def test_a_changed_vote_counts_once_though_its_rater_forgot_it() -> None:
    """The decision remembers who said what of it."""
    scenario = start()
    turn = scenario.sense("health low", salience=THREAT)
    scenario.feedback(turn)
    forgetful(scenario)
    stood = scenario.mind.rapport["user"]
    scenario.feedback(turn, "negative")

    assert scenario.mind.raters["user"].count == 2
    assert scenario.mind.rapport["user"] == stood


def test_a_rater_who_is_new_again_has_nothing_to_take_back() -> None:
    """Of what came before it nothing is in its sum."""
    people = raters.voted(STRANGER.raters, "ada", "other", 1.0)
    people = raters.voted(people, "ada", "old", -1.0, before=1.0)

    assert people["ada"] == Rater(
        count=2,
        total=0.0,
        votes=Bounded[str, float](1_000).set("other", 1.0).set("old", -1.0),
    )
    assert Rapport().deltas.limit == people["ada"].votes.limit


def test_a_changed_vote_counts_once_though_an_edit_kept_it() -> None:
    """The vote on the fire changes wherever it is held."""
    scenario = start()
    scenario.control(seeded())
    turn = scenario.sense("very tired", type_="mood", salience=THREAT)
    scenario.feedback(turn)
    scenario.control(HeuristicEdited(heuristic_id="h", text="Sleep.", keep=True))
    scenario.feedback(turn, "negative")

    believed = scenario.mind.beliefs
    old, new = sorted(believed, key=lambda key: len(believed[key].signals[0].votes))
    votes = [believed[key].signals[0].votes["user"] for key in (old, new)]
    assert votes == [-1.0, -1.0]
    assert taught_confidence(scenario) == 0.357143
    # Another person's opinion is about the words that were said.
    scenario.feedback(turn, "negative", actor="kim")
    assert taught_confidence(scenario) == 0.357143


def test_a_changed_preset_reads_the_same_facts_again_at_once() -> None:
    """A thumbs-up raises what is believed, as it must."""
    scenario = start()
    for _ in range(5):
        scenario.feedback(scenario.sense("health low", salience=THREAT))
    assert confidence(scenario) == 0.833333

    whole = plain_learning(weights=LearningWeights(explicit=2.0))
    changed = factories.mind_started(threshold=0.1, learning=whole)
    scenario.control(changed, agent=SHARED_AGENT)
    assert confidence(scenario) == 0.916667

    scenario.control(factories.mind_started(threshold=0.1), agent=SHARED_AGENT)
    assert confidence(scenario) == 0.833333


@pytest.mark.parametrize(
    ("learning", "expected"), [(plain_learning(), 0.736842), (SEED_LEARNING, 0.666667)]
)
@pytest.mark.parametrize("first", ["vote", "outcome"])
def test_by_the_seed_s_preset_the_first_signal_of_a_fire_is_final(
    learning: LearningSettings, expected: float, first: str
) -> None:
    """An outcome and a thumb are two entries, of which one counts."""
    scenario = start(learning=learning)
    turn = scenario.sense("health low", salience=THREAT)
    ways = {
        "vote": lambda: scenario.feedback(turn),
        "outcome": lambda: scenario.sense(
            "done", in_reply_to=decision_id(turn), outcome="succeeded"
        ),
    }
    for way in (ways.pop(first), *ways.values()):
        way()

    held = scenario.belief(ID, CONTENT)
    assert len(held.signals) == 2
    assert held.confidence == pytest.approx(expected, abs=1e-6)
    assert held.success_count == 1


def test_what_is_taught_again_counts_from_what_is_declared_now() -> None:
    """The evidence stays; it speaks for, or against, the new declaration."""
    scenario = start()
    scenario.control(seeded(0.5))
    turn = scenario.sense("very tired", type_="mood", salience=THREAT)
    scenario.feedback(turn, "negative")
    assert taught_confidence(scenario) == 0.357143

    scenario.control(seeded(0.9))
    assert taught_confidence(scenario) == 0.642857
    scenario.control(seeded(0.5))
    assert taught_confidence(scenario) == 0.357143


def test_taught_again_without_evidence_it_is_what_is_declared() -> None:
    """Nothing speaks against the new declaration."""
    scenario = start()
    scenario.control(seeded(0.5))
    scenario.control(seeded(0.9))

    assert taught_confidence(scenario) == 0.9


@pytest.mark.parametrize(
    ("declared", "stars", "expected"),
    [(0.9, 4, 0.857143), (0.6, 4, 0.642857), (0.5, 3, 0.5), (0.9, 3, 0.785714)],
)
def test_stars_are_a_share_of_success(
    declared: float, stars: int, expected: float
) -> None:
    """Four of five say that it is three quarters good: less than .9, more than .6."""
    scenario = start()
    scenario.control(seeded(declared))
    scenario.tell(FeedbackGiven(heuristic_id="h", rating="scaled", stars=stars))

    assert taught_confidence(scenario) == expected


def test_an_event_without_a_vector_carries_a_flag() -> None:
    """Whoever reads the decision sees that nothing could match."""
    scenario = start()
    scenario.vectorless = True

    assert scenario.decide("health low", salience=THREAT).flags == ("no_vector",)
    scenario.vectorless = False
    assert scenario.decide("health low", salience=THREAT).flags == ()


@pytest.mark.parametrize(
    ("event", "fields", "endorsed"),
    [
        ("health low", {"health": 2}, True),
        ("health low", {"health": 7}, False),
        ("a cow stands near", {"health": 2}, False),
    ],
)
def test_only_what_would_have_answered_is_endorsed(
    event: str, fields: dict[str, int], endorsed: bool
) -> None:
    """Condition and `when` hold of the event."""
    low = pack(heuristic("low", "health low", "Drink now.", 0.3, when="health <= 3"))
    scenario = Scenario(
        low, model=factories.MODEL, relevance=0.0, withhold=1.0, endorsement=True
    )

    turn = scenario.answer_model(scenario.sense(event, fields=fields), "Drink now.")

    assert bool(said(turn, Endorsed)) is endorsed
