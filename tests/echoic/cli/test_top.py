"""`echoic top` and the endpoint of a real instance."""

import re
import time
import urllib.request
from typing import Any

import pytest

from tests.echoic.cli.acting import thirsty
from tests.echoic.cli.conftest import Program
from tests.echoic.cli.terminal import Terminal
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]


def test_it_shows_what_the_instance_answered(live: Program) -> None:
    """A pipe gets one look since the start, and a program all of it as JSON."""
    thirsty(live, "top", 3, "Your drink is low: 3 of 9.")

    deadline = time.monotonic() + PATIENCE_S
    # The log is looked at now and then, and the projector reports once a second.
    while not _is_whole(found := live.here("top", "--json").json):
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    screen = live.here("top")

    assert found["v"] == 1
    assert found["decisions"]["spoke"] >= 1
    assert found["paths"]["heuristic"] >= 1
    assert found["processes"]["worker-0"] is True
    assert found["heuristics"]["skill_pack"] >= 1
    assert found["decide_p95_s"] > 0
    assert re.search(r"processes +2 of 2 work", screen.out), screen.out


def _is_whole(found: dict[str, Any]) -> bool:
    return found["log_sequence"] > 0 and all(found["processes"].values())


def test_no_word_of_a_sensor_is_served(live: Program) -> None:
    """Agent, source, type and text stay out of the metrics."""
    thirsty(live, "secretagent", 3, "A secret text of nobody's business.")
    where = re.search(r"http://\S+", live.here("top").out)
    assert where is not None

    with urllib.request.urlopen(where[0], timeout=PATIENCE_S) as answer:
        served = answer.read().decode()

    assert "echoic_decisions_total" in served
    assert not re.search("secret|crafter|thirst", served)


def test_without_an_instance_it_says_how_to_start_one(echoic: Program) -> None:
    """The exit code is that of nobody answering."""
    ran = echoic.here("top")

    assert ran.code == 3
    assert "echoic up" in ran.err


def test_in_a_terminal_q_ends_it(live: Program) -> None:
    """It goes on drawing until then, and leaves the terminal as it was."""
    terminal = Terminal(live, "top", "--every", "0.5")
    try:
        terminal.until("the last")
        terminal.write(b"q")
        assert terminal.end() == 0
    finally:
        terminal.stop()
    assert "\x1b[?1049l" in terminal.text  # the alternate screen was left
