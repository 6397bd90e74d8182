"""What is in force, as an operator would give it, and how `up` and `status` name it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import RenderableType

from echoic import doctor
from echoic.cli import status, up
from echoic.client import health
from echoic.client.in_force import as_given, explored, own_of
from echoic.config.load import load, mind_settings
from echoic.config.options import OPTIONS
from echoic.run.instance import Instance
from echoic.status import Status
from echoic.terminal.called import as_typed
from echoic.terminal.screen import rendered
from replay.recording.in_force import in_force_before
from schemas.messages.controls import (
    ExperimentStarted,
    ProposalApplied,
    ProposalReverted,
    ProposalSubmitted,
)
from schemas.messages.experiments import Variant
from schemas.values.base import Scalar
from schemas.values.settings import MatchLimits, MindSettings, StrategySpec
from streams.jetstream.accounts import Credentials
from streams.session_files.memory_log import SessionLog
from tests.replay.scenarios import file_of_scenario
from tests.scenario import Scenario

LIMITS = MatchLimits(match=0.5, duplicate=0.9, endorse=0.5)


def settings_of(folder: Path, **environment: str) -> MindSettings:
    """What an instance would start with there."""
    own = {"XDG_CONFIG_HOME": str(folder)} | environment
    return mind_settings(load(None, environment=own, folder=folder), LIMITS)


@pytest.mark.parametrize(
    ("variables", "differ"),
    [
        ({}, {}),
        ({"ECHOIC_THRESHOLD": "0.6"}, {"threshold": 0.6}),
        ({"ECHOIC_LEARNING_FORMATION": "off"}, {"learning.formation": "off"}),
        (
            {
                "ECHOIC_EXPLORATION_RATE": "0.2",
                "ECHOIC_EXPLORATION_CHALLENGER": "heuristic_first:threshold=0.5",
            },
            {
                "exploration.scheme": "challenger",
                "exploration.rate": 0.2,
                "exploration.challenger": ("heuristic_first:threshold=0.5",),
            },
        ),
    ],
    ids=["nothing", "a number", "a switch", "exploration"],
)
def test_only_what_differs_is_named(
    tmp_path: Path, variables: dict[str, str], differ: dict[str, object]
) -> None:
    """By the names of options, in the form in which they are given."""
    here = as_given(settings_of(tmp_path))
    there = as_given(settings_of(tmp_path, **variables))

    assert {name: v for name, v in there.items() if here.get(name) != v} == differ
    assert set(there) <= {option.name for option in OPTIONS}


def test_how_it_explores_is_said_in_one_line(tmp_path: Path) -> None:
    """With whom it follows; nothing where it does not."""
    follows = settings_of(tmp_path, ECHOIC_EXPLORATION_CHALLENGER="silent")

    assert explored(follows.exploration) == "challenger at 0.1: silent"
    assert explored(settings_of(tmp_path).exploration) is None


async def test_what_an_agent_has_of_its_own_is_said() -> None:
    """By a proposal, until it is reverted; and an experiment while it runs."""
    scenario = Scenario()

    async def own() -> str | None:
        log = SessionLog(file_of_scenario(scenario))
        return own_of("ada", await in_force_before(log, scenario.agent))

    changes: dict[str, Scalar] = {"strategy.threshold": 0.6}
    scenario.control(ProposalSubmitted(proposal_id="tune-1", changes=changes))
    assert await own() is None
    scenario.control(ProposalApplied(proposal_id="tune-1"))
    applied = "ada: strategy heuristic_first:threshold=0.6, proposal tune-1"
    assert await own() == applied

    silent = Variant(strategy=StrategySpec(name="silent"))
    scenario.control(ExperimentStarted(experiment_id="e", b=silent))
    assert await own() == f"{applied}; experiment: as set against silent"
    scenario.control(ProposalReverted(proposal_id="tune-1"))
    assert await own() == "ada: experiment: as set against silent"


OWN = "ada: experiment: as set against silent"


def lines(screen: Iterable[RenderableType]) -> dict[str, str]:
    """The lines of a screen that have a label, without the runs of spaces, by it."""
    words = [line.split() for line in rendered(screen).splitlines()]
    return {each[0]: " ".join(each[1:]) for each in words if len(each) > 1}


def instance_with(folder: Path, **environment: str) -> Instance:
    """An instance as its start prints it: nothing runs."""
    own = {"XDG_CONFIG_HOME": str(folder)} | environment
    nothing = cast("Any", None)
    return Instance(
        settings=load({"data": str(folder)}, environment=own, folder=folder),
        credentials=Credentials(url="nats://127.0.0.1:1", user="u", password="p"),
        database_url=None,
        client=nothing,
        log=nothing,
        worker=nothing,
        embedder=nothing,
        model=None,
        metrics_url=None,
        tasks=nothing,
    )


@pytest.mark.parametrize(
    ("variables", "own", "told"),
    [
        ({}, "", {}),
        ({"ECHOIC_THRESHOLD": "0.6"}, "", {}),
        ({}, OWN, {"own": OWN}),
        (
            {
                "ECHOIC_EXPLORATION_RATE": "0.2",
                "ECHOIC_EXPLORATION_CHALLENGER": "silent",
            },
            "",
            {"exploration": "challenger at 0.2: silent"},
        ),
        ({"ECHOIC_PACKS": "packs/desk"}, "", {"packs": "desk"}),
    ],
    ids=["nothing", "a number", "an experiment", "exploration", "a pack"],
)
def test_a_start_names_what_is_unusual(
    tmp_path: Path, variables: dict[str, str], own: str, told: dict[str, str]
) -> None:
    """After who decides; what is as usual has no line."""
    shown = lines(up._banner(instance_with(tmp_path, **variables), own))

    threshold = variables.get("ECHOIC_THRESHOLD", "0.7")
    no_model = "no model: only what was learnt answers"
    assert shown["mind"] == f"heuristic_first, threshold {threshold}; {no_model}"
    unusual = ("exploration", "own", "packs")
    assert {name: shown[name] for name in unusual if name in shown} == told


UNPRICED = "openai/m answers, but has no price: the budget stops nothing"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, {"model": "none: only what was learnt answers"}),
        ({"own": (OWN,)}, {"own": OWN}),
        ({"exploration": "challenger at 0.2: silent"}, None),
        ({"packs": ("desk 1.0", "home 2.1")}, {"packs": "desk 1.0, home 2.1"}),
        ({"model": UNPRICED}, None),
    ],
    ids=["nothing", "an experiment", "exploration", "packs", "a budget without price"],
)
def test_the_status_names_what_is_unusual(
    tmp_path: Path, changes: dict[str, Any], told: dict[str, str] | None
) -> None:
    """As the start does; a model that was tried and is wrong stands for its name."""
    usual = dict.fromkeys(Status.__annotations__, "") | {
        "mind": settings_of(tmp_path),
        "model": None,
        "since": None,
        "last_message": 0,
    }
    lists = dict.fromkeys(("own", "packs", "peace", "fallen", "lately", "workers"), ())
    shown = lines(status._screen(Status(**usual | lists | changes)))

    unusual = ("exploration", "own", "packs")
    wanted = changes if told is None else told
    assert {name: shown[name] for name in wanted} == wanted
    assert {name for name in unusual if name in shown} == {*unusual} & {*wanted}


async def test_a_start_tells_that_a_budget_has_no_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the next command, and leaves it for `status`; `doctor` says how to set one."""

    class Left(Exception):
        """What is left for the commands that come after ends the trial."""

    async def tried(*_: object) -> health.Tried:
        return health.Tried("unpriced", UNPRICED)

    async def answered(*_: object) -> dict[str, health.Tried]:
        return {"model": await tried()}

    def leave(_: Path, note: Any) -> None:
        raise Left(note.model)

    monkeypatch.setattr(health, "model_works", tried)
    monkeypatch.setattr(health, "ask", answered)
    monkeypatch.setattr(up, "write_note", leave)
    running = instance_with(tmp_path)
    with pytest.raises(Left, match=UNPRICED):
        await up._try_model(running, up._note(running))

    told = f"model: {UNPRICED}\n  → {as_typed('echoic doctor')}\n"
    assert capsys.readouterr().err == told
    connection = cast("Any", running)
    (check,) = await doctor._tried(connection, running.settings)
    assert (check.verdict, check.found) == ("problem", UNPRICED)
    assert "ECHOIC_MODEL_PRICE=0.15,0.60" in str(check.advice)
