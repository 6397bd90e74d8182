"""Goals: which of them a model is told, for which events, and what the arm covers."""

from typing import Any

from handlers.mind.turn import Turn
from schemas.messages.asks import ModelAsked
from schemas.messages.controls import GoalsSet, MindStarted
from schemas.messages.decisions import Decided
from schemas.values.settings import MatchLimits
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.factories import pack
from tests.scenario import Scenario, applied, one, output

GARDEN = pack()
LIMITS = MatchLimits(match=0.6, duplicate=0.9, endorse=0.6, goal=0.4)
WATER, ROSES, SLEEP = "water the garden", "grow red roses", "sleep well at night"


def living(*, choose: int = 0, **settings: Any) -> Scenario:
    """A scenario with a model that is asked about everything."""
    return Scenario(
        GARDEN,
        model=factories.MODEL,
        relevance=0.0,
        limits=LIMITS,
        goals_choose=choose,
        **settings,
    )


def told(turn: Turn) -> list[str]:
    """The goals in the prompt."""
    lines = one(turn, ModelAsked).system.splitlines()
    return [line[2:] for line in lines if line.startswith("- ")]


def test_goals_of_a_domain_count_for_its_events_besides_the_agent_s_own() -> None:
    """The pack's events are told both, another source's the agent's own alone."""
    scenario = living()
    applied(scenario.control(GoalsSet(goals=(SLEEP,))))
    applied(scenario.control(GoalsSet(goals=(WATER, SLEEP), domain="garden")))

    here = scenario.sense("dusk falls")
    elsewhere = scenario.wait(1).sense("the door rings", source="home", type_="door")

    assert told(here) == [SLEEP, WATER]
    assert told(elsewhere) == [SLEEP]
    assert one(here, Decided).goals is None
    assert one(here, Decided).arm == one(elsewhere, Decided).arm


def test_goals_of_a_domain_stand_besides_those_of_the_settings() -> None:
    """An agent that set none of its own keeps what the settings say."""
    scenario = living(goals=(SLEEP,))
    scenario.control(GoalsSet(goals=(WATER,), domain="garden"))

    assert told(scenario.sense("dusk falls")) == [SLEEP, WATER]


def test_other_goals_of_a_domain_take_the_place_of_the_first() -> None:
    """What is set is all that counts for the domain; nothing set is none."""
    scenario = living()
    scenario.control(GoalsSet(goals=(WATER,), domain="garden"))
    first = one(scenario.sense("dusk falls"), Decided)
    scenario.control(GoalsSet(goals=(ROSES,), domain="garden"))
    second = scenario.wait(60).sense("the sun is gone")
    scenario.control(GoalsSet(goals=(), domain="garden"))
    third = scenario.wait(60).sense("a hedgehog comes")

    assert told(second) == [ROSES]
    assert told(third) == []
    assert len(scenario.mind.domain_goals) == len(scenario.mind.goal_vectors) == 0
    arms = [first.arm, one(second, Decided).arm, one(third, Decided).arm]
    assert len(set(arms)) == 3


def test_the_goals_that_an_event_is_about_are_chosen_and_recorded() -> None:
    """The nearest come first, no more than were wanted, none under the limit."""
    scenario = living(choose=2)
    scenario.control(GoalsSet(goals=(SLEEP, WATER, ROSES)))

    turn = scenario.sense("water the dry garden and the red roses")

    chosen = one(turn, Decided).goals
    assert chosen is not None
    assert [each.text for each in chosen] == [WATER, ROSES]
    assert chosen[0].similarity > chosen[1].similarity >= LIMITS.goal
    assert told(turn) == [WATER, ROSES]


def test_a_choice_is_no_part_of_the_arm_but_what_may_be_chosen_is() -> None:
    """Events with other goals share an arm; other goals, or another number, do not."""
    scenario = living(choose=1)
    scenario.control(GoalsSet(goals=(SLEEP, WATER)))
    first = scenario.sense("water for the garden")
    second = scenario.wait(60).sense("to sleep at night")
    scenario.control(GoalsSet(goals=(SLEEP, WATER, ROSES)))
    third = scenario.wait(60).sense("water in the garden")

    assert told(first) != told(second)
    assert one(first, Decided).arm == one(second, Decided).arm
    assert told(first) == told(third)
    assert one(first, Decided).arm != one(third, Decided).arm


def test_all_goals_count_where_none_is_near_or_there_is_nothing_to_choose() -> None:
    """An event about no goal is judged by all of them, and no choice is recorded."""
    scenario = living(choose=1)
    scenario.control(GoalsSet(goals=(SLEEP, WATER)))
    about_none = scenario.sense("the door rings")
    scenario.control(GoalsSet(goals=(SLEEP,)))
    only_one = scenario.wait(60).sense("a hedgehog comes")

    assert told(about_none) == [SLEEP, WATER]
    assert one(about_none, Decided).goals is None
    assert told(only_one) == [SLEEP]
    assert one(only_one, Decided).goals is None


def test_goals_of_the_settings_are_chosen_from_too() -> None:
    """Their vectors come with the start of the mind; without a choice nobody needs them."""
    scenario = living(choose=1, goals=(SLEEP, WATER))
    assert told(scenario.sense("water the garden now")) == [WATER]
    assert set(scenario.state.shared.goal_vectors) == {SLEEP, WATER}

    assert len(living(goals=(SLEEP,)).state.shared.goal_vectors) == 0


def test_goals_without_a_vector_of_the_embedder_in_force_are_never_near() -> None:
    """What another embedder made says nothing, and what none made neither."""
    without = living(choose=1)
    without.vectorless = True
    without.control(GoalsSet(goals=(SLEEP, WATER)))
    assert told(without.sense("water")) == [SLEEP, WATER]
    without.vectorless = False
    assert told(without.wait(60).sense("water the garden")) == [SLEEP, WATER]

    other = living(choose=1)
    other.control(GoalsSet(goals=(SLEEP, WATER)))
    other.embed = lambda text: factories.embed(text)[:512]  # type: ignore[method-assign]
    assert told(other.sense("water the garden")) == [SLEEP, WATER]


def test_a_prediction_is_asked_for_by_the_goals_of_its_answer() -> None:
    """Success is measured by what the model was told, whatever was set meanwhile."""
    scenario = living(choose=1, prediction="separate")
    scenario.control(GoalsSet(goals=(SLEEP, WATER)))
    asked = scenario.sense("water for the garden")
    scenario.control(GoalsSet(goals=(ROSES,)))

    predicted = scenario.wait(1).answer_model(asked, '{"response": "Use the can."}')

    assert told(asked) == told(predicted) == [WATER]
    ask = output(predicted, ModelAsked).message
    assert isinstance(ask, ModelAsked)
    assert ask.purpose == "prediction"


def test_there_are_goals_for_so_many_domains_and_no_more() -> None:
    """The state stays bounded; what was set last is there."""
    scenario = living()
    for number in range(66):
        scenario.control(GoalsSet(goals=(f"goal {number}",), domain=f"d{number:02}"))

    assert len(scenario.mind.domain_goals) == 64
    assert len(scenario.mind.goal_vectors) == 64
    assert "d65" in scenario.mind.domain_goals


def test_a_mind_may_start_anew_with_other_goals() -> None:
    """What the settings say later takes the place of what they said."""
    scenario = living(choose=1, goals=(SLEEP, WATER))
    started = factories.mind_started(
        goals=(ROSES, SLEEP), goals_choose=1, model=factories.MODEL, limits=LIMITS
    )
    assert isinstance(started, MindStarted)
    scenario.control(started, agent=SHARED_AGENT)

    assert set(scenario.state.shared.goal_vectors) == {ROSES, SLEEP}
