"""Models that answer badly, late or never, for all who ask one: the log says why."""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.notes import Handled
from schemas.messages.results import ClockTicked, ModelAnswered
from tests.handlers.mind.characters import planners
from tests.handlers.mind.characters.autonomous import cafe
from tests.handlers.mind.characters.worksite import MODEL, Worksite, pack
from tests.scenario import Scenario, one, said

TALKER = {"tools": [{"name": "talk"}], "moderate_s": 30}
GOOD: Mapping[str, Mapping[str, Any]] = {
    "talker": {"thinking": "Good.", "speaking": "Hello, Luna!"},
    "executor": {"thinking": "Good.", "action": {"type": "gather", "target": "wood"}},
    "single": {"thinking": "Good.", "speaking": "Hello, Luna!"},
    "autonomous": {"action": "Wave", "thought": "Good."},
}
FOREIGN: Mapping[str, Mapping[str, Any]] = {
    "talker": {"thinking": "饿了。", "speaking": "你好"},
    "executor": {
        "thinking": "需要木头。",
        "action": {"type": "gather", "target": "木头"},
    },
    "single": {"thinking": "饿了。", "speaking": "你好"},
    "autonomous": {"action": "Wave", "thought": "你好。"},
}
ALL = ("talker", "executor", "single", "autonomous")
LAYERS: Mapping[str, Mapping[str, Any]] = {
    "executor": {},
    "single": {"layers": ["reflex", "queue", "talker", "executor"], "mode": "single",
               "talker": TALKER},
}  # fmt: skip


class Asked:
    """A character whose model was asked, and what becomes of that."""

    def __init__(self, who: str) -> None:
        self.who = who
        self.site: Worksite | None = None
        if who == "autonomous":
            self.scenario = cafe.clever()
            cafe.body(self.scenario)
            self.turn = cafe.due(self.scenario)
        elif who == "talker":
            self.site = _talker()
            self.scenario, self.turn = self.site.scenario, self.site.report()
        else:
            self.site = planners.site(**LAYERS[who])
            self.scenario = self.site.scenario
            self.turn = self.site.report()
            if who == "executor":
                self.turn = planners.asked(self.site)
        self.ask = one(self.turn, ModelAsked)
        assert self.ask.purpose == who

    def answered(self, told: Any) -> Turn:
        """Let the model answer, and where it is asked once more, answer the same again."""
        text = told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
        turn = self.scenario.answer_model(self.turn, text)
        is_again = self.who == "autonomous" and said(turn, ModelAsked)
        return self.scenario.answer_model(turn, text) if is_again else turn

    def goes_on(self) -> None:
        """Check that needs are heeded at once, and that the model is asked anew."""
        if self.site is not None:
            hungry = self.site.report(hunger=0.1)
            assert one(hungry, Decided).arm == "reflex:hungry"
            self.site.report(in_reply_to=self.site.decision_id, outcome="succeeded")
        else:
            act = self.scenario.mind.character.autonomy.acts[-1]
            cafe.report(self.scenario, act.decision_id)
        assert _asks_again(self.scenario, self.ask)


def _talker() -> Worksite:
    known = pack(layers=["reflex", "queue", "talker"], talker=TALKER)
    return Worksite(Scenario(known, agent="aria", model=MODEL))


def _asks_again(scenario: Scenario, first: ModelAsked) -> bool:
    """Tell whether a model is asked within ten minutes, whatever comes before."""
    end = scenario.at + timedelta(minutes=10)
    while (due := scenario.mind.character.due) is not None and due <= end:
        if _latest(scenario).decision_id != first.decision_id:
            break
        scenario.at = max(due, scenario.at)
        scenario.tell(ClockTicked(due_at=due))
    return _latest(scenario).decision_id != first.decision_id


def _latest(scenario: Scenario) -> ModelAsked:
    """The latest question to a model."""
    return [each for each in scenario.outputs() if isinstance(each, ModelAsked)][-1]


def ending(turn: Turn) -> Dropped | Completed:
    """How the only decision that ends in a turn does."""
    found: list[Dropped | Completed] = [*said(turn, Dropped)]
    found += said(turn, Completed)
    (ended,) = found
    return ended


def why(turn: Turn) -> str:
    """Why the log says that an answer is not, or not all of it, done."""
    ended = ending(turn)
    if isinstance(ended, Dropped):
        return f"{ended.reason}: {ended.detail}"
    fallback = ended.choice.fallback if ended.choice is not None else None
    return fallback or "; ".join(ended.left_out or ())


WRONG = {"action": {"type": "teleport", "target": "moon"}}
NO_SUCH = {"action": "teleport"}


@pytest.mark.parametrize("who", ALL)
@pytest.mark.parametrize(
    ("told", "reason", "of_autonomous"),
    [
        (WRONG, "'teleport' was not offered", "unreadable again"),
        (NO_SUCH, "'teleport' was not offered", "no action is called 'teleport'"),
        ('{"thinking": "I am', "broken", "unreadable again"),
        ('{"action": {"type": "talk"', "broken", "unreadable again"),
        ("", "no JSON", "unreadable again"),
        (" \n\t ", "no JSON", "unreadable again"),
        ("{}", "says nothing", "unreadable again"),
        ("null", "no JSON", "unreadable again"),
        ("I would rather pick berries.", "no JSON", "unreadable again"),
        ("我想去采浆果。", "no JSON", "unreadable again"),
        ('{"思考": "饿了", "行动": "吃"}', "says nothing", "unreadable again"),
        ('{"thinking": "\\ud800"}', "half a character", "unreadable again"),
        ("[" * 5_000, "", "unreadable again"),
    ],
)
def test_a_bad_answer_is_recorded_with_its_reason(
    who: str, told: Any, reason: str, of_autonomous: str
) -> None:
    """A wrong id, broken JSON, silence, prose alone, another language, garbage."""
    asked = Asked(who)
    turn = asked.answered(told)
    found = why(turn)
    assert (of_autonomous if who == "autonomous" else reason) in found
    assert found
    if who != "autonomous":
        assert said(turn, DeliveryAsked) == []
    asked.goes_on()


Wrapped = Callable[[str], str]
PROSE: Mapping[str, Wrapped] = {
    "prose": lambda text: f"Sure! Here it is: {text} I hope it helps.",
    "markdown": lambda text: f"Of course.\n```json\n{text}\n```\nAnything else?",
    "another language": lambda text: f"好的 {text} 祝好。",
}


@pytest.mark.parametrize("who", ALL)
@pytest.mark.parametrize("how", PROSE)
def test_json_within_prose_counts(who: str, how: str) -> None:
    """Small models explain themselves."""
    asked = Asked(who)
    turn = asked.answered(PROSE[how](json.dumps(GOOD[who])))
    assert one(turn, Completed).path == "llm"
    assert why(turn) == ""


@pytest.mark.parametrize("who", ALL)
def test_an_answer_in_another_language_counts_where_its_form_does(who: str) -> None:
    """What it says or wants is its own affair; the names in the form are not."""
    asked = Asked(who)
    turn = asked.answered(FOREIGN[who])
    assert one(turn, Completed).path == "llm"
    assert why(turn) == ""


FAILURES = {
    "timeout": "llm_timeout",
    "no_response": "llm_no_response",
    "declined": "llm_declined",
    "unavailable": "llm_no_response",
    "stale": "stale",
}


@pytest.mark.parametrize("who", ALL)
@pytest.mark.parametrize("reason", FAILURES)
def test_a_failure_is_recorded_with_its_reason(who: str, reason: str) -> None:
    """After ten seconds, which the character did not wait for."""
    asked = Asked(who)
    if asked.site is not None:
        asked.scenario.wait(5)
        assert one(asked.site.report(hunger=0.1), Decided).arm == "reflex:hungry"
        asked.scenario.wait(5)
    turn = asked.scenario.fail_model(asked.turn, reason)
    found = why(turn)
    if who == "autonomous":
        assert found == f"the model failed ({reason}): why"
    else:
        assert found.split(":")[0] == FAILURES[reason]
    if asked.site is not None:
        asked.site.report(in_reply_to=asked.site.decision_id, outcome="succeeded")
    asked.goes_on()


@pytest.mark.parametrize("who", ALL)
def test_an_answer_after_ten_seconds_counts_and_one_too_late_is_stale(who: str) -> None:
    """Nothing waits for it; past the time in which it is of use it is not done."""
    asked = Asked(who)
    asked.scenario.wait(10)
    assert one(asked.answered(GOOD[who]), Completed).path == "llm"

    asked = Asked(who)
    asked.scenario.wait(asked.ask.ttl_s + 0.1)
    assert "stale" in why(asked.answered(GOOD[who]))
    asked.goes_on()


@pytest.mark.parametrize("who", ALL)
def test_silence_is_given_up(who: str) -> None:
    """Reflexes act meanwhile; what comes after all is not used twice."""
    asked = Asked(who)
    scenario = asked.scenario
    scenario.wait(asked.ask.ttl_s + 65)
    turn = scenario.tell(ClockTicked(due_at=scenario.at))
    ended = ending(turn)
    if isinstance(ended, Dropped):
        assert ended.reason == "llm_timeout"
    else:
        assert (who, ended.path) == ("autonomous", "fallback")
    assert ended.decision_id == asked.ask.decision_id
    late = scenario.answer_model(asked.turn, json.dumps(GOOD[who]))
    assert one(late, Handled).reason in ("late", "second")


@pytest.mark.parametrize("who", ALL)
def test_an_answer_to_nobody_is_only_noted(who: str) -> None:
    """One with a wrong id changes nothing, and the right one still counts."""
    asked = Asked(who)
    wrong = ModelAnswered(ask_id="nobody", request_hash="r", model="m", text="{}")
    before = asked.scenario.mind.character
    turn = asked.scenario.tell(wrong)
    assert one(turn, Handled).reason == "unknown"
    assert asked.scenario.mind.character == before
    assert one(asked.answered(GOOD[who]), Completed).path == "llm"
