"""Streaming: whose answers go out as they come, and when that is taken back."""

from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, ModelAsked, StopAsked
from schemas.messages.decisions import Completed, Dropped
from schemas.messages.executive import Muted, UserStateChanged
from tests import factories
from tests.factories import heuristic, pack
from tests.scenario import Scenario, names, one, output, said

GARDEN = pack(
    heuristic("low", "food is low", "Eat now.", 0.8),
    types=("vital", "message"),
    events=[{"type": "shown", "channel": "overlay"}],
)


def alive(**executive: Any) -> Scenario:
    """A scenario in which a model's words may go out as they come."""
    return Scenario(
        GARDEN,
        relevance=0.0,
        model=factories.MODEL,
        executive={"stream": True, **executive},
    )


def asks(scenario: Scenario, text: str = "what is over there?", **fields: Any) -> Turn:
    """A person's question that nothing learnt answers."""
    told = {"source": "user", "type_": "message", **fields}
    return scenario.wait(1).sense(text, **told)


def streams(turn: Turn) -> bool | None:
    """Whether the words of the model's answer go out as they come."""
    return one(turn, ModelAsked).stream


def test_a_persons_question_in_text_is_answered_as_it_comes() -> None:
    """What a sensor reports is not, nor is anything without the setting."""
    scenario = alive()

    assert streams(asks(scenario))
    assert streams(asks(scenario, "a light", source="cam", type_="vital")) is None
    assert streams(asks(alive(stream=False))) is None
    before = Scenario(GARDEN, relevance=0.0, model=factories.MODEL)
    assert b"stream" not in one(asks(before), ModelAsked).to_bytes()


def test_what_is_to_be_spoken_waits_until_it_is_whole() -> None:
    """Who reads it instead, by the settings or because of being away, need not wait."""
    spoken = alive(speech=True)
    assert streams(asks(spoken)) is None
    assert streams(asks(alive(speech=True, as_text=("person:ada",)), person="ada"))
    spoken.control(UserStateChanged(away=True))
    assert streams(asks(spoken))


def test_nobody_reads_words_that_a_heuristic_may_replace() -> None:
    """In a race the model's answer may come too late."""
    scenario = Scenario(
        GARDEN,
        relevance=0.0,
        model=factories.MODEL,
        executive={"stream": True},
        strategy={"name": "hybrid"},
    )
    turn = asks(scenario, "food is low")

    assert one(turn, ModelAsked).rival is not None
    assert streams(turn) is None


def test_the_whole_takes_the_place_of_the_parts() -> None:
    """It bears the id that they were under, and nothing is taken back."""
    scenario = alive()
    asked = asks(scenario)
    answered = scenario.answer_model(asked, "A fox.")

    assert one(answered, Completed).decision_id == one(asked, ModelAsked).decision_id
    delivery = one(answered, DeliveryAsked)
    assert (delivery.decision_id, delivery.text) == (
        one(asked, ModelAsked).decision_id,
        "A fox.",
    )
    assert not said(answered, StopAsked)


def dropped(turn: Turn, asked: Turn) -> str:
    """Why a decision was dropped, whose words are taken back at once."""
    end, stop = one(turn, Dropped), one(turn, StopAsked)
    ask = output(asked, ModelAsked)
    assert (stop.ask_id, stop.decision_id) == (ask.id, end.decision_id)
    assert stop.channel == "say"
    assert names(turn).index("StopAsked") == names(turn).index("Dropped") + 1
    return end.reason


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("timeout", "llm_timeout"),
        ("no_response", "llm_no_response"),
        ("unavailable", "llm_no_response"),
    ],
)
def test_what_fails_is_taken_back(failure: str, reason: str) -> None:
    """Somebody may have read the beginning of it."""
    scenario = alive()
    asked = asks(scenario)

    assert dropped(scenario.fail_model(asked, failure), asked) == reason


def test_what_may_not_be_said_is_taken_back() -> None:
    """Muted meanwhile, nonsense, nothing at all, too late."""
    scenario = alive()
    asked = asks(scenario)
    scenario.control(Muted(mode="mute"))
    assert dropped(scenario.answer_model(asked, "A fox."), asked) == "muted"
    scenario.control(Muted(mode="mute", off=True))

    asked = asks(scenario)
    endless = "again and again " * 40
    assert dropped(scenario.answer_model(asked, endless), asked) == "llm_malformed"
    asked = asks(scenario)
    silent = scenario.answer_model(asked, '{"response": ""}')
    assert dropped(silent, asked) == "llm_declined"
    asked = asks(scenario)
    late = scenario.wait(1_000).answer_model(asked, "A fox.")
    assert dropped(late, asked) in ("stale", "llm_timeout")


def test_an_answer_that_never_comes_is_taken_back_by_the_clock() -> None:
    """The effect that had it in hand was killed, say."""
    scenario = alive()
    asked = asks(scenario)
    later = scenario.wait(10_000).sense("rain")

    assert dropped(later, asked) == "llm_timeout"


def test_what_gives_way_to_others_is_taken_back() -> None:
    """Too many wait for the model."""
    scenario = alive()
    turns = [asks(scenario, f"what is number {each}?") for each in range(70)]

    crowded = [turn for turn in turns if said(turn, Dropped)]
    assert crowded
    assert all(len(said(each, StopAsked)) == 1 for each in crowded)


def test_a_separate_prediction_takes_nothing_back() -> None:
    """The answer stands while its prediction is asked for, whatever that comes to."""
    scenario = Scenario(
        GARDEN,
        relevance=0.0,
        model=factories.MODEL,
        prediction="separate",
        executive={"stream": True},
    )
    asked = asks(scenario)
    assert streams(asked)
    predicting = scenario.answer_model(asked, "A fox.")
    assert one(predicting, ModelAsked).stream is None
    end = scenario.fail_model(predicting)

    assert one(end, DeliveryAsked).text == "A fox."
    assert not said(end, StopAsked)
