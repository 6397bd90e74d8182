"""What mattered and ended unsaid is told to who asks what was missed, once."""

from typing import Any

import pytest

from echoic.packs import phrases
from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked
from schemas.messages.controls import PersonForgotten
from schemas.messages.decisions import Decided
from schemas.messages.executive import BreakSignalled, Muted
from tests.factories import controlled, pack, plain_executive
from tests.handlers.mind.flows.test_catching_up import LAUNDRY, busy, done, says
from tests.scenario import Scenario, one, said


def start() -> Scenario:
    """A scenario with answers that may wait, and a memory."""
    known = phrases.shipped(("en", "de"))
    return Scenario(
        pack(LAUNDRY, types=("vital", "message")),
        relevance=0.01,
        executive=plain_executive(timing=True, phrases=known, prompt_tokens=500),
    )


WASH = "the washing machine is done"


def muted(mode: Any = "mute") -> Scenario:
    """A scenario in which something came while Ana wanted peace."""
    scenario = start()
    scenario.control(Muted(mode=mode, by="ana"))
    assert one(done(scenario), Decided).silence in ("muted", "quiet")
    scenario.control(Muted(mode=mode, by="ana", off=True))
    return scenario


def text(turn: Turn) -> str:
    """What is said in a turn."""
    return " ".join(each.text for each in said(turn, DeliveryAsked))


@pytest.mark.parametrize("mode", ["mute", "quiet"])
def test_what_came_in_a_mute_is_told_once(mode: Any) -> None:
    """In the event's own words; the next question finds nothing."""
    scenario = muted(mode)

    assert text(says(scenario, "what did I miss?")) == f"You missed: {WASH}."
    assert "missed" not in text(says(scenario, "what did I miss?")).lower()


def test_the_end_of_a_mute_offers_it() -> None:
    """Whoever takes it back by words hears that there was something."""
    scenario = start()
    scenario.control(Muted(mode="mute", by="ana"))
    nothing = text(says(scenario, "unmute"))
    scenario.control(Muted(mode="mute", by="ana"))
    done(scenario)

    assert nothing == "OK, I'm back."
    assert text(says(scenario, "unmute")) == (
        "OK, I'm back. You missed something. Ask me: what did I miss?"
    )


def test_a_threat_that_a_mute_kept_back_is_told_with_its_end() -> None:
    """At once, and what else was missed is offered."""
    scenario = start()
    scenario.control(Muted(mode="mute", by="ana"))
    scenario.sense("the freezer stands open", salience={"threat": 0.9})
    told = text(says(scenario, "unmute"))
    scenario.control(Muted(mode="mute", by="ana"))
    done(scenario)

    assert told == "OK, I'm back. You missed: the freezer stands open."
    assert text(says(scenario, "unmute")) == (
        "OK, I'm back. You missed: the freezer stands open."
        " You missed something. Ask me: what did I miss?"
    )


def test_what_became_stale_is_told_in_the_words_it_had() -> None:
    """It waited for Ana to be free for longer than it was worth."""
    scenario = busy(start())
    done(scenario)
    scenario.wait(601).sense("tick", source="else", intent="informational")

    assert (
        text(says(scenario, "what did I miss?")) == "You missed: Hang up the laundry."
    )


def test_a_break_that_a_sensor_signals_takes_nothing_off_the_list() -> None:
    """Nobody asked, so nobody was told."""
    scenario = muted()
    scenario.control(BreakSignalled(person="ana", by="desk"))

    assert text(says(scenario, "what did I miss?")) == f"You missed: {WASH}."


def test_another_person_is_told_nothing_of_it() -> None:
    """What concerned Ana is hers."""
    scenario = muted()

    assert "You missed" not in text(says(scenario, "what did I miss?", person="bo"))
    assert "You missed" in text(says(scenario, "what did I miss?"))


def test_what_matters_too_little_is_not_missed() -> None:
    """Nobody would have been told of it without the mute either."""
    scenario = start()
    scenario.control(Muted(mode="mute", by="ana"))
    scenario.wait(1).sense("dust", person="ana", salience={"novelty": 0.0})
    scenario.control(Muted(mode="mute", by="ana", off=True))

    assert "You missed" not in text(says(scenario, "what did I miss?"))


def test_six_are_told_as_five_and_one_more() -> None:
    """The latest first."""
    scenario = start()
    scenario.control(Muted(mode="mute", by="ana"))
    for number in range(6):
        scenario.wait(1).sense(
            f"thing {number} came", person="ana", salience={"social": 0.9}
        )
    scenario.control(Muted(mode="mute", by="ana", off=True))

    told = text(says(scenario, "what did I miss?"))
    assert told.startswith("You missed: thing 5 came. thing 4 came.")
    assert told.endswith("thing 1 came. And 1 more.")


def test_who_is_forgotten_is_told_of_in_nothing() -> None:
    """The list goes with the person."""
    state = muted().mind
    after = controlled(state, PersonForgotten(person="ana"))

    assert state.executive.memory.missed
    assert not after.executive.memory.missed
