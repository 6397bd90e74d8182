"""What is added to salience, and what it does to the gates."""

from typing import Any

from handlers.mind.stages.response_type import response_type
from schemas.messages.decisions import Decided, Relevance
from schemas.messages.executive import TraitAdjusted, UserStateChanged
from schemas.messages.sensing import Dimension
from schemas.values.personality import USUAL_TRAITS
from tests.factories import LIMITS, heuristic, pack, plain_executive
from tests.scenario import Scenario, one

ON = plain_executive(relevance=True)
GOAL = LIMITS.model_copy(update={"goal": 0.3})
SALIENT = {"opportunity": 0.6, "novelty": 0.0}


def start(**settings: Any) -> Scenario:
    """A scenario that weighs more than salience."""
    known = heuristic("ore", "diamond ore ahead", "Mine it.", confidence=0.9)
    return Scenario(pack(known), **{"executive": ON, **settings})


def weighed(
    scenario: Scenario, text: str = "diamond ore ahead", **fields: Any
) -> Relevance:
    """What was weighed of an event."""
    decided = one(scenario.sense(text, **{"salience": SALIENT, **fields}), Decided)
    assert decided.relevance is not None
    return decided.relevance


def test_nothing_is_weighed_where_salience_alone_counts() -> None:
    """A decision has no such record then."""
    scenario = start(executive={"relevance": False})

    assert one(scenario.sense("diamond ore ahead"), Decided).relevance is None


def test_novelty_adds_up_to_a_tenth() -> None:
    """0.1 times the dimension."""
    scenario = start()

    assert weighed(scenario, salience={"novelty": 0.5}).novelty == 0.05


def test_what_was_said_already_counts_against_it() -> None:
    """For five minutes, and only in its domain."""
    scenario = start(relevance=0.05)
    first = weighed(scenario)
    again = weighed(scenario.wait(200))
    later = weighed(scenario.wait(301))

    assert first.already_said == 0.0
    assert again.already_said == -0.3
    assert later.already_said == 0.0


def test_what_the_person_is_about_counts() -> None:
    """By the cosine of the event and the focus, of that person alone."""
    scenario = start()
    scenario.control(UserStateChanged(person="ada", focus="diamond ore ahead"))

    assert weighed(scenario, person="ada").focus == 0.1
    assert weighed(scenario.wait(600), person="lee").focus == 0.0


def test_a_goal_that_the_event_is_about_adds_a_fifth() -> None:
    """Where goals are told apart by event."""
    scenario = start(
        goals=("diamond ore ahead", "sleep well"), goals_choose=1, limits=GOAL
    )

    assert weighed(scenario).goal == 0.2
    assert weighed(scenario.wait(600), "rain tomorrow").goal == 0.0


def test_the_gate_shows_the_sum() -> None:
    """What is held against the threshold is what was weighed."""
    scenario = start()
    decided = one(
        scenario.sense("diamond ore ahead", salience={"opportunity": 0.4}), Decided
    )
    gates = {each.name: each for each in decided.gates}

    assert decided.relevance is not None
    assert gates["habituation"].value == decided.relevance.score
    assert gates["relevance"].threshold == decided.relevance.threshold


def test_a_proactive_or_helpful_character_needs_less() -> None:
    """0.4 for each unit over the usual proactive 0.3, 0.1 for each of helpfulness."""
    scenario = start()
    usual = weighed(scenario)
    scenario.control(TraitAdjusted(trait="proactive", by_amount=0.2))
    scenario.control(TraitAdjusted(trait="helpfulness", by_amount=-0.5))
    moved = weighed(scenario.wait(600))

    assert (usual.by_traits, usual.threshold) == (0.0, 0.5)
    assert (moved.by_traits, moved.threshold) == (-0.03, 0.47)


def test_each_weight_is_a_setting() -> None:
    """What is set is what is added."""
    own = plain_executive(
        relevance=True,
        weight_goal=0.5,
        weight_focus=0.05,
        weight_novelty=0.4,
        weight_said=0.25,
        weight_proactive=1.0,
        weight_helpfulness=0.0,
    )
    scenario = start(
        executive=own,
        goals=("diamond ore ahead", "sleep well"),
        goals_choose=1,
        limits=GOAL,
    )
    scenario.control(UserStateChanged(focus="diamond ore ahead"))
    scenario.control(TraitAdjusted(trait="proactive", by_amount=0.2))
    scenario.control(TraitAdjusted(trait="helpfulness", by_amount=0.5))
    new = {"opportunity": 0.6, "novelty": 0.5}

    first = weighed(scenario, salience=new)
    again = weighed(scenario.wait(200), salience=new)

    assert (first.goal, first.focus, first.novelty) == (0.5, 0.05, 0.2)
    assert (first.already_said, again.already_said) == (0.0, -0.25)
    assert first.by_traits == -0.2


def test_the_type_of_an_answer_follows_character_and_context() -> None:
    """A funny event, a humorous companion, and not at work; at work it observes."""
    usual = dict(USUAL_TRAITS)
    funny: dict[Dimension, float] = {"humor": 0.6}

    assert response_type(funny, usual, None) == "suggestion"
    assert response_type(funny, usual | {"humor": 0.6}, None) == "quip"
    assert response_type(funny, usual | {"humor": 0.6}, "work") == "observation"
    assert response_type({}, usual | {"helpfulness": 0.6}, "work") == "suggestion"
    assert response_type({"humor": 0.59}, usual | {"humor": 1.0}, None) == "suggestion"
