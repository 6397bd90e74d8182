"""What a busy person misses: to ask what is new is a break, at which it is said."""

import pytest

from echoic.packs import phrases
from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.executive import BreakSignalled, Muted, UserStateChanged
from schemas.messages.notes import ControlInferred
from schemas.values.phrases import Phrases
from tests import factories
from tests.factories import heuristic, pack, plain_executive
from tests.scenario import Scenario, decision_id, names, one, said

LAUNDRY = heuristic(
    "wash", "the washing machine is done", "Hang up the laundry.", confidence=0.9
) | {"action": {"text": "Hang up the laundry.", "type": "suggestion"}}


def start(*words: Phrases) -> Scenario:
    """A scenario with answers that may wait, and a model."""
    known = words or phrases.shipped(("en", "de"))
    return Scenario(
        pack(LAUNDRY, types=("vital", "message")),
        relevance=0.01,
        model=factories.MODEL,
        executive=plain_executive(timing=True, phrases=known),
    )


def done(scenario: Scenario, person: str | None = "ana") -> Turn:
    """Something that is told of once the person is not busy."""
    return scenario.wait(1).sense(
        "the washing machine is done", person=person, salience={"social": 0.9}
    )


def says(scenario: Scenario, text: str, person: str | None = "ana") -> Turn:
    """A person says so."""
    return scenario.wait(1).sense(text, source="user", type_="message", person=person)


def busy(scenario: Scenario, person: str | None = "ana") -> Scenario:
    """The person is busy from here on."""
    scenario.control(UserStateChanged(busy=True, person=person))
    return scenario


@pytest.mark.parametrize(
    "words",
    [
        "What's up?",
        "what\u2019s up",
        "Hey, what's new?",
        "Was gibt's?",
        "Was gibt es Neues?",
    ],
)
def test_what_waits_is_said_to_a_busy_person_who_asks(words: str) -> None:
    """It is the answer: no acknowledgement besides, and no model."""
    scenario = busy(start())
    held = done(scenario)
    turn = says(scenario, words)

    assert names(turn) == [
        "ControlInferred",
        "Decided",
        "HeuristicFired",
        "Completed",
        "DeliveryAsked",
    ]
    inferred, decided = one(turn, ControlInferred), one(turn, Decided)
    assert (inferred.control, inferred.by) == (BreakSignalled.token, "pattern")
    assert inferred.fields["person"] == "ana"
    assert (decided.silence, decided.gates[0].name) == ("informational", "intent")
    assert one(turn, Completed).decision_id == decision_id(held)
    assert one(turn, DeliveryAsked).text == "Hang up the laundry."


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("what's up?", "Nothing is waiting for you."),
        ("was gibt's?", "Es wartet nichts auf dich."),
    ],
)
def test_where_nothing_waits_that_is_said(words: str, answer: str) -> None:
    """Shortly, without a model."""
    turn = says(busy(start()), words)

    assert names(turn) == ["ControlInferred", "Decided", "DeliveryAsked"]
    assert one(turn, DeliveryAsked).text == answer


def test_what_waits_for_somebody_else_goes_on_waiting() -> None:
    """It is another's break."""
    scenario = busy(busy(start()), "lee")
    done(scenario, "lee")
    turn = says(scenario, "what's up?", "ana")

    assert one(turn, DeliveryAsked).text == "Nothing is waiting for you."
    assert len(scenario.mind.executive.waiting) == 1


def test_somebody_who_is_not_busy_is_answered_as_ever() -> None:
    """A question like any other, if nothing waits."""
    turn = says(start(), "what's up?")

    assert said(turn, ControlInferred) == []
    assert len(said(turn, ModelAsked)) == 1


def test_a_log_without_these_words_is_as_before() -> None:
    """A busy person's question goes to the model, and what waits goes on waiting."""
    (english,) = phrases.shipped(("en",))
    asked = {means: english.patterns[means] for means in ("quiet", "unmute")}
    scenario = busy(start(english.model_copy(update={"patterns": asked})))
    done(scenario)
    turn = says(scenario, "what's up?")

    assert said(turn, ControlInferred) == []
    assert said(turn, Completed) == []
    assert len(scenario.mind.executive.waiting) == 1


def test_what_is_stale_is_not_waited_for() -> None:
    """It is dropped, and the person hears that there is nothing."""
    scenario = busy(start())
    done(scenario)
    turn = says(scenario.wait(601), "what's up?")

    assert [each.reason for each in said(turn, Dropped)] == ["stale"]
    assert one(turn, DeliveryAsked).text == "Nothing is waiting for you."


def test_a_mute_stays_in_force() -> None:
    """Nothing is said, not even that nothing waits."""
    scenario = busy(start())
    scenario.control(Muted(mode="mute", by="ana"))
    turn = says(scenario, "what's up?")

    assert one(turn, Decided).silence == "muted"
    assert said(turn, DeliveryAsked) == []
