"""One voice: responses out of character are found by rule."""

from typing import Any

import pytest

from echoic.packs.personalities import shipped
from echoic.packs.skills import shipped as styles
from evaluation.learning.one_voice import VoiceCheck, breaks, check
from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.messages.decisions import Decided
from tests.factories import heuristic, pack, plain_executive
from tests.scenario import Scenario, decision_id, said


def spoken(text: str, template: str, **event: Any) -> DecisionRecord:
    """The record of a decision in which a personality says a text."""
    garden = pack(heuristic("dusk", "dusk falls", text, confidence=0.9))
    executive = plain_executive(templates=shipped(), template=template)
    scenario = Scenario(garden, executive=executive, relevance=0.0)
    turn = scenario.sense("dusk falls", **event)
    assert said(turn, Decided)[0].text == text
    records = DecisionRecords(keeps_final=True)
    records.take(turn.input, turn.outputs)
    (record,) = (each for each in records.all() if each.id == decision_id(turn))
    return record


THREAT: dict[str, Any] = {"salience": {"threat": 0.9}}


@pytest.mark.parametrize(
    ("text", "template", "event", "rules"),
    [
        ("Night falls, Sir.", "butler", {}, []),
        ("Oh great, another night.", "jester", {}, []),
        ("Oh great, another night.", "jester", THREAT, ["sarcasm"]),
        ("Oh great, another night.", "butler", {}, ["sarcasm"]),
        ("Night falls!", "butler", {}, ["exclamations"]),
        ("Night! Falls! Run!", "coach", {}, []),
        ("word " * 13, "engineer", {}, ["length"]),
        ("word " * 12, "engineer", {}, []),
        ("word " * 30, "coach", {}, []),
        ("word " * 30, "coach", THREAT, ["length"]),
    ],
)
def test_what_breaks_a_character(
    text: str, template: str, event: dict[str, Any], rules: list[str]
) -> None:
    """Length by verbosity, exclamations by enthusiasm, and no sarcasm under threat."""
    found = breaks(spoken(text, template, **event))
    assert [each.rule for each in found] == rules


def test_a_hundred_responses_are_one_voice() -> None:
    """The share of those that break a rule, for each template apart; silence counts not."""
    good, bad = spoken("Night falls.", "butler"), spoken("Night! Falls!", "butler")
    (found,) = check([good] * 97 + [bad] * 3)

    assert (found.template, found.responses, len(found.breaks)) == ("butler", 100, 3)
    # Three of one id: one decision that breaks a rule.
    assert found.share == 0.01
    assert check([]) == ()


def hundred(template: str, texts: tuple[str, ...], **own: Any) -> VoiceCheck:
    """The check of a hundred decisions that a mind really made, by templates alone."""
    garden = pack(
        *(heuristic(f"h{n}", f"case {n}", text, 0.9) for n, text in enumerate(texts))
    )
    settings = plain_executive(
        templates=shipped(), skills=styles(), template=template, **own
    )
    scenario = Scenario(garden, executive=settings, relevance=0.0)
    records = DecisionRecords(keeps_final=True)
    for number in range(100):
        threat = {"threat": 0.9} if number % 10 == 0 else {}
        turn = scenario.wait(60).sense(f"case {number % len(texts)}", salience=threat)
        records.take(turn.input, turn.outputs)
    (found,) = check(records.all())
    return found


PLAIN = ("The soil is dry.", "Water the plants! Do not wait.", "Rain is near.")


@pytest.mark.parametrize("template", [each.name for each in shipped()])
def test_a_hundred_decisions_by_the_shipped_styles_are_one_voice(template: str) -> None:
    """None of them breaks a rule, under threat or not."""
    found = hundred(template, PLAIN, consistent=True)
    assert found.responses == 100
    assert found.breaks == ()


def test_the_check_of_a_hundred_decisions_can_fail() -> None:
    """A pack that mocks, shouts and rambles is found out, in each of the three rules."""
    bad = ("Oh great, rain.", "Rain! Rain! Run!", "rain and " * 40)
    found = hundred("butler", bad, consistent=True)
    assert found.responses == 100
    assert {each.rule for each in found.breaks} == {"sarcasm", "length"}
    assert found.share > 0.6
    # The style takes out the butler's exclamation marks; without styles they are found.
    bare = hundred("coach", ("Rain! Run! Now! Go! Jump!",))
    assert {each.rule for each in bare.breaks} == {"exclamations"}
    assert bare.share == 1.0


def test_without_the_setting_styles_may_make_too_many_words() -> None:
    """Which the check tells; the engineer wants eight."""
    texts = ("The soil of the plants by the window is dry today.",)
    assert hundred("engineer", texts).breaks
    assert not hundred("engineer", texts, consistent=True).breaks
