"""How a person feels is told by own words where no sensor says it."""

import pytest

from echoic.packs.phrases import shipped
from schemas.messages.decisions import Decided
from tests.factories import plain_executive
from tests.scenario import Scenario, one


def living() -> Scenario:
    """A scenario that knows the words of two languages."""
    return Scenario(
        executive=plain_executive(phrases=shipped(("en", "de")), modulates=True)
    )


@pytest.mark.parametrize(
    ("text", "feels"),
    [
        ("this is awful", -0.5),
        ("This is awful, nothing works!", -0.8),
        ("Das ist furchtbar.", -0.5),
        ("I love it", 0.5),
        ("Well, that is not awful.", 0.1),
        ("Is the weather awful?", None),
        ('She said "I hate it"', None),
        ("the lawful owner", None),
        ("the oven is on", None),
    ],
)
def test_own_words_tell_a_feeling(text: str, feels: float | None) -> None:
    """Bounded; a question or a quotation tells none."""
    scenario = living()
    scenario.sense(text, source="user", type_="message", person="ada")
    sign = scenario.mind.executive.personality.sentiments.get("ada")

    assert (sign.value if sign is not None else None) == feels


def test_it_makes_a_struggling_person_and_moves_the_mood() -> None:
    """At that very event already; its sensor's word counts more, and a sensor's text none."""
    other, scenario = living(), living()
    other.sense("nothing works", source="meter", type_="note", person="ada")
    assert other.mind.executive.personality.mood is None
    turn = scenario.sense("nothing works", source="user", type_="message", person="ada")
    voice = one(turn, Decided).voice
    assert voice is not None
    assert [(each.name, each.value) for each in voice.contexts or ()] == [
        ("user_struggling", -0.5)
    ]
    mood = scenario.mind.executive.personality.mood
    assert mood is not None
    assert mood.valence < 0.0

    scenario.sense(
        "nothing works", source="user", type_="message", person="ben", sentiment=0.4
    )
    sign = scenario.mind.executive.personality.sentiments.get("ben")
    assert sign is not None
    assert sign.value == 0.4


def test_who_says_so_after_a_response_is_told_less_for_a_while() -> None:
    """As with a sentiment that a sensor tells."""
    scenario = living()
    scenario.sense("what do you know about tea", source="user", type_="message")
    scenario.wait(5).sense("that is useless", source="user", type_="message")

    assert [each.by for each in scenario.mind.executive.peace.modulations] == [
        "sentiment"
    ]
