"""The three `EXECUTIVE_*` variables, and what else an environment decides."""

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from echoic.errors import SettingsError
from echoic.run.instance import Instance
from schemas.messages.controls import StrategySelected
from tests.e2e.companion import Companion, companion
from tests.e2e.conftest import reached_at, running_instance
from tests.e2e.model_double import ModelDouble, Reply

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

_NUMBERS = itertools.count(1)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def configured(
    double: ModelDouble, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Instance]:
    """An instance that the environment alone has set up."""
    variables = reached_at(double) | {
        "EXECUTIVE_DECISION_STRATEGY": "always_llm",
        "EXECUTIVE_HEURISTIC_THRESHOLD": "0.85",
        "EXECUTIVE_GOALS": "Find the key; Be home by ten",
        "ECHOIC_MODEL_DEADLINE_S": "6",
    }
    folder = tmp_path_factory.mktemp("configured")
    async with running_instance(folder, variables) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def eve(configured: Instance) -> AsyncIterator[Companion]:
    """A companion of that instance."""
    async with companion(configured, f"eve-{next(_NUMBERS)}") as fresh:
        yield fresh


async def test_executive_decision_strategy(eve: Companion) -> None:
    """The strategy of the variable decides: `always_llm` asks whatever was learnt."""
    decision = await eve.senses("Player health is low", fields={"health": 1})

    assert (decision.path, decision.decided.strategy) == ("llm", "always_llm")
    best = next(
        each
        for each in decision.decided.candidates
        if each.arm.startswith("heuristic:") and each.eligible
    )
    assert best.confidence == 0.8


@pytest.mark.parametrize(("confidence", "path"), [(0.84, "llm"), (0.85, "heuristic")])
async def test_executive_heuristic_threshold(
    eve: Companion, confidence: float, path: str
) -> None:
    """The threshold of the variable is the one that candidates are tested against."""
    await eve.tell(StrategySelected(strategy="heuristic_first"))
    await eve.taught("h", "The bell tolls twice", "Listen.", confidence=confidence)

    decision = await eve.senses("The bell tolls twice", type_="weather")

    gate = next(each for each in decision.decided.gates if each.name == "confidence")
    assert (decision.path, gate.threshold) == (path, 0.85)


async def test_executive_goals(eve: Companion, double: ModelDouble) -> None:
    """Goals of the variable, divided by semicolons, are told to the model."""
    event = "A locked door blocks the way"
    await eve.senses(event, type_="weather")

    (asked,) = await double.asked_about(event)
    assert "- Find the key\n- Be home by ten" in asked.system


async def test_a_model_that_never_answers_is_given_up(
    eve: Companion, double: ModelDouble
) -> None:
    """Past its deadline nobody waits for the model any more, and nothing is said."""
    event = "A shooting star falls behind the tower"
    double.on(event, Reply(release=asyncio.Event()))

    decision = await eve.senses(event, type_="weather")

    assert (decision.path, decision.silence) == ("fallback", "llm_timeout")
    assert eve.words.empty()


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("EXECUTIVE_DECISION_STRATEGY", "heuristic_fist", "heuristic_first"),
        ("EXECUTIVE_HEURISTIC_THRESHOLD", "high", "EXECUTIVE_HEURISTIC_THRESHOLD"),
    ],
)
async def test_a_variable_that_makes_no_sense_is_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, variable: str, value: str, says: str
) -> None:
    """Nothing starts; the error names the variable or what was meant."""
    folder = tmp_path_factory.mktemp("wrong")
    with pytest.raises(SettingsError, match=says):
        async with running_instance(folder, {variable: value}):
            raise AssertionError("it started")
