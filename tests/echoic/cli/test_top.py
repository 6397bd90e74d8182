"""`echoic top` and the endpoint of a real instance."""

import os
import pty
import re
import subprocess
import sys
import time
import urllib.request
from typing import Any

import pytest

from tests.echoic.cli.acting import thirsty
from tests.echoic.cli.conftest import Program

pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]


def test_it_shows_what_the_instance_answered(live: Program) -> None:
    """A pipe gets one look since the start, and a program all of it as JSON."""
    thirsty(live, "top", 3, "Your drink is low: 3 of 9.")

    deadline = time.monotonic() + 30
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

    with urllib.request.urlopen(where[0], timeout=10) as answer:
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
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "echoic", "top", "--every", "0.5"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=live.environment | {"TERM": "xterm"},
        cwd=live.folder,
    )
    os.close(theirs)
    shown = b""
    try:
        while b"the last" not in shown:
            shown += os.read(ours, 65_536)
        os.write(ours, b"q")
        while running.poll() is None:
            # Read on, or the program could not write its last screen.
            try:
                shown += os.read(ours, 65_536)
            except OSError:
                break
        assert running.wait(20) == 0
    finally:
        running.kill()
        running.wait()
        os.close(ours)
    assert b"\x1b[?1049l" in shown  # the alternate screen was left
