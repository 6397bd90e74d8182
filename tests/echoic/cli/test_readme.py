"""The README's own words, run as they stand."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from tests.echoic.cli.acting import eventually
from tests.echoic.cli.conftest import ROOT, Program, Ran

pytestmark = [pytest.mark.services, pytest.mark.timeout(180)]

README = (ROOT / "README.md").read_text()
COMPARING = (ROOT / "docs" / "comparing.md").read_text()


def block(heading: str, language: str, page: str = README) -> str:
    """The first block in a language under a heading."""
    found = re.search(rf"```{language}\n(.*?)```", page.split(heading)[1], re.DOTALL)
    assert found
    return found[1]


def test_the_first_use_works(live: Program) -> None:
    """Every command of it does something, and the oven is told of."""
    commands = block("## First use", "console").replace("\\\n", "").split("$ echoic ")

    told = [live.here(*shlex.split(command)) for command in commands[1:]]

    assert [ran.code for ran in told] == [0] * 5, told
    assert "“You left the oven on.”" in told[1].out
    assert "Spoke by the heuristic" in told[2].out
    (name,) = re.findall(r"^taught companion the heuristic (\w+)", told[0].out)
    for line in block("## It learns", "sh").splitlines():
        asked = line.partition(" #")[0].replace("NAME", name).replace("ID", "last")
        ran = live.here(*shlex.split(asked)[1:])
        assert ran.code == 0, (line, ran.err)


def test_the_sensor_works(live: Program) -> None:
    """With the account that the command above it makes, its event is decided on."""
    access = live.here("sensor", "access", "door").out.strip()
    code = block("### A sensor in ten lines", "python")

    done = subprocess.run(
        [sys.executable, "-c", code, access], capture_output=True, text=True, timeout=30
    )

    def decided() -> Ran:
        ran = live.here("explain", "--last")
        return ran if "The front door opened" in ran.out else Ran(1, ran.out, ran.err)

    assert done.returncode == 0, done.stderr
    assert eventually(decided).code == 0


def test_the_comparison_is_what_the_command_prints() -> None:
    """The page on comparing shows the real output for the shipped session."""
    shown = block("# Comparing strategies", "console", COMPARING)
    command, _, expected = shown.partition("\n")
    arguments = shlex.split(command.removeprefix("$ echoic "))

    ran = subprocess.run(
        [sys.executable, "-m", "echoic", *arguments],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "96"},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == expected


def test_the_readme_tells_the_verdict_of_its_own_comparison() -> None:
    """It is short, and what it says of the shipped session is what is printed of it."""
    (said,) = re.findall(r"the verdict is `(\w+)`", README.replace("\n", " "))

    assert f"VERDICT  {said} in the moment, for " in COMPARING
    assert len(README.splitlines()) <= 200
