"""Doors that are started before their instance wait for it, and say so."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

pytest.importorskip("fastapi", reason="the extra `http` is not installed")
pytest.importorskip("websockets", reason="the extra `engine` is not installed")
pytest.importorskip("paho", reason="the extra `homeassistant` is not installed")

from tests.echoic.cli.conftest import Program
from tests.echoic.cli.test_instances import running
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]

DOORS = {
    ("http", "serve", "--listen", "127.0.0.1:0"): "/v1/openapi.json",
    ("bridge", "--listen", "127.0.0.1:0"): "ws://",
    ("neuro", "--listen", "127.0.0.1:0"): "ws://",
    # The hub's own broker comes next, which this test has not.
    ("homeassistant", "--broker", "mqtt://127.0.0.1:1"): "the instance is there",
}
"""What each says once it serves."""


@contextmanager
def started(program: Program, *command: str) -> Iterator["subprocess.Popen[str]"]:
    """A door, which is ended in the end."""
    with program.start(*command) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE_S)


def until(process: "subprocess.Popen[str]", words: str) -> str:
    """What it says up to a line with these words."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if words in line:
            return said
    raise AssertionError(f"it ended: {said}")


def test_a_door_waits_for_its_instance(echoic: Program) -> None:
    """It says once what it waits for, and what would start it, and then it serves."""
    with ExitStack() as stack:
        doors = {
            command: stack.enter_context(started(echoic, *command)) for command in DOORS
        }
        before = {each: until(door, "is waited for") for each, door in doors.items()}
        assert not echoic.data.exists()
        with running(echoic):
            after = {each: until(door, DOORS[each]) for each, door in doors.items()}

    for each in DOORS:
        assert f"no instance runs over {echoic.data}" in before[each]
        assert "the instance is there" in after[each]
        assert "is waited for" not in after[each]
