"""Bounds: what could grow a prompt or a memory without end is refused at intake."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from handlers.mind.turn import Turn
from projections.folds import events
from schemas.codec.catalogue import ControlMessage
from schemas.codec.encode import write_input
from schemas.messages.arms import Action
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import (
    ExperimentStarted,
    GoalsSet,
    HeuristicSeeded,
    SessionEnded,
    SessionStarted,
    StrategySelected,
)
from schemas.messages.experiments import Variant
from schemas.messages.notes import ControlRefused, Quarantined
from tests import factories
from tests.factories import heuristic, pack
from tests.scenario import Scenario, names, occurred, one, refused, said

CONTROL = "\x01"
PARAMS: dict[str, Any] = {str(n): 1e15 for n in range(200)}
TERSE = "1e15," * 45_000
CONTROLS: tuple[ControlMessage, ...] = (
    HeuristicSeeded(
        heuristic_id="h",
        name="h",
        domain="game",
        condition="zombies near",
        text="Run!",
        confidence=0.9,
        action=Action(type="run", params={"all": []}),
    ),
    GoalsSet(goals=tuple(f"{n}{CONTROL * 1_200}" for n in range(32))),
    ExperimentStarted(
        experiment_id="x",
        a=Variant(personality=CONTROL * 4_000),
        b=Variant(personality=CONTROL * 4_000),
    ),
    StrategySelected(strategy="hybrid"),
)
"""Each was accepted, and together they made a `ModelAsked` of over a megabyte."""


def scenario(**settings: Any) -> Scenario:
    """An agent with a model."""
    return Scenario(model=factories.MODEL, threshold=0.7, **settings)


def tersely(course: Scenario, message: ControlMessage) -> Turn:
    """A control whose list of numbers is sent shorter than it is written."""
    wire = write_input(
        message,
        agent=course.agent,
        partition=course.partition,
        id_="c",
        source="/tests",
    )
    body = wire.body.replace(b'"all":[]', f'"all":[{TERSE}0]'.encode())
    return course.take(wire.subject, body, wire.headers)


def test_what_no_prompt_can_hold_is_refused() -> None:
    """Four controls that stopped the mind for ever: three are refused, none stops it."""
    course = scenario()
    answers = [tersely(course, each) for each in CONTROLS]
    turn = course.sense("zombies near", salience={"social": 0.9})

    assert [names(each) for each in answers] == [
        *[["ControlRefused"]] * 3,
        ["ControlApplied"],
    ]
    details = [said(each, ControlRefused)[0].detail for each in answers[:3]]
    assert "once written, the limit is 32,000" in details[0]
    assert "the limit is 500" in details[1]
    assert len(one(turn, ModelAsked).to_bytes()) < 10_000


def nested(depth: int) -> dict[str, Any]:
    """A value of so many levels."""
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({str(n): n for n in range(300)}, "more than 256 values"),
        (nested(18), "nested deeper than 16 levels"),
        ({"a": [1e15] * 200, "b": "x" * 40_000}, "once written"),
    ],
)
def test_fields_are_bounded(fields: dict[str, Any], why: str) -> None:
    """In number, depth and bytes; an event over any of these is kept apart."""
    note = one(scenario().sense("dusk", fields=fields), Quarantined)

    assert note.reason == "too_large"
    assert why in note.detail


def test_what_is_within_the_bounds_is_taken() -> None:
    """As much as any sensor or person sends."""
    course = scenario()
    turn = course.sense("dusk", fields={**PARAMS, "deep": nested(14)})
    told = course.control(GoalsSet(goals=("x" * 500,) * 32))
    variant = Variant(personality="蛙" * 1_300)
    begun = course.control(ExperimentStarted(experiment_id="x", a=variant, b=variant))

    assert "Decided" in names(turn)
    assert names(told) == names(begun) == ["ControlApplied"]


def test_a_habit_remembers_little_of_its_fields() -> None:
    """Two values are told apart however long they are; their digest is enough."""
    low = heuristic("low", "dusk", "Rest.", when='note = "x"')
    course = Scenario(pack(low))
    for note in ("a" * 5_000, "b" * 5_000, "a" * 5_000):
        course.sense("dusk falls", fields={"note": note})

    (known,) = (course.mind.habits.get(key) for key in course.mind.habits.sorted_keys())
    assert known is not None
    assert len(known) == 2
    longest = max(len(each.named) for each in known)
    assert longest <= events._NAMED_LIMIT


@pytest.mark.parametrize("years", [50, 160, -623])
def test_a_leap_of_the_clock_stops_nothing(years: int) -> None:
    """A model asked in one century may answer in another."""
    course = scenario()
    there = course.at + timedelta(days=365 * years)
    course.control(SessionStarted(session_id="s", clock="event"))
    asked = course.sense(
        "zombies near", salience={"threat": 0.9}, occurred_at=occurred(there)
    )
    assert "ModelAsked" in names(asked)
    course.control(SessionEnded())
    heard = course.answer_model(asked, "Run!")
    later = course.sense("zombies near", salience={"social": 0.9})

    assert not any(isinstance(each, Quarantined) for each in course.outputs())
    assert all(each.ttl_s <= 1e9 for each in said(heard, DeliveryAsked))
    assert "Decided" in names(later)


@pytest.mark.parametrize("year", [1403, 2187])
def test_an_answer_in_the_clock_of_a_recording_stops_nothing(year: int) -> None:
    """The model was asked live; its answer comes while a recording is played."""
    course = scenario()
    asked = course.sense("zombies near", salience={"social": 0.9})
    course.control(SessionStarted(session_id="s", clock="event"))
    there = course.at.replace(year=year)
    course.sense("dusk", occurred_at=occurred(there), immediate=False)
    heard = course.answer_model(asked, "Run!")

    assert "Handled" in names(heard)
    assert refused(course.control(replace(CONTROLS[3], strategy="nosuch")))
