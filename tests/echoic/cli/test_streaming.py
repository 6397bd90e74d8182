"""A model's answer on a person's terminal, while the model writes it."""

import json
from collections.abc import Iterator

import pytest

from tests.echoic.cli.conftest import Program
from tests.echoic.cli.terminal import Terminal
from tests.model_server import ModelServer, model_server

pytestmark = [pytest.mark.services, pytest.mark.model, pytest.mark.timeout(240)]

WORDS = "A fox, behind the oak."


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that answers in five parts, each when it is let."""
    with model_server() as running:
        running.text = json.dumps({"response": WORDS})
        running.pace_s = 0.4
        yield running


def test_it_is_read_while_it_is_written(echoic: Program, server: ModelServer) -> None:
    """By who asked, and by who watches; a pipe gets the whole alone."""
    environment = {
        "ECHOIC_MODEL_NAME": "openai/double",
        "ECHOIC_MODEL_API_BASE": server.base,
        "ECHOIC_MODEL_API_KEY": "none",
    }
    started = echoic("up", "--detach", **environment)
    assert started.code == 0, started.err
    watching = Terminal(echoic, "watch", "-n", "2")
    try:
        watching.until("Ctrl-C ends")
        asking = Terminal(echoic, "pub", "What is over there?", "--wait")
        assert asking.end() == 0
        piped = echoic("pub", "And over there, what is that?", "--wait")
        assert watching.end() == 0
    finally:
        watching.stop()
        echoic("down")

    beginnings = [WORDS[:length].strip() for length in range(4, len(WORDS) - 1)]
    for seen in (asking.text, watching.text):
        # In place of one another, and in the end the line of the decision.
        unfinished, _, decision = seen.partition("“")
        assert any(f"{each}\x1b" in unfinished for each in beginnings)
        assert decision.startswith(f"{WORDS}”")
    assert piped.out.count(WORDS) == 1
    assert "A fox" not in piped.err
