"""Strategies of one's own: listed, checked, and never the end of the mind."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from handlers.mind.strategies import plugin
from handlers.mind.strategies.registry import (
    UnknownStrategyError,
    create_decision_strategy,
)
from schemas.messages.arms import SILENT
from schemas.messages.controls import StrategySelected
from schemas.messages.decisions import Decided
from schemas.messages.notes import ControlRefused
from schemas.ports.decision_context import DecisionContext, Odds, Strategy
from schemas.ports.faults import MissingStrategyError
from schemas.values.settings import StrategySpec
from schemas.values.subjects import SHARED_AGENT
from tests.factories import MODEL, candidate, heuristic, mind_started, pack, settings
from tests.scenario import Scenario, applied, one, refused

MINE = "tests.handlers.mind.strategies.mine"
NEARBY = "nearby_strategy"
LISTED = (MINE, NEARBY, "no.such.module", "", "echoic.cli.program")
LLM = "llm:m@t@s"
BEST = candidate("best")


@pytest.fixture(autouse=True)
def listed() -> Iterator[None]:
    """What the operator lists."""
    plugin.allow(LISTED)
    yield
    plugin.allow(())


def own(name: str, **parameters: JsonValue) -> Strategy:
    """A strategy of one's own."""
    spec = StrategySpec(name=name, parameters=parameters)
    return create_decision_strategy(spec, settings())


def odds(name: str, **parameters: JsonValue) -> Odds:
    """What it says to a candidate and a model."""
    context = DecisionContext(
        event_id="e",
        event_text="x",
        event_source="game",
        candidates=(BEST, candidate("frozen", eligible=False)),
        llm_arm=LLM,
    )
    return own(f"{MINE}:{name}", **parameters).decide(context)


def test_it_is_known_by_where_it_was_found() -> None:
    """Name, version and parameters are on record."""
    made = own(f"{MINE}:make", silent=1.0)

    assert (made.name, made.version) == (f"{MINE}:make", 3)
    assert made.config == {
        "strategy": f"{MINE}:make",
        "parameters": {"silent": 1.0},
        "silent": 1.0,
    }


def test_version_and_configuration_may_be_left_out() -> None:
    """Whatever decides is a strategy."""
    made = own(f"{MINE}:plain")

    assert (made.version, odds("plain").gates[0].name) == (1, "mine")


@pytest.mark.parametrize(
    ("given", "arms"),
    [
        ({"best": 1.0}, ((BEST.arm, 1.0),)),
        ({"best": 1 / 3, "llm": 2 / 3}, ((BEST.arm, 0.333333), (LLM, 0.666667))),
        (
            {"race": 0.5, "silent": 0.5},
            ((f"race:{LLM}+{BEST.arm}@250", 0.5), (SILENT, 0.5)),
        ),
    ],
    ids=["certain", "thirds", "race"],
)
def test_its_odds_are_taken_in_millionths(
    given: dict[str, Any], arms: tuple[tuple[str, float], ...]
) -> None:
    """Candidates, the model, a race of the two and silence are on offer."""
    assert odds("make", **given).arms == arms


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("make", {"heuristic:frozen@c0": 1.0}, "not on offer"),
        ("make", {f"race:{LLM}+{BEST.arm}@soon": 1.0}, "not on offer"),
        ("make", {"best": 0.5}, "add up to 0.5"),
        ("make", {"best": 1.5, "llm": -0.5}, "give 0 to 1"),
        ("make", {"best": 1.0, "greedy": "llm"}, "greedy arm"),
        ("make", {"best": 1.0, "silence": "bored"}, "no reason to be silent"),
        ("twice", {}, "twice"),
        ("gated", {}, "ValidationError"),
        ("failing", {}, "KeyError: 'mood'"),
    ],
)
def test_what_cannot_be_done_is_silence(
    name: str, given: dict[str, Any], says: str
) -> None:
    """The reason is `error`, and a gate says which."""
    found = odds(name, **given)

    assert (found.arms, found.silence) == (((SILENT, 1.0),), "error")
    assert says in (found.gates[0].note or "")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (f"{MINE}:make", "makes no strategy of {}: ValueError: give odds by arm"),
        (f"{MINE}:nothing", "returns None: return an object with decide"),
        (f"{MINE}:nobody", "defines no function 'nobody'"),
        (f"{MINE}:SILENT", "defines no function 'SILENT'"),
        (f"{MINE}:dataclass", "defines no function 'dataclass'"),
        (f"{MINE}:", "defines no function ''"),
        ("no.such.module:make", "cannot be imported: ModuleNotFoundError"),
        (":make", "cannot be imported: ValueError"),
        (f"{MINE}:waiting", "Waiting.decide is async"),
        ("echoic.cli.program:main", "Echoic's own code"),
    ],
)
def test_what_is_no_strategy_is_an_error(name: str, says: str) -> None:
    """It says what is missing; foreign functions are never called."""
    with pytest.raises(UnknownStrategyError) as error:
        own(name)

    assert says in str(error.value)


def written(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """A module of the operator's, that nobody has imported yet."""
    (folder / f"{NEARBY}.py").write_text(source)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, NEARBY, raising=False)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import random\n", "uses random, so a replay would decide otherwise"),
        ("def make(p):\n    from random import random\n", "uses random"),
        ("import numpy as np\nx = np.random\n", "uses numpy.random"),
        ("from os import urandom\n", "uses os.urandom"),
        ("import uuid\nname = uuid.uuid4\n", "uses uuid.uuid4"),
        ("raise SystemExit(3)\n", "cannot be imported: SystemExit: 3"),
        ("def make(:\n", "cannot be imported: SyntaxError"),
    ],
)
def test_a_module_that_cannot_be_used_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, says: str
) -> None:
    """One that draws is refused before its code runs."""
    written(tmp_path, monkeypatch, f"{source}\nimport sys\n")

    with pytest.raises(UnknownStrategyError) as error:
        own(f"{NEARBY}:make")

    assert says in str(error.value)
    assert NEARBY not in sys.modules


def test_what_is_not_listed_is_never_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by a control nor by the start of a mind; the control is refused."""
    written(tmp_path, monkeypatch, "raise AssertionError('it was imported')\n")
    scenario = Scenario(strategy_modules=(MINE,))

    for name in (f"{NEARBY}:make", "unittest.__main__:x"):
        turn = scenario.control(StrategySelected(strategy=name))
        assert refused(turn) == "unknown_strategy"
        assert "is not in strategies.modules" in (
            one(turn, ControlRefused).detail or ""
        )
    assert not {NEARBY, "unittest.__main__"} & set(sys.modules)


def test_what_is_recorded_decides_which_modules_are_admitted() -> None:
    """Where the module is not listed, the control replays and only deciding does not."""
    plugin.allow(())
    garden = pack(heuristic("dry", "the plants look dry", "Water them."))
    scenario = Scenario(garden, strategy_modules=(MINE,))

    turn = scenario.control(StrategySelected(strategy=f"{MINE}:plain"))

    assert applied(turn) == f"{MINE}:plain"
    with pytest.raises(MissingStrategyError, match=r"set strategies\.modules"):
        scenario.sense("the plants look dry")


def test_one_that_left_the_list_is_silent() -> None:
    """An agent chose it under the settings of before."""
    garden = pack(heuristic("dry", "the plants look dry", "Water them."))
    scenario = Scenario(garden, strategy_modules=(MINE,))
    scenario.control(StrategySelected(strategy=f"{MINE}:plain"))
    scenario.control(mind_started(), agent=SHARED_AGENT)

    decided = scenario.decide("the plants look dry", salience={"threat": 0.9})

    assert (decided.silence, decided.strategy) == ("error", f"{MINE}:plain")
    assert "is of no module in strategies.modules" in (decided.gates[-1].note or "")


def test_foreign_code_cannot_end_the_mind() -> None:
    """Not even by `sys.exit`: that is silence, too."""
    assert "SystemExit: 3" in (odds("leaving").gates[0].note or "")


def decision(name: str, **parameters: JsonValue) -> Decided:
    """A decision by a strategy of one's own."""
    garden = pack(heuristic("dry", "the plants look dry", "Water them."))
    spec = StrategySpec(name=f"{MINE}:{name}", parameters=parameters)
    scenario = Scenario(garden, model=MODEL, strategy=spec, strategy_modules=(MINE,))
    return scenario.decide("the plants look dry")


def test_it_decides_in_a_scenario() -> None:
    """The arm it took answers, under its name."""
    decided = decision("make", best=1.0)

    assert (decided.path, decided.text) == ("heuristic", "Water them.")
    assert decided.strategy == f"{MINE}:make"


def test_a_bug_in_it_is_silence_on_record() -> None:
    """The mind goes on, and the decision says what happened."""
    decided = decision("failing")

    assert (decided.path, decided.silence) == ("rejected", "error")
    assert decided.gates[-1].note == "KeyError: 'mood'"
