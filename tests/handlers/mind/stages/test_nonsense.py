"""Nonsense: what is no answer is not said, not learnt of, and told as what it is."""

import pytest

from handlers.mind.stages import completion
from handlers.mind.turn import Turn
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Dropped
from tests import factories
from tests.factories import heuristic, pack
from tests.scenario import Scenario, names, one

EVENT = (
    "A wolf howls behind the hill while the old lamp in the hut burns low and Ada, who"
    " has no fire, hears it coming closer"
)
LOOP = "I think that the wolf is near. "
PROSE = (
    "Light a fire before the wolf comes any closer, and keep the hill between you and it."
    " Wolves fear flames more than arrows. If the wood is wet, take the dry branches under"
    " the old oak, where you slept on the second night. I will keep watch with you until"
    " the moon is down, and then we can go on to the village by the river, slowly."
)


def asked() -> tuple[Scenario, ModelAsked, Turn]:
    """A scenario whose model is asked about the event."""
    scenario = Scenario(model=factories.MODEL)
    turn = scenario.sense(EVENT, salience={"threat": 0.9})
    return scenario, one(turn, ModelAsked), turn


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (EVENT.upper(), completion.ECHO),
        ("A wolf howls behind the hill while the old lamp", completion.ECHO),
        (LOOP * 40, "the answer is malformed: it repeats itself"),
        ("Run! " + "ha" * 400, "the answer is malformed: it repeats itself"),
        ("狼が来る。" * 60, "the answer is malformed: it repeats itself"),
        (PROSE + " and the" * 200, "the answer is malformed: it repeats itself"),
    ],
)
def test_nonsense_is_declined_with_its_reason(answer: str, why: str) -> None:
    """It is not said, and teaches nothing."""
    scenario, _, turn = asked()
    told = scenario.answer_model(turn, answer)

    assert names(told) == ["Handled", "Dropped"]
    end = one(told, Dropped)
    is_echo = why == completion.ECHO
    assert end.reason == ("llm_declined" if is_echo else "llm_malformed")
    assert end.detail == why
    assert not scenario.mind.timers
    assert not len(scenario.mind.lessons)


@pytest.mark.parametrize("answer", ["{prompt}", "Sure! {prompt}\nWell, run."])
def test_a_prompt_that_is_repeated_is_refused_for_its_fence(answer: str) -> None:
    """It is not said, and teaches nothing."""
    scenario, ask, turn = asked()
    told = scenario.answer_model(turn, answer.replace("{prompt}", ask.prompt))

    assert names(told) == ["Handled", "Dropped"]
    assert one(told, Dropped).reason == "llm_malformed"
    assert not len(scenario.mind.lessons)


@pytest.mark.parametrize(
    "answer",
    [
        "Just now, from cam: {event}",
        "Just now, from cam: {event}\n\nWhat do you say? Run!",
        'JUST NOW, from cam: "{event}"',
    ],
)
@pytest.mark.parametrize("event", ["A wolf.", EVENT])
def test_a_prompt_that_is_repeated_without_its_fence_is_an_echo(
    answer: str, event: str
) -> None:
    """However short what happened was."""
    scenario = Scenario(model=factories.MODEL)
    turn = scenario.sense(event, source="cam", salience={"threat": 0.9})
    told = scenario.answer_model(turn, answer.replace("{event}", event))

    assert one(told, Dropped).detail == completion.ECHO


@pytest.mark.parametrize(
    "answer",
    [
        "Run!",
        PROSE,
        PROSE * 2,
        "No, no, no, no! Don't go there, Ada.",
        "The wolf behind the hill is close: light a fire.",
        "Ha ha ha ha ha ha!",
        "- wood\n- flint\n- rope\n- bread\n- a lamp\n- water\n- a knife\n- a map\n- salt\n"
        "- a blanket\n- dry boots\n- a bell\n- honey\n- some thread and a needle",
        "狼は火を恐れます。丘の向こうに行く前に、薪を集めて小屋の前で火を起こしましょう。",
    ],
)
def test_what_is_said_well_is_heard(answer: str) -> None:
    """Words of the event, a list, a laugh: none of that is nonsense."""
    scenario, _, turn = asked()

    assert one(scenario.answer_model(turn, answer), Completed).text == answer.strip()


def test_a_heuristic_that_stands_by_speaks_for_nonsense() -> None:
    """A model that repeats itself has lost the race."""
    low = heuristic("low", "wolf near", "Hide.", confidence=0.9)
    scenario = Scenario(pack(low), model=factories.MODEL, strategy={"name": "hybrid"})
    turn = scenario.sense("wolf near", salience={"social": 0.9})
    told = scenario.answer_model(turn, LOOP * 40)

    assert one(told, Completed).text == "Hide."
