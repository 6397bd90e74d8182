"""Sleep: an agent looks back, and proposes what to change; nothing changes by itself."""

from dataclasses import replace

import pytest

from schemas.messages.asks import ModelAsked
from schemas.messages.controls import SleepRequested as Sleep
from schemas.messages.learning import Endorsed
from schemas.messages.sleep import Reflected, SleepBegun, SleepEnded
from tests import factories
from tests.factories import heuristic, pack, plain_sleep
from tests.handlers.mind.sleepers import (
    EVENT,
    GARDEN,
    SAID,
    answered_event,
    living,
    taught,
    told,
)
from tests.scenario import Scenario, names, one, said


def test_a_sleep_asks_again_about_what_happened_and_shows_nothing_known() -> None:
    """The prompt is that of the day without candidates, and nobody waits for it."""
    scenario = living(withhold=0.0)
    taught(scenario, "eat", "Have a meal.", condition=EVENT)
    decided = answered_event(scenario)
    assert "Have a meal." in said(scenario.turns[-2], ModelAsked)[0].prompt

    turn = scenario.wait(60).control(Sleep())

    assert names(turn) == ["ControlApplied", "SleepBegun", "ModelAsked"]
    begun, asked = one(turn, SleepBegun), one(turn, ModelAsked)
    assert (begun.cause, begun.apply, begun.decisions) == (
        "asked",
        "by_hand",
        (decided,),
    )
    assert (asked.purpose, asked.decision_id) == ("reflection", decided)
    assert asked.priority < 0
    assert EVENT in asked.prompt
    assert "Have a meal." not in asked.prompt
    assert asked.system == said(scenario.turns[-3], ModelAsked)[0].system
    assert scenario.mind.moments == ()


def test_an_answer_is_compared_with_what_was_done_and_endorses_what_says_the_same() -> (
    None
):
    """A heuristic that was shown on the day is endorsed now, for now it could not be copied."""
    scenario = living(withhold=0.0)
    taught(scenario, "eat", condition=EVENT)
    decided = answered_event(scenario, answer="Rest for a while instead.")
    turn = scenario.wait(60).control(Sleep())

    ended = told(scenario, turn, SAID)

    assert names(ended) == ["Handled", "Reflected", "Endorsed", "SleepEnded"]
    reflected = one(ended, Reflected)
    assert (reflected.decision_id, reflected.agrees) == (decided, False)
    assert (reflected.text, reflected.done) == (SAID, "Rest for a while instead.")
    assert reflected.alike == ("eat",)
    assert one(ended, Endorsed).decision_id == decided
    end = one(ended, SleepEnded)
    assert (end.reason, end.reflected, end.agreed, end.differed) == ("done", 1, 0, 1)
    assert scenario.mind.sleeping is None
    slept = scenario.mind.slept
    assert slept is not None
    assert (slept.reason, slept.reflections[0].done) == ("done", reflected.done)
    assert scenario.mind.timers == ()


def test_a_heuristic_is_endorsed_once_for_a_decision() -> None:
    """What a model said on the day, unseen, it does not say again for more credit."""
    scenario = living(withhold=1.0)
    taught(scenario, "eat", condition=EVENT)
    answered_event(scenario)
    assert one(scenario.turns[-1], Endorsed).heuristic_id == "eat"

    turn = told(scenario, scenario.wait(60).control(Sleep()), SAID)

    assert one(turn, Reflected).alike == ("eat",)
    assert said(turn, Endorsed) == []


def test_nothing_is_endorsed_where_that_is_off() -> None:
    """A sleep credits by the same settings as the day."""
    scenario = living(endorsement=False)
    taught(scenario, "eat", condition=EVENT)
    answered_event(scenario)

    turn = told(scenario, scenario.wait(60).control(Sleep()), SAID)

    assert names(turn) == ["Handled", "Reflected", "SleepEnded"]


def test_a_sleep_looks_at_one_event_after_the_other_and_at_each_once() -> None:
    """The oldest first, never two at a time; the next sleep finds nothing left."""
    scenario = living(formation=False)
    first = answered_event(scenario)
    second = answered_event(scenario, "the rain is over")

    turn = scenario.wait(60).control(Sleep())
    assert one(turn, ModelAsked).decision_id == first
    turn = told(scenario, turn, "Wait.")
    assert names(turn) == ["Handled", "Reflected", "ModelAsked"]
    assert one(turn, ModelAsked).decision_id == second
    told(scenario, turn, "Go out.")

    again = scenario.wait(60).control(Sleep())
    assert names(again) == ["ControlApplied", "SleepBegun", "SleepEnded"]
    assert one(again, SleepBegun).decisions == ()


@pytest.mark.parametrize(
    ("control", "count"),
    [
        (Sleep(limit=1), 1),
        (Sleep(limit=0), 0),
        (Sleep(since=factories.after(200)), 2),
        (Sleep(), 3),
    ],
)
def test_how_much_is_looked_at_is_bounded(control: Sleep, count: int) -> None:
    """By number, the latest count; by time; and by the settings."""
    scenario = living(sleep={"limit": 3})
    decided = [
        answered_event(scenario, f"event number {number}") for number in range(5)
    ]

    turn = scenario.wait(60).control(control)

    assert one(turn, SleepBegun).decisions == tuple(decided[5 - count :])
    assert len(scenario.mind.moments) == 4 - bool(count)


def test_only_what_a_strategy_decided_and_what_is_not_too_long_is_remembered() -> None:
    """A gate that closed has nothing to be decided again; the state stays small."""
    scenario = living(relevance=0.5, model=None)
    scenario.sense("a leaf falls", intent="informational")
    scenario.wait(60).sense("x" * 4_001, salience={"threat": 0.9})
    assert scenario.mind.moments == ()

    forgetful = Scenario(GARDEN, model=factories.MODEL, relevance=0.0)
    answered_event(forgetful)
    assert forgetful.mind.moments == ()


def test_what_a_heuristic_said_is_known_by_its_vector() -> None:
    """Of a pack's, of a taught one, and of one that stood by, the words are compared."""
    scenario = living()
    scenario.sense("the sun goes down over the hills")
    taught(scenario, "eat", condition=EVENT, confidence=0.9)
    scenario.wait(60).sense(EVENT)
    assert [each.said for each in scenario.mind.moments] == ["Go in.", SAID]
    vectors = [each.said_vector for each in scenario.mind.moments]
    assert vectors == [factories.embed("Go in."), factories.embed(SAID)]

    turn = told(scenario, scenario.wait(60).control(Sleep()), "Go in.")
    assert one(turn, Reflected).agrees is True
    turn = told(scenario, turn, "")
    assert one(turn, Reflected).agrees is False


def test_what_a_pack_without_vectors_says_is_not_known_by_any() -> None:
    """Of several packs the one that spoke is looked at."""
    bare = pack(heuristic("walk", "the moon is up", "Go out."), name="aaa", types=["m"])
    scenario = Scenario(
        replace(bare, action_vectors=()),
        GARDEN,
        sleep=plain_sleep(events=4),
        relevance=0.0,
    )
    scenario.sense("the moon is up", type_="m")
    scenario.wait(60).sense("the sun goes down over the hills")

    vectors = [each.said_vector for each in scenario.mind.moments]
    assert vectors == [b"", factories.embed("Go in.")]


def test_what_is_said_too_late_to_be_remembered_changes_nothing() -> None:
    """Its event was pushed out by others by then."""
    scenario = living(sleep={"events": 1})
    first = scenario.sense(EVENT)
    scenario.wait(1).sense("the rain is over")
    scenario.wait(1).answer_model(first, SAID)

    assert [each.said for each in scenario.mind.moments] == [""]


def test_silence_agrees_with_silence() -> None:
    """Where nothing was said and the model would say nothing, they are of one mind."""
    scenario = living()
    turn = scenario.sense(EVENT)
    scenario.wait(1).fail_model(turn)

    turn = told(scenario, scenario.wait(60).control(Sleep()), '{"response": ""}')

    reflected = one(turn, Reflected)
    assert (reflected.agrees, reflected.done, reflected.text) == (True, "", "")
    assert names(turn) == ["Handled", "Reflected", "SleepEnded"]


def test_without_vectors_nobody_knows_whether_two_answers_agree() -> None:
    """Other words are then neither the same nor different; the same words are."""
    scenario = living()
    scenario.vectorless = True
    answered_event(scenario)
    answered_event(scenario)
    turn = scenario.wait(60).control(Sleep())
    turn = told(scenario, turn, "Have a meal.")
    assert one(turn, Reflected).agrees is None
    assert one(told(scenario, turn, SAID), Reflected).agrees is True


def test_words_that_waited_for_their_prediction_are_compared_too() -> None:
    """Their vector was made when the model said them."""
    scenario = living(prediction="separate")
    asked = scenario.sense(EVENT)
    waits = scenario.wait(1).answer_model(asked, f'{{"response": "{SAID}"}}')
    scenario.wait(1).answer_model(waits, '{"predicted_success": 0.5}')
    (moment,) = scenario.mind.moments
    assert (moment.said, moment.said_vector) == (SAID, factories.embed(SAID))
