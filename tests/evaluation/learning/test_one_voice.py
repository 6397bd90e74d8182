"""One voice: responses out of character are found by rule."""

from typing import Any

import pytest

from echoic.packs.personalities import shipped
from evaluation.learning.one_voice import breaks, check
from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.messages.decisions import Decided
from schemas.values.executive_settings import ExecutiveSettings
from tests.factories import heuristic, pack
from tests.scenario import Scenario, decision_id, said


def spoken(text: str, template: str, **event: Any) -> DecisionRecord:
    """The record of a decision in which a personality says a text."""
    garden = pack(heuristic("dusk", "dusk falls", text, confidence=0.9))
    executive = ExecutiveSettings(templates=shipped(), template=template)
    scenario = Scenario(garden, executive=executive, edition=2, relevance=0.0)
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
