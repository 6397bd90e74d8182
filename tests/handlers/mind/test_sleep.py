"""Sleep: an agent looks back, and proposes what to change; nothing changes by itself."""

from dataclasses import replace

import pytest

from schemas.messages.asks import ModelAsked
from schemas.messages.controls import SleepRequested as Sleep
from schemas.messages.learning import Endorsed
from schemas.messages.sleep import Reflected, SleepBegun, SleepEnded
from schemas.values.settings import SleepSettings
from tests import factories
from tests.factories import heuristic, pack
from tests.handlers.mind.sleepers import (
    EVENT,
    GARDEN,
    SAID,
    lived,
    living,
    taught,
    told,
)
from tests.life import Life, names, one, said


def test_a_sleep_asks_again_about_what_happened_and_shows_nothing_known() -> None:
    """The prompt is that of the day without candidates, and nobody waits for it."""
    life = living(withhold=0.0)
    taught(life, "eat", "Have a meal.", condition=EVENT)
    decided = lived(life)
    assert "Have a meal." in said(life.turns[-2], ModelAsked)[0].prompt

    turn = life.wait(60).control(Sleep())

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
    assert asked.system == said(life.turns[-3], ModelAsked)[0].system
    assert life.mind.moments == ()


def test_an_answer_is_compared_with_what_was_done_and_endorses_what_says_the_same() -> (
    None
):
    """A heuristic that was shown on the day is endorsed now, for now it could not be copied."""
    life = living(withhold=0.0)
    taught(life, "eat", condition=EVENT)
    decided = lived(life, answer="Rest for a while instead.")
    turn = life.wait(60).control(Sleep())

    ended = told(life, turn, SAID)

    assert names(ended) == ["Handled", "Reflected", "Endorsed", "SleepEnded"]
    reflected = one(ended, Reflected)
    assert (reflected.decision_id, reflected.agrees) == (decided, False)
    assert (reflected.text, reflected.done) == (SAID, "Rest for a while instead.")
    assert reflected.alike == ("eat",)
    assert one(ended, Endorsed).decision_id == decided
    end = one(ended, SleepEnded)
    assert (end.reason, end.reflected, end.agreed, end.differed) == ("done", 1, 0, 1)
    assert life.mind.sleeping is None
    slept = life.mind.slept
    assert slept is not None
    assert (slept.reason, slept.reflections[0].done) == ("done", reflected.done)
    assert life.mind.timers == ()


def test_a_heuristic_is_endorsed_once_for_a_decision() -> None:
    """What a model said on the day, unseen, it does not say again for more credit."""
    life = living()
    taught(life, "eat", condition="something of another kind")
    lived(life)
    assert one(life.turns[-1], Endorsed).heuristic_id == "eat"

    turn = told(life, life.wait(60).control(Sleep()), SAID)

    assert one(turn, Reflected).alike == ("eat",)
    assert said(turn, Endorsed) == []


def test_nothing_is_endorsed_where_that_is_off() -> None:
    """A sleep credits by the same settings as the day."""
    life = living(endorsement=False)
    taught(life, "eat", condition="something of another kind")
    lived(life)

    turn = told(life, life.wait(60).control(Sleep()), SAID)

    assert names(turn) == ["Handled", "Reflected", "SleepEnded"]


def test_a_sleep_looks_at_one_event_after_the_other_and_at_each_once() -> None:
    """The oldest first, never two at a time; the next sleep finds nothing left."""
    life = living(formation=False)
    first = lived(life)
    second = lived(life, "the rain is over")

    turn = life.wait(60).control(Sleep())
    assert one(turn, ModelAsked).decision_id == first
    turn = told(life, turn, "Wait.")
    assert names(turn) == ["Handled", "Reflected", "ModelAsked"]
    assert one(turn, ModelAsked).decision_id == second
    told(life, turn, "Go out.")

    again = life.wait(60).control(Sleep())
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
    life = living(sleep={"limit": 3})
    decided = [lived(life, f"event number {number}") for number in range(5)]

    turn = life.wait(60).control(control)

    assert one(turn, SleepBegun).decisions == tuple(decided[5 - count :])
    assert len(life.mind.moments) == 4 - bool(count)


def test_only_what_a_strategy_decided_and_what_is_not_too_long_is_remembered() -> None:
    """A gate that closed has nothing to be decided again; the state stays small."""
    life = living(relevance=0.5, model=None)
    life.sense("a leaf falls", intent="informational")
    life.wait(60).sense("x" * 4_001, salience={"threat": 0.9})
    assert life.mind.moments == ()

    forgetful = Life(GARDEN, model=factories.MODEL, relevance=0.0)
    lived(forgetful)
    assert forgetful.mind.moments == ()


def test_what_a_heuristic_said_is_known_by_its_vector() -> None:
    """Of a pack's, of a taught one, and of one that stood by, the words are compared."""
    life = living()
    life.sense("the sun goes down over the hills")
    taught(life, "eat", condition=EVENT, confidence=0.9)
    life.wait(60).sense(EVENT)
    assert [each.said for each in life.mind.moments] == ["Go in.", SAID]
    vectors = [each.vector for each in life.mind.moments]
    assert vectors == [factories.embed("Go in."), factories.embed(SAID)]

    turn = told(life, life.wait(60).control(Sleep()), "Go in.")
    assert one(turn, Reflected).agrees is True
    turn = told(life, turn, "")
    assert one(turn, Reflected).agrees is False


def test_what_a_pack_without_vectors_says_is_not_known_by_any() -> None:
    """Of several packs the one that spoke is looked at."""
    bare = pack(heuristic("walk", "the moon is up", "Go out."), name="aaa", types=["m"])
    life = Life(
        replace(bare, action_vectors=()),
        GARDEN,
        sleep=SleepSettings(events=4),
        relevance=0.0,
    )
    life.sense("the moon is up", type_="m")
    life.wait(60).sense("the sun goes down over the hills")

    vectors = [each.vector for each in life.mind.moments]
    assert vectors == [b"", factories.embed("Go in.")]


def test_what_is_said_too_late_to_be_remembered_changes_nothing() -> None:
    """Its event was pushed out by others by then."""
    life = living(sleep={"events": 1})
    first = life.sense(EVENT)
    life.wait(1).sense("the rain is over")
    life.wait(1).answer_model(first, SAID)

    assert [each.said for each in life.mind.moments] == [""]


def test_silence_agrees_with_silence() -> None:
    """Where nothing was said and the model would say nothing, they are of one mind."""
    life = living()
    turn = life.sense(EVENT)
    life.wait(1).fail_model(turn)

    turn = told(life, life.wait(60).control(Sleep()), '{"response": ""}')

    reflected = one(turn, Reflected)
    assert (reflected.agrees, reflected.done, reflected.text) == (True, "", "")
    assert names(turn) == ["Handled", "Reflected", "SleepEnded"]


def test_without_vectors_nobody_knows_whether_two_answers_agree() -> None:
    """Other words are then neither the same nor different; the same words are."""
    life = living()
    life.vectorless = True
    lived(life)
    lived(life)
    turn = life.wait(60).control(Sleep())
    turn = told(life, turn, "Have a meal.")
    assert one(turn, Reflected).agrees is None
    assert one(told(life, turn, SAID), Reflected).agrees is True


def test_words_that_waited_for_their_prediction_are_compared_too() -> None:
    """Their vector was made when the model said them."""
    life = living(prediction="separate")
    asked = life.sense(EVENT)
    waits = life.wait(1).answer_model(asked, f'{{"response": "{SAID}"}}')
    life.wait(1).answer_model(waits, '{"predicted_success": 0.5}')
    (moment,) = life.mind.moments
    assert (moment.said, moment.vector) == (SAID, factories.embed(SAID))
