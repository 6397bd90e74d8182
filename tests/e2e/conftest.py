"""One running instance for all end-to-end tests, and a fresh companion for each."""

import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from echoic.config.load import load
from echoic.run.instance import Instance, instance
from handlers.effects.models import LiteLLM
from tests.e2e.companion import Companion, companion
from tests.e2e.model_double import NAME, ModelDouble, model_double
from tests.environment import TALKATIVE

ADVISOR = Path(__file__).parent / "game_advisor"
COUNTABLE = {"ECHOIC_LEARNING_KAPPA_BY_ORIGIN": "skill_pack=1;seeded=1"} | TALKATIVE
"""Whoever declares a confidence, it weighs two observations, which a reader can count; and
no response waits for the one before."""

_NUMBERS = itertools.count(1)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def double() -> AsyncIterator[ModelDouble]:
    """The model of every end-to-end test."""
    async with model_double() as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def live(
    double: ModelDouble, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Instance]:
    """A whole instance with a model, over a throw-away folder."""
    # Imported here, so that no test waits for it.
    await LiteLLM().prepare()
    folder = tmp_path_factory.mktemp("instance")
    # What a prompt shows is looked at, so no draw may take it out.
    variables = with_goals(double) | {"ECHOIC_CANDIDATES_WITHHOLD": "0"}
    async with running_instance(folder, variables) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def ada(live: Instance) -> AsyncIterator[Companion]:
    """A companion that nothing has happened to yet; its log must be sound in the end."""
    async with companion(live, f"ada-{next(_NUMBERS)}") as fresh:
        yield fresh


@asynccontextmanager
async def running_instance(
    folder: Path, variables: Mapping[str, str], packs: Sequence[Path] = (ADVISOR,)
) -> AsyncIterator[Instance]:
    """An instance over a folder with the game's pack, set up by the environment."""
    flags = {"data": str(folder), "packs": [str(pack) for pack in packs]}
    settings = load(flags, environment=COUNTABLE | dict(variables), folder=folder)
    async with instance(settings, print, durable=False) as running:
        yield running


def with_goals(double: ModelDouble) -> dict[str, str]:
    """The variables of an instance that has the double and a goal."""
    return reached_at(double) | {"ECHOIC_GOALS": "Survive the night"}


def reached_at(double: ModelDouble) -> dict[str, str]:
    """The variables by which an instance reaches the double through litellm."""
    return {
        "ECHOIC_MODEL_NAME": NAME,
        "ECHOIC_MODEL_API_BASE": double.url,
        "ECHOIC_MODEL_API_KEY": "none",
    }
