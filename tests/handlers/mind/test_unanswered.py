"""A person who asks and gets no answer of a model is told so, in one honest sentence."""

from typing import Any

import pytest

from echoic.packs import phrases
from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked
from schemas.messages.controls import ProfileSet
from schemas.messages.decisions import Decided, Dropped
from schemas.messages.executive import FactStated, Muted
from tests import factories
from tests.factories import plain_executive
from tests.scenario import Scenario, names, one, said

FAILED = "I can't think just now."
ABSENT = "I can't answer that: I have no model to think with."


def talking(**more: Any) -> Scenario:
    """A scenario that speaks English and German."""
    executive = plain_executive(phrases=phrases.shipped(("en", "de")), **more)
    return Scenario(relevance=0.0, model=factories.MODEL, executive=executive)


def asks(scenario: Scenario, text: str, person: str = "ada") -> Turn:
    """Somebody says so."""
    return scenario.sense(text, source="user", type_="message", person=person)


def fails(scenario: Scenario, asked: Turn, **how: Any) -> Turn:
    """The model fails."""
    return scenario.wait(1).fail_model(asked, **how)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("timeout", FAILED),
        ("unavailable", FAILED),
        ("no_response", FAILED),
        ("malformed", FAILED),
        ("stale", FAILED),
        ("declined", "I have no answer to that."),
    ],
)
def test_a_failure_is_told_at_once(reason: str, told: str) -> None:
    """In the turn of the failure itself; the decision ends as it always did."""
    scenario = talking()
    asked = asks(scenario, "what is the capital of France?")
    heard = fails(scenario, asked, reason=reason)

    assert names(heard) == ["Handled", "Dropped", "DeliveryAsked"]
    delivery = one(heard, DeliveryAsked)
    assert (delivery.text, delivery.path) == (told, "fallback")
    assert delivery.decision_id == one(heard, Dropped).decision_id
    assert delivery.ttl_s == scenario.settings.ttl_s


@pytest.mark.parametrize(
    "reply", ['{"respo', "null", "[INST] <s>", '{"response": 7}', "[]", ""]
)
def test_what_nobody_may_hear_is_told_of_as_well(reply: str) -> None:
    """Broken JSON, markup, or nothing at all."""
    scenario = talking()
    heard = scenario.answer_model(asks(scenario, "are you there"), reply)

    assert one(heard, DeliveryAsked).text == FAILED


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Was ist das da draußen?", "Ich kann gerade nicht nachdenken."),
        ("wo bist du", "Ich kann gerade nicht nachdenken."),
        ("what is that out there", FAILED),
        ("I wonder about Paris", FAILED),
    ],
)
def test_it_is_told_in_the_language_of_the_question(text: str, told: str) -> None:
    """By its first words; else in the first of the settings."""
    scenario = talking(prompt_tokens=500)

    assert one(fails(scenario, asks(scenario, text)), DeliveryAsked).text == told


def test_it_is_told_in_the_persons_own_language() -> None:
    """Where the words do not tell."""
    scenario = talking(prompt_tokens=500)
    scenario.control(ProfileSet(person="ada", language="de"))
    heard = fails(scenario, asks(scenario, "Paris..."))

    assert one(heard, DeliveryAsked).text == "Ich kann gerade nicht nachdenken."


def test_what_is_known_without_a_model_goes_with_it() -> None:
    """Facts about what the question names, and nobody else's."""
    scenario = talking(prompt_tokens=500)
    for subject, person in (("the key", None), ("the key", "bob"), ("the car", None)):
        fact = FactStated(
            subject=subject, relation="is in", object="the drawer", person=person
        )
        scenario.control(fact)
    heard = fails(scenario, asks(scenario, "where did I put the key?"))

    facts = "What I was told: the key is in the drawer."
    assert one(heard, DeliveryAsked).text == f"{FAILED} {facts}"


def test_a_sensors_event_is_passed_over_in_silence() -> None:
    """Nobody waits for that."""
    scenario = talking()
    heard = fails(scenario, scenario.sense("what is that?"))

    assert names(heard) == ["Handled", "Dropped"]


def test_whoever_asked_for_peace_meanwhile_has_it() -> None:
    """A mute is a mute."""
    scenario = talking()
    asked = asks(scenario, "what is that?")
    scenario.control(Muted(mode="mute"))

    assert not said(fails(scenario, asked), DeliveryAsked)


def test_an_answer_too_late_is_told_of() -> None:
    """It may be about something else by then."""
    scenario = talking()
    asked = asks(scenario, "what is that?")
    heard = scenario.wait(600).answer_model(asked, "Something.")

    assert one(heard, DeliveryAsked).text == FAILED


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("what is the capital of France?", ABSENT),
        ("are you there", ABSENT),
        ("the milk is gone?", ABSENT),
        ("gibt es noch Milch", None),
        ("I had a nice day", None),
        ("well then", None),
    ],
)
def test_a_question_without_a_model_is_refused_in_words(
    text: str, told: str | None
) -> None:
    """What is no question needs none."""
    executive = plain_executive(phrases=phrases.shipped(("en",)))
    turn = asks(Scenario(relevance=0.0, executive=executive), text)

    assert [each.text for each in said(turn, DeliveryAsked)] == ([told] if told else [])
    assert (one(turn, Decided).path == "acknowledged") == bool(told)
