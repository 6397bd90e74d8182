"""Amounts in words: times as people say them, other numbers as they were compared."""

import pytest

from echoic.explain.amounts import amount, span
from echoic.explain.explain import explain
from echoic.terminal.explanation import explained
from echoic.terminal.screen import rendered
from replay.recording.decisions import DecisionRecords
from schemas.messages.executive import ReminderSet, UserStateChanged
from schemas.messages.results import ClockTicked
from tests.handlers.mind.test_unasked_voice import living, reminded
from tests.scenario import Scenario


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0 s"),
        (59.6, "1 min"),
        (90.0, "1 min 30 s"),
        (600.0, "10 min"),
        (3_601.0, "1 h"),
        (7_500.0, "2 h 5 min"),
        (90_061.0, "1 d 1 h"),
        (-5.0, "0 s"),
    ],
)
def test_a_span_has_two_units_at_most(seconds: float, words: str) -> None:
    """The largest and the next; what is over is said as nothing."""
    assert span(seconds) == words


def test_only_times_are_said_as_times() -> None:
    """Below a minute fractions count: what closes a gate is never rounded to its edge."""
    assert amount("cooldown", 600.0) == "10 min"
    assert amount("cooldown", 3.9) == "3.9 s"
    assert amount("cooldown", -61.0, "+") == "-1 min 1 s"
    assert amount("cooldown", 61.0, "+") == "+1 min 1 s"
    assert amount("relevance", 0.4, "+") == "+0.40"


def pages(scenario: Scenario) -> list[str]:
    """What `echoic explain` says of each decision."""
    records = DecisionRecords(keeps_final=True)
    for turn in scenario.turns:
        records.take(turn.input, turn.outputs)
    return [rendered(explained(each, explain(each, {}))) for each in records.all()]


@pytest.mark.parametrize("template", ["", "jester"])
def test_a_reminder_is_explained_without_empty_parts(template: str) -> None:
    """Nothing was sensed, so nothing was weighed; nor does nobody have a personality."""
    scenario = living(template, cooldown_s=4.0, timing=True)
    reminded(scenario)
    scenario.sense("a fox", salience={"threat": 0.9})
    scenario.control(UserStateChanged(busy=True))
    scenario.control(ReminderSet(text="Tea.", in_s=605.0))
    scenario.wait(605).tell(ClockTicked(due_at=scenario.at))
    spoken, event, waits = pages(scenario)

    for page in (spoken, event, waits):
        assert "\n\n\n" not in page
        assert "no personality" not in page
    assert "salience" not in spoken
    assert "salience" in event
    assert ("as jester: humor" in spoken) == bool(template)
    assert "in context high_threat" in event
    assert "WAITS  queued" in waits
    assert "10 min 5 s ≥ 4 s" in waits
