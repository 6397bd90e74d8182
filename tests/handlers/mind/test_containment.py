"""Whatever an input makes the mind or a fold raise, it is answered and nothing is lost."""

import inspect
import sys
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, NoReturn

import pytest
from msgspec.structs import replace

from handlers.mind import flows, handle, stages
from handlers.mind import turn as turns
from handlers.mind.context import TurnContext
from handlers.mind.flows import decide, initiate
from handlers.mind.stages import completion, outcomes, salience
from handlers.mind.turn import Turn
from projections import folds
from projections.folds import credit, timers
from projections.folds.partition import fold_recorded
from schemas.codec import checkpoint
from schemas.messages.controls import (
    GoalsSet,
    HeuristicFrozen,
    HeuristicSeeded,
    ProfileSet,
    SessionEnded,
    SessionStarted,
    SleepRequested,
)
from schemas.messages.decisions import Decided, Dropped
from schemas.messages.executive import ReminderSet
from schemas.messages.notes import Quarantined, TimerFailed
from schemas.messages.results import ClockTicked
from schemas.messages.sensing import Sensed
from schemas.ports import faults
from schemas.ports.aids import Aids
from schemas.ports.faults import MissingAidsError, MissingPackError
from schemas.state.agent import STRANGER
from schemas.values.base import Message
from schemas.values.recurrence import EVERY_DAY, Repeat
from schemas.values.subjects import INPUT_KINDS, parse
from tests import checked_messages, factories, invariants
from tests.factories import heuristic, pack, pattern
from tests.scenario import Scenario, names, one, said

GARDEN = pack(
    heuristic("low", "health low", "Drink."),
    heuristic("dusk", "dusk falls", "Sleep.", confidence=0.4),
    patterns=[pattern("health", "better", 40)],
)
SETTINGS: dict[str, Any] = {
    "model": factories.MODEL,
    "formation": True,
    "endorsement": True,
    "sleep": {"events": 8},
    "learning": {"undo_s": 30.0, "ignored_after": 1},
}
ERRORS = (ValueError, RecursionError, SystemExit, AssertionError)


def modules() -> list[str]:
    """Every module of the pure part that an input passes through."""
    packages = (flows, stages, folds)
    return [
        handle.__name__,
        *(
            each.name
            for package in packages
            for each in walk_packages(package.__path__, f"{package.__name__}.")
        ),
    ]


def scenario_of_all_kinds() -> Scenario:
    """A scenario in which each kind of input comes, and most stages have something to do."""
    scenario = Scenario(GARDEN, **SETTINGS)
    scenario.control(SessionStarted(session_id="s"))
    scenario.control(
        HeuristicSeeded(
            heuristic_id="h", name="n", domain="garden", condition="rain", text="Hide."
        )
    )
    scenario.control(ProfileSet(biases={"confidence_threshold": 0.0}))
    scenario.control(GoalsSet(goals=("survive",)))
    scenario.sense("health low", salience={"threat": 0.9})
    told = scenario.sense("health better")
    scenario.feedback(scenario.sense("health low", salience={"threat": 0.9}))
    asked = scenario.sense("zombies at the door", salience={"threat": 0.9})
    scenario.wait(2).answer_model(asked, "Run!", success_probability=0.9)
    formed = scenario.feedback(asked)
    scenario.answer_model(formed, '{"condition": "zombies near", "message": "Run!"}')
    failed = scenario.sense("a stranger at the gate", salience={"threat": 0.9})
    scenario.fail_model(failed)
    scenario.sense("rain", salience={"threat": 0.9})
    scenario.sense("health low", salience={"threat": 0.9})
    scenario.sense("wolves howl at the moon", salience={"threat": 0.9})
    scenario.wait(200).tell(ClockTicked(due_at=scenario.at))
    scenario.control(HeuristicFrozen(heuristic_id="h"))
    slept = scenario.control(SleepRequested())
    if "ModelAsked" in names(slept):
        scenario.answer_model(slept, '{"response": "Wait."}')
    scenario.feedback(told, "negative")
    scenario.control(SessionEnded())
    return scenario


CLEAN = scenario_of_all_kinds()
RECORDS = [turn.input.record for turn in CLEAN.turns]


def functions(module: ModuleType) -> list[str]:
    """A module's own public functions."""
    return [
        name
        for name, each in inspect.getmembers(module, inspect.isfunction)
        if each.__module__ == module.__name__ and not name.startswith("_")
    ]


def called() -> set[str]:
    """Which functions the script passes through: the others cannot fail it."""
    seen: dict[str, None] = {}

    def look(frame: Any, event: str, _: object) -> None:
        if event == "call":
            module = frame.f_globals.get("__name__", "")
            seen[f"{module}.{frame.f_code.co_qualname}"] = None

    sys.setprofile(look)
    try:
        live(Scenario(GARDEN, **SETTINGS))
    finally:
        sys.setprofile(None)
    return set(seen)


def live(scenario: Scenario) -> None:
    """Let the script happen to a scenario, with faults allowed."""
    scenario.may_fail = True
    for record in RECORDS[len(scenario.turns) :]:
        before = scenario.state
        turn = scenario.answer(record)
        scenario.turns.append(turn)
        scenario.state = turn.state
        if invariants.is_kept_apart(turn):
            own = turn.input.agent
            stood = before.agents.get(own, STRANGER)
            after = turn.state.agents.get(own, STRANGER)
            assert after == replace(stood, chain=after.chain)


@pytest.fixture(scope="module")
def passed() -> set[str]:
    """Which functions the script passes through."""
    return called()


def injected(module: ModuleType, passed: set[str]) -> Iterator[tuple[str, Any]]:
    """Each function of a module that matters, and what it raises instead."""
    for place, name in enumerate(functions(module)):
        if f"{module.__name__}.{name}" in passed and name not in GUARDS:
            yield name, ERRORS[place % len(ERRORS)]


GUARDS = {"kept_apart", "quarantined", "evolve", "concluded", "linked", "charged"}
"""What answers, and is folded, when all else fails."""


def test_the_script_has_inputs_of_every_kind() -> None:
    """What is injected into is passed by sensors, feedback, controls, ticks, results."""
    kinds = {parse(record.subject).kind for record in RECORDS}

    assert kinds == set(INPUT_KINDS)


@pytest.mark.parametrize("name", modules())
def test_a_fault_in_any_stage_or_fold_is_answered(
    name: str, passed: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each input gets its group on the state before it, and the next one is answered."""
    module = import_module(name)
    for function, error in injected(module, passed):

        def fail(*_: object, raised: Any = error, **__: object) -> NoReturn:
            raise raised("at 0x7f00")

        scenario = Scenario(GARDEN, **SETTINGS)
        with monkeypatch.context() as patch:
            put(patch, module, function, fail)
            live(scenario)
        scenario.may_fail = False
        scenario.wait(3_600).sense("all is quiet", type_="thing")

        assert len(scenario.turns) == len(RECORDS) + 1
        details = [
            each.detail
            for each in scenario.outputs()
            if isinstance(each, Quarantined | TimerFailed)
        ]
        assert not any("0x" in detail for detail in details)


def put(patch: pytest.MonkeyPatch, module: ModuleType, name: str, fake: Any) -> None:
    """Put another function in a function's place: in its module, and where a table has it."""
    real = getattr(module, name)
    patch.setattr(module, name, fake)
    for table in tables():
        for key, row in list(table.items()):
            for each in row if isinstance(row, tuple) else (row,):
                for cell in getattr(each, "__closure__", None) or ():
                    if cell.cell_contents is real:
                        patch.setattr(cell, "cell_contents", fake)
            if row is real:
                patch.setitem(table, key, fake)
            elif isinstance(row, tuple) and any(each is real for each in row):
                swapped = (fake if each is real else each for each in row)
                patch.setitem(table, key, getattr(row, "_make", tuple)(swapped))


def tables() -> Iterator[dict[Any, Any]]:
    """Each table of the pure part that an input passes through."""
    for name in modules():
        for constant, each in vars(import_module(name)).items():
            if isinstance(each, dict) and not constant.startswith("__"):
                yield each


def boom(*_: object, **__: object) -> NoReturn:
    """Raise, as any stage might."""
    raise ZeroDivisionError("at 0x7f00")


def test_an_error_is_named_by_its_type_and_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not by its words, which may hold what differs from one process to the next."""
    scenario = Scenario()
    scenario.may_fail = True
    monkeypatch.setattr(salience, "assess", boom)
    turn = scenario.sense("dusk")

    note = one(turn, Quarantined)
    assert note.reason == "error"
    assert note.detail == "ZeroDivisionError in handlers.mind.flows.decide._occasion"
    assert scenario.mind == replace(STRANGER, chain=scenario.mind.chain)


def test_a_recursion_is_named_alike_however_deep_it_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Worker and replay call the mind from other depths."""

    def again(group: TurnContext, event: Sensed) -> None:
        decide.decide(group, event)

    monkeypatch.setattr(
        decide, "_occasion", lambda group, event, *_: again(group, event)
    )
    scenario = Scenario()
    scenario.may_fail = True

    def lower(depth: int) -> Turn:
        return lower(depth - 1) if depth else scenario.sense("dusk")

    found = [one(lower(depth), Quarantined).detail for depth in (0, 1, 7, 100)]
    assert found == ["RecursionError in handlers.mind.flows.decide.decide"] * 4


@pytest.mark.parametrize("error", [MemoryError, OSError, MissingPackError])
def test_a_fault_of_the_shell_is_nobodys_answer(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same input may be answered a moment later, so nothing is recorded."""

    def lack(*_: object, **__: object) -> NoReturn:
        raise error

    scenario = Scenario()
    monkeypatch.setattr(salience, "assess", lack)

    with pytest.raises(error):
        scenario.sense("dusk")


def test_a_timer_that_raises_is_ended_and_holds_up_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its decision is dropped with the reason, and the input is answered beside it."""
    scenario = Scenario(model=factories.MODEL)
    scenario.may_fail = True
    asked = scenario.sense("zombies at the door", salience={"threat": 0.9})
    assert "ModelAsked" in names(asked)
    monkeypatch.setattr(completion, "given_up", boom)
    turn = scenario.wait(200).sense("quiet", immediate=False)

    (failed,) = said(turn, TimerFailed)
    assert failed.purpose == "model"
    assert failed.detail == "ZeroDivisionError in handlers.mind.handle._unanswered"
    assert one(turn, Dropped).reason == "error"
    assert "Decided" in names(turn)
    assert not scenario.mind.timers
    assert not scenario.mind.pending


def test_a_timer_ends_even_if_its_fold_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends it takes no other fold's help."""
    scenario = Scenario(GARDEN)
    scenario.may_fail = True
    scenario.sense("health low", salience={"threat": 0.9})
    put(monkeypatch, credit, "expired", boom)
    tick = scenario.wait(200).tell(ClockTicked(due_at=scenario.at))

    assert names(tick) == ["TimerFailed", "Handled"]
    assert not scenario.mind.timers
    assert not scenario.mind.fires


def test_a_group_that_is_too_large_runs_fewer_timers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rest runs with the inputs that follow; no timer is lost."""
    monkeypatch.setattr(faults, "GROUP_LIMIT", 4)
    scenario = Scenario(GARDEN)
    for number in range(10):
        scenario.sense(f"health low {number}", salience={"threat": 0.9})
    waiting = len(scenario.mind.timers)
    scenario.wait(200)
    sizes = [len(scenario.sense(f"quiet {number}").outputs) for number in range(8)]

    assert waiting > 4
    assert max(sizes) <= 4
    assert sum(sizes) == waiting + 8
    assert not scenario.mind.timers


@pytest.mark.parametrize("limit", ["GROUP_LIMIT", "BODY_LIMIT"])
def test_an_answer_that_is_too_large_is_kept_apart(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note says how large it was, and what the limit is."""
    scenario = Scenario(GARDEN)
    scenario.may_fail = True
    with monkeypatch.context() as patch:
        patch.setattr(faults, limit, 1 if limit == "GROUP_LIMIT" else 500)
        note = one(scenario.sense("health low"), Quarantined)

    assert note.detail.startswith("OversizeError in schemas.ports.faults.check_size: ")
    assert "the limit is" in note.detail
    assert "Decided" in names(scenario.sense("health low"))


def test_what_the_shell_cannot_work_out_is_kept_apart() -> None:
    """An embedder that chokes on one text costs that text its decision, no more."""
    scenario = Scenario()
    scenario.may_fail = True
    taken = scenario.sense("dusk").input
    aids = Aids(fault="ValueError in handlers.aids.Bringer._embed")
    turn = turns.answer(scenario.state, taken, aids, factories.EPOCH)

    assert one(turn, Quarantined).detail == aids.fault
    records = [each.record for each in turn.outputs]
    folded = fold_recorded(scenario.state, taken, records, aids)
    assert checkpoint.dump(folded) == checkpoint.dump(turn.state)


def test_a_recorded_answer_is_not_folded_without_its_vectors() -> None:
    """What was answered then rests on what cannot be worked out now: that is said."""
    scenario = Scenario()
    turn = scenario.sense("dusk")
    records = [each.record for each in turn.outputs]

    with pytest.raises(MissingAidsError, match="use the program that wrote it"):
        fold_recorded(scenario.state, turn.input, records, Aids(fault="x"))


def test_an_input_is_answered_though_no_timer_can_be_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Were the fold of a failed timer to fail, its timer would only wait on."""
    scenario = Scenario(GARDEN)
    scenario.may_fail = True
    scenario.sense("health low", salience={"threat": 0.9})
    monkeypatch.setattr(outcomes, "expired", boom)
    monkeypatch.setattr(timers, "failed", boom)
    turn = scenario.wait(200).sense("quiet")

    assert names(turn) == ["Decided"]
    assert len(scenario.mind.timers) == 1


def test_a_reminder_that_recurs_comes_again_though_its_timer_raises(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One day's failure is announced; the next day it is said."""
    scenario = Scenario()
    scenario.may_fail = True
    daily = Repeat(weekdays=EVERY_DAY, hour=9)
    due = scenario.at + timedelta(hours=1)
    scenario.control(ReminderSet(text="the pills", due_at=due, repeat=daily))
    with monkeypatch.context() as patch:
        put(patch, initiate, "remind", boom)
        failed = scenario.wait(3_600).tell(ClockTicked(due_at=scenario.at))

    assert one(failed, TimerFailed).purpose == "reminder"
    (held,) = scenario.mind.executive.reminders.awaited
    assert held.due > due
    scenario.wait((held.due - scenario.at).total_seconds())
    assert one(scenario.tell(ClockTicked(due_at=held.due)), Decided).text
    assert len(scenario.mind.executive.reminders.awaited) == 1


def test_what_nobody_could_read_again_is_never_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A message beyond its limits is a fault of the input, and not of the log."""
    scenario = Scenario()
    scenario.may_fail = True
    too_long = Dropped(decision_id="d", reason="error", detail="x" * 2_001)
    made = handle.Outputs(factories.NOON, (too_long,), STRANGER)
    monkeypatch.setattr(handle, "handle", lambda *_, **__: made)
    # Without the tests' own check of all that is written.
    monkeypatch.setattr(Message, "to_bytes", checked_messages.unchecked_bytes)

    assert one(scenario.sense("health low"), Quarantined).reason == "error"
