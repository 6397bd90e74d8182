"""What is said unasked comes seldom, in other words each time, and is about something."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from echoic.packs.phrases import shipped
from handlers.mind.turn import Turn
from schemas.messages.controls import GoalsSet
from schemas.messages.decisions import Decided
from schemas.messages.executive import ReminderSet, UserStateChanged
from schemas.messages.notes import OpportunityDrawn
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.phrases import Phrases
from tests.factories import pack
from tests.handlers.mind.test_check_in import greet, tick
from tests.scenario import Scenario, names, one, said

WORDS = Phrases(
    language="en",
    patterns={},
    replies={},
    refusal="No.",
    check_ins=tuple(f"How are things, {each}?" for each in "abcdefgh"),
    check_ins_about={
        "topic": ("How is {topic} going?",),
        "goal": ("Any news on your goal: {topic}?",),
        "reminder": ("Coming up: {topic}.",),
    },
    observations=("A lot of {type}: {count}.",),
    calendar=shipped(("en",))[0].calendar,
    item="{text}, {when}",
)


def start(*packs: Any, **changes: Any) -> Scenario:
    """A scenario in which somebody is there, and remarks come at once."""
    told: dict[str, Any] = {
        "check_in": True,
        "check_in_probability": 1.0,
        "phrases": (WORDS,),
        "cooldown_s": 0.0,
        "languages": (),
    }
    return Scenario(*packs, executive=ExecutiveSettings(**told | changes))


def hum(scenario: Scenario, until: datetime) -> None:
    """A sensor tells something every ten minutes, so that the session goes on."""
    while scenario.at + timedelta(minutes=10) < until:
        scenario.wait(600).sense("so it is", intent="informational")


def minutes(scenario: Scenario, count: int, answered: bool = False) -> list[int]:
    """At which minutes of so many a check-in comes."""
    began, asked = scenario.at, []
    greet(scenario)
    while scenario.mind.timers and scenario.mind.timers[0].due <= began + timedelta(
        minutes=count
    ):
        hum(scenario, scenario.mind.timers[0].due)
        turn = tick(scenario)
        if said(turn, Decided):
            asked.append(round((scenario.at - began).total_seconds() / 60.0))
            if answered:
                greet(scenario.wait(5), "fine")
    return asked


@pytest.mark.parametrize(
    ("changes", "answered", "asked"),
    [
        # Ten minutes into the session, ten after the first, and then no more.
        ({}, False, [10, 20]),
        # Whoever answers is asked on: twice an hour.
        ({}, True, [10, 15, 70, 75]),
        ({"unasked_per_hour": 1}, True, [10, 70]),
        ({"unasked_unanswered": 1}, False, [10]),
        # Each one that nobody answers doubles the wait.
        ({"unasked_per_hour": 0, "unasked_unanswered": 0}, False, [10, 20, 40, 80]),
        (
            {"unasked_per_hour": 0, "unasked_unanswered": 0, "check_in_backoff": 1.0},
            False,
            [*range(10, 46, 5)],
        ),
    ],
    ids=["usual", "answered", "one", "unanswered once", "halved", "words run out"],
)
def test_how_often_somebody_is_asked(
    changes: dict[str, Any], answered: bool, asked: list[int]
) -> None:
    """In an hour and a half, at a probability of one."""
    assert minutes(start(**changes), 90, answered) == asked


def test_who_answers_is_asked_again_sooner() -> None:
    """The chance is halved by one that nobody answered, and as before by a word."""
    scenario = start(check_in_probability=0.5)
    greet(scenario)
    unanswered = one(tick(scenario), OpportunityDrawn)
    answered = one(greet(scenario.wait(1), "fine"), OpportunityDrawn)

    assert (unanswered.chance, answered.chance) == (0.075, 0.15)


def test_the_same_words_rest_for_a_day() -> None:
    """Then they may be said again."""
    scenario = start(unasked_per_hour=0)
    heard: list[str] = []
    for _ in range(8):
        greet(scenario.wait(60))
        heard.append(one(tick(scenario), Decided).text or "")

    assert sorted(heard) == list(WORDS.check_ins)
    assert not scenario.mind.timers
    assert not said(greet(scenario.wait(60)), OpportunityDrawn)
    assert said(greet(scenario.wait(86_400)), OpportunityDrawn)


@pytest.mark.parametrize(
    ("control", "text", "person"),
    [
        (UserStateChanged(focus="the exam"), "How is the exam going?", None),
        (
            UserStateChanged(focus="the exam.", person="ada"),
            "How is the exam going?",
            "ada",
        ),
        (GoalsSet(goals=("run 5 km",)), "Any news on your goal: run 5 km?", None),
        (
            ReminderSet(text="call Lee", in_s=7_200.0, person="ada"),
            "Coming up: call Lee, today at 14:00.",
            "ada",
        ),
        # A few minutes ahead it comes by itself, and tomorrow is far.
        (ReminderSet(text="call Lee", in_s=700.0), "How are things", None),
        (ReminderSet(text="call Lee", in_s=200_000.0), "How are things", None),
    ],
    ids=["focus", "a person's", "goal", "reminder", "soon", "far"],
)
def test_a_check_in_mentions_what_there_is(
    control: Any, text: str, person: str | None
) -> None:
    """Once; then it is asked in general. What is a person's is said to that person."""
    scenario = start(timezone="UTC")
    scenario.control(control)
    greet(scenario)
    decided = one(tick(scenario), Decided)
    then = one(tick(scenario), Decided)

    assert (decided.text or "").startswith(text)
    assert decided.person == person
    assert (then.text or "").startswith("How are things") or text == "How are things"


def often(scenario: Scenario, **event: Any) -> Turn:
    """Five events of a kind, of which somebody hears."""
    scenario.control(UserStateChanged(away=False))
    scenario.wait(1_200)
    turns = [
        scenario.wait(10).sense("so it is", source="meter", **event) for _ in range(5)
    ]
    return turns[-1]


@pytest.mark.parametrize(
    ("event", "declared", "is_remarked"),
    [
        ({"type_": "mined"}, [], True),
        ({"type_": "reading", "intent": "informational"}, [], False),
        # A pack that declares it, and has no words for it, thinks it not worth one.
        ({"type_": "mined"}, [{"type": "mined"}], False),
        ({"type_": "mined"}, [{"type": "mined", "observation": "Busy."}], True),
    ],
    ids=["unknown", "informational", "declared", "with words"],
)
def test_what_is_worth_an_observation(
    event: dict[str, Any], declared: list[dict[str, Any]], is_remarked: bool
) -> None:
    """Informational readings make none."""
    packs = (pack(events=declared),) if declared else ()
    scenario = start(*packs, check_in=False, observation=True)

    assert ("OpportunityDrawn" in names(often(scenario, **event))) is is_remarked


def test_what_waited_and_was_dropped_counts_to_nothing() -> None:
    """Nobody heard it, so nobody left it unanswered."""
    scenario = start()
    greet(scenario)
    scenario.control(UserStateChanged(busy=True))
    held = tick(scenario)
    assert "Held" in names(held)
    assert scenario.mind.executive.initiative.unasked
    while scenario.mind.executive.waiting:
        tick(scenario)

    assert not scenario.mind.executive.initiative.unasked
