"""A model's words that are out of character are trimmed before they are said."""

from typing import Any

import pytest

from echoic.explain.explain import verdict
from echoic.packs.personalities import shipped
from evaluation.learning.one_voice import breaks
from replay.recording.decisions import DecisionRecords
from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Completed
from schemas.messages.executive import TraitAdjusted, UserStateChanged
from tests.factories import MODEL, plain_executive
from tests.scenario import Scenario, one

LONG = "The soil is dry, so water the plants. " + " ".join(
    f"On day {each} it will be hot." for each in range(9)
)


def living(template: str, **own: Any) -> Scenario:
    """A scenario with a model and a character."""
    given = {"templates": shipped(), "template": template, "consistent": True, **own}
    return Scenario(executive=plain_executive(**given), model=MODEL, relevance=0.0)


THREAT = {"threat": 0.9}


@pytest.mark.parametrize(
    ("template", "weighed", "reply", "said", "rules"),
    [
        ("butler", {}, "Night falls, Sir.", "Night falls, Sir.", None),
        # What nobody chose a character for is nobody's.
        ("", {}, LONG, LONG, None),
        ("butler", {}, "Dude!!! Look!!", "Dude. Look.", "exclamations"),
        ("coach", {}, "Go! Go! Go! Go! Now", "Go! Go! Go! Go. Now", "exclamations"),
        ("butler", {}, "Oh great, rain. Close the window.", "Close the window.", "sarcasm"),
        ("butler", {}, "Oh great, rain.", "rain", "sarcasm"),
        ("jester", {}, "Oh great, rain.", "Oh great, rain.", None),
        ("jester", THREAT, "Oh great, fire. Run!", "Run!", "sarcasm"),
        (
            "engineer",
            {},
            LONG,
            "The soil is dry, so water the plants.",
            "length",
        ),
        ("engineer", {}, "word " * 14, "word " * 11 + "word\u2026", "length"),
    ],
)  # fmt: skip
def test_what_a_model_says_is_in_character(
    template: str, weighed: Any, reply: str, said: str, rules: str | None
) -> None:
    """Whole sentences where that goes; and `personality check` finds nothing any more."""
    scenario = living(template)
    asked = scenario.sense("what now", salience=weighed)
    turn = scenario.wait(1).answer_model(asked, reply)
    completed = one(turn, Completed)

    assert one(turn, DeliveryAsked).text == completed.text == said
    assert completed.out_of_character == ((rules,) if rules else None)
    records = DecisionRecords(keeps_final=True)
    for each in scenario.turns:
        records.take(each.input, each.outputs)
    (record,) = (each for each in records.all() if each.said is not None)
    assert ("trimmed" in verdict(record, {})) is (rules is not None)
    assert not template or breaks(record) == ()


def test_what_waits_is_trimmed_and_says_so() -> None:
    """A trait that somebody moved is a character, too."""
    scenario = living("", timing=True)
    scenario.control(TraitAdjusted(trait="enthusiasm", by_amount=-0.5))
    scenario.control(UserStateChanged(busy=True))
    scenario.wait(1).answer_model(scenario.sense("it rains"), "Rain! Rain!")
    turn = scenario.control(UserStateChanged(busy=False))

    assert one(turn, Completed).text == "Rain. Rain."
    assert one(turn, Completed).out_of_character == ("exclamations",)
