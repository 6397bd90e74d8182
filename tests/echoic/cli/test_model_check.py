"""`echoic model check`: what a model is worth to characters, without an instance."""

from collections.abc import Iterator

import pytest

from tests.echoic.cli.conftest import Program
from tests.model_server import ModelServer, model_server


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model over HTTP."""
    with model_server() as running:
        yield running


def test_the_command_prints_a_screen_or_json(
    echoic: Program, server: ModelServer
) -> None:
    """By the settings' address; what failed is a table of its own."""
    where = {"ECHOIC_MODEL_API_BASE": server.base, "ECHOIC_MODEL_API_KEY": "none"}
    check_ = ("model", "check", "openai/double", "--count", "2")
    server.text = '{"speaking": "Hi", "action": {"type": "fly"}}'

    shown = echoic.here(*check_, **where)
    assert shown.code == 0, shown.err
    assert "valid JSON     100%, 2 of 2" in shown.out
    assert "valid action   0%, 0 of 2; 2 named one" in shown.out
    assert "wakes up hungry  the action 'fly' was not offered" in shown.out

    told = echoic.here(*check_, "--json", **where).json
    assert (told["v"], told["json"]["share"], told["action"]["named"]) == (1, 1.0, 2)
    assert told["cost"] == {
        "calls_an_hour": 120.0, "usd_an_hour": None, "source_design_usd": 0.02,
    }  # fmt: skip
    assert told["failures"][0]["situation"] == "wakes up hungry"


def test_the_command_says_what_to_do_without_a_model(echoic: Program) -> None:
    """Nobody listens there: an exit code of its own, and the settings to look at."""
    away = {"ECHOIC_MODEL_API_BASE": "http://127.0.0.1:9/v1"}
    found = echoic.here(
        "model", "check", "openai/double", "--deadline", "2",
        ECHOIC_MODEL_API_KEY="none", **away,
    )  # fmt: skip
    assert found.code == 3
    assert "cannot be reached" in found.err
    assert "model.api_base" in found.err
