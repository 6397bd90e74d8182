"""Sensors that come with packs: each ends with the command that started it."""

import signal
import subprocess
from importlib.util import find_spec

import psutil  # type: ignore[import-untyped]
import pytest

from tests.echoic.cli.conftest import Program
from tests.patience import PATIENCE_S
from tests.processes import command_of

# Each command is a process of its own, or waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

# Slow enough that none of them ends by itself.
SENSORS: dict[str, tuple[str, ...]] = {
    "cafe": (),
    "crafter": ("--rate", "1", "--steps", "600"),
    "desk": ("--interval", "600"),
    "home": ("--pace", "1"),
    "village": ("--characters", "2"),
}


@pytest.mark.parametrize("name", SENSORS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_sensor_ends_with_its_command(
    live: Program, name: str, number: signal.Signals
) -> None:
    """A service manager ends one process, and no other is left behind."""
    if name == "crafter" and find_spec("crafter") is None:
        pytest.skip("the game is not installed")
    arguments = ("sensor", name, "--agent", f"ended-{name}")
    with live.start(*arguments, *SENSORS[name]) as process:
        try:
            assert process.stderr is not None
            _until_it_runs(process)
            (sensor,) = _children(process)

            process.send_signal(number)

            code = process.wait(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert code == 128 + number
    assert not sensor.is_running()


def _until_it_runs(process: "subprocess.Popen[str]") -> None:
    assert process.stderr is not None
    lines = iter(process.stderr.readline, "")
    assert any("Ctrl-C ends" in each for each in lines)
    while process.poll() is None and not _children(process):
        pass


def _children(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """The sensor, once it is its own program and no copy of ours any more."""
    children = psutil.Process(process.pid).children()
    return [
        each for each in children if any("sensor" in a for a in command_of(each)[1:2])
    ]
