"""What is in force, as an operator would give it, and what an agent has of its own."""

from pathlib import Path

import pytest

from echoic.client.in_force import as_given, explored, own_of
from echoic.config.load import load, mind_settings
from echoic.config.options import OPTIONS
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
