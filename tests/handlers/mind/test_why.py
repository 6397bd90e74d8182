"""Why was that said, and why was nothing: told from the record, without a model."""

from typing import Any, get_args

import pytest

from echoic.packs import phrases as shipped
from handlers.mind.turn import Turn
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided
from schemas.messages.executive import (
    BreakSignalled,
    Muted,
    ReminderSet,
    SalienceModulated,
    UserStateChanged,
)
from schemas.messages.results import ClockTicked
from schemas.values import reasons
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.phrases import Phrases
from tests import factories
from tests.factories import heuristic, pack
from tests.handlers.mind.test_check_in import greet, tick
from tests.handlers.mind.test_check_in import start as with_check_ins
from tests.handlers.mind.test_milestones import MINED
from tests.scenario import Scenario, one

WASH = heuristic("wash", "the washing machine is done", "Hang up the laundry.", 0.9)
WORDS = shipped.shipped(("en", "de"))


def alive(*, model: Any = None, **executive: Any) -> Scenario:
    """A home whose companion knows of the laundry."""
    on = {"phrases": WORDS, "prompt_tokens": 500, "timing": True, **executive}
    return Scenario(
        pack(
            WASH | {"action": {"text": "Hang up the laundry.", "type": "suggestion"}},
            types=("thing", "message"),
            events=[{"type": "secret", "hidden_from": "from"}, MINED],
        ),
        relevance=0.3,
        model=model,
        executive=ExecutiveSettings.model_validate(on),
    )


def washed(scenario: Scenario, **fields: Any) -> Turn:
    """The event that the pack answers."""
    return scenario.wait(1).sense(
        "the washing machine is done",
        **{"type_": "thing", "salience": {"social": 0.9}, **fields},
    )


def asked(scenario: Scenario, words: str, person: str | None = "ana") -> str | None:
    """What a person is told who asks; no model is asked."""
    turn = scenario.wait(1).sense(
        words, source="user", type_="message", person=person, intent="actionable"
    )
    assert not [each for each in turn.outputs if isinstance(each.message, ModelAsked)]
    return one(turn, Decided).text


def why(scenario: Scenario, person: str | None = "ana") -> str | None:
    """What they are told of the last thing said."""
    return asked(scenario, "why did you say that?", person)


def why_not(scenario: Scenario, person: str | None = "ana") -> str | None:
    """What they are told of the last thing not said."""
    return asked(scenario, "Why didn't you say anything?", person)


def test_a_silence_that_mattered_too_little_tells_its_numbers() -> None:
    """Those of the gate that closed, in the language of the question."""
    scenario = alive()
    washed(scenario, salience={"social": 0.05, "novelty": 0.0})

    decided = one(scenario.turns[-1], Decided)
    gate = next(each for each in decided.gates if not each.passed)
    value, threshold = f"{gate.value:.2f}", f"{gate.threshold:.2f}"
    assert decided.silence == "below_relevance"
    assert why_not(scenario) == (
        'When this came: "the washing machine is done", I said nothing: It mattered'
        f" {value} to me, and {threshold} was needed."
    )
    assert asked(scenario, "Warum hast du nichts gesagt?") == (
        "Als dies kam: „the washing machine is done“, habe ich nichts gesagt: Es war mir"
        f" {value} wert, und {threshold} wären nötig gewesen."
    )


def test_a_quiet_in_force_is_the_reason() -> None:
    """As is what it silenced; once it is over, that is on record still."""
    scenario = alive()
    scenario.control(Muted(by="ana"))

    assert asked(scenario, "why are you so quiet?") == "I was asked to be quiet."
    washed(scenario)
    told = why_not(scenario) or ""
    assert told.endswith("I said nothing: I was asked to be quiet.")
    scenario.control(Muted(off=True))
    assert why_not(scenario) == told


def test_a_mute_is_told_of_once_it_is_over() -> None:
    """While it is in force nothing is said, and the decision records why."""
    scenario = alive()
    scenario.control(Muted(mode="mute", by="ana"))
    assert why_not(scenario) is None
    assert one(scenario.turns[-1], Decided).silence == "muted"
    scenario.control(Muted(mode="mute", off=True))

    assert (why_not(scenario) or "").endswith("I was told to say nothing at all.")


def test_people_are_told_apart() -> None:
    """Of what concerned somebody else nothing is told."""
    scenario = alive()
    scenario.control(SalienceModulated(change="suppress", about="washing machine"))
    washed(scenario, person="bo", type_="thing", source="bo-phone")
    assert one(scenario.turns[-1], Decided).silence is not None

    assert why_not(scenario) == "I kept nothing from you that I remember."
    assert "washing machine" in (why_not(scenario, "bo") or "")


def test_a_secret_is_told_to_nobody_it_does_not_concern() -> None:
    """Not even that there was one."""
    scenario = alive()
    for _ in range(2):
        scenario.wait(1).sense(
            "a parcel for ana came",
            type_="secret",
            fields={"from": "ana"},
            salience={"social": 0.05},
        )
    assert one(scenario.turns[-1], Decided).silence is not None

    assert why_not(scenario) == "I kept nothing from you that I remember."


def test_words_that_no_model_could_answer() -> None:
    """A person's own words that came to nothing."""
    scenario = alive()
    turn = scenario.sense(
        "tell me of the sea", source="user", type_="message", person="ana"
    )
    assert one(turn, Decided).silence == "llm_unavailable"

    assert (why_not(scenario) or "").endswith("I have no model to ask.")


@pytest.mark.parametrize("reason", ["timeout", "no_response", "unavailable"])
def test_a_model_that_failed(reason: str) -> None:
    """Is a silence as any other."""
    scenario = alive(model=factories.MODEL)
    words = "how deep is the sea"
    turn = scenario.sense(words, source="user", type_="message", person="ana")
    scenario.wait(1).fail_model(turn, reason)

    told = why_not(scenario) or ""
    assert told.startswith(f'When this came: "{words}", I said nothing: The model')


def test_a_queued_answer_knows_its_event() -> None:
    """Though it was said long after."""
    scenario = alive()
    scenario.control(UserStateChanged(busy=True))
    washed(scenario)
    said = scenario.wait(20).control(BreakSignalled())
    assert one(said, Completed).path == "heuristic"

    assert (why(scenario) or "").endswith(
        'when this came: "the washing machine is done".'
    )


def test_a_queued_answer_that_became_stale() -> None:
    """Is a silence of what was wanted."""
    scenario = alive()
    scenario.control(UserStateChanged(busy=True))
    washed(scenario, ttl_s=10.0)
    scenario.wait(400).tell(ClockTicked(due_at=scenario.at))

    assert why_not(scenario) == (
        'When this came: "the washing machine is done", I said nothing: My answer came'
        " too late."
    )


def test_a_batch_tells_how_many_it_answered() -> None:
    """Besides the one that led it."""
    scenario = alive()
    scenario.control(UserStateChanged(busy=True))
    for number in range(3):
        washed(scenario, source=f"sensor-{number}")
    said = scenario.wait(20).control(BreakSignalled())
    others = len(one(said, Completed).also_answers)
    assert others

    told = why(scenario) or ""
    assert told.endswith(f"It answered {others} more of the kind.")
    assert why_not(scenario) == "I kept nothing from you that I remember."


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_reminder(is_busy: bool) -> None:
    """Said at its time, or once there was a break."""
    scenario = alive()
    scenario.control(ReminderSet(text="Tea!", in_s=60.0, person="ana", by="ana"))
    scenario.control(UserStateChanged(person="ana", busy=is_busy))
    scenario.wait(60).tell(ClockTicked(due_at=scenario.at))
    scenario.wait(5).control(BreakSignalled(person="ana"))

    assert why(scenario) == "Because you wanted to be reminded at that time."


def test_a_milestone() -> None:
    """Which a pack counts."""
    scenario = alive()
    scenario.sense("one", type_="mined", fields={"item": "coal"})
    scenario.wait(1).tell(ClockTicked(due_at=scenario.at))

    assert why(scenario) == ("It was a milestone, and worth a word.")


def test_a_check_in() -> None:
    """Of which there is no event."""
    own = {"check_in": True, "phrases": WORDS, "prompt_tokens": 500}
    scenario = with_check_ins(ExecutiveSettings.model_validate(own))
    greet(scenario)
    assert one(tick(scenario), Decided).type == "check_in"

    assert (
        why(scenario, None) == "You were there, and nothing had been said for a while."
    )


def test_nothing_was_kept_from_anybody() -> None:
    """And nothing is in force."""
    assert why_not(alive()) == "I kept nothing from you that I remember."


def test_logs_of_before_remember_no_silences() -> None:
    """Nor what waited, so that they are answered as they were."""
    new = {"silences", "silent_about"}
    known = WORDS[0].model_dump(exclude=new)
    known["patterns"].pop("why_silent")
    scenario = alive(phrases=(Phrases.model_validate(known),))
    scenario.control(UserStateChanged(busy=True))
    washed(scenario)
    washed(scenario, salience={"social": 0.05})

    executive = scenario.mind.executive
    assert not executive.memory.silent
    assert [each.heard for each in executive.waiting] == [""]


def test_every_reason_has_words_in_every_language() -> None:
    """A person is never told a name of ours."""
    every = {*get_args(reasons.Silence), *get_args(reasons.Drop)}
    for words in WORDS:
        assert words.silences.keys() == every
