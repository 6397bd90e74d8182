"""The README's own words, run as they stand."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from echoic.config.load import defaults
from tests import strict_models
from tests.echoic.cli.acting import eventually, is_as_shown, started_with
from tests.echoic.cli.conftest import ROOT, Program, Ran
from tests.echoic.cli.terminal import Terminal
from tests.model_server import model_server
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.services, pytest.mark.timeout(180)]

README = (ROOT / "README.md").read_text()
COMPARING = (ROOT / "docs" / "comparing.md").read_text()


def block(heading: str, language: str, page: str = README) -> str:
    """The first block in a language under a heading."""
    found = re.search(rf"```{language}\n(.*?)```", page.split(heading)[1], re.DOTALL)
    assert found
    return found[1]


def test_the_first_use_works(live: Program) -> None:
    """Every command of it prints what stands under it, to an agent that knows nothing."""
    newcomer = {"ECHOIC_AGENT": "newcomer", "COLUMNS": "96"}
    commands = block("## First use", "console").replace("\\\n", "").split("$ echoic ")
    name = ""
    for command, _, shown in (each.partition("\n") for each in commands[1:]):
        ran = live.here(*shlex.split(command), **newcomer)
        said = (ran.out + ran.err).replace("newcomer", "companion")
        assert ran.code == 0, (command, said)
        # How wide a column is depends on what else the table holds.
        assert is_as_shown(_narrow(shown), _narrow(said)), (command, shown, said)
        name = name or said.split()[-1]

    for line in block("## It learns", "sh").splitlines():
        asked = line.partition(" #")[0].replace("NAME", name).replace("ID", "last")
        ran = live.here(*shlex.split(asked)[1:], **newcomer)
        assert ran.code == 0, (line, ran.err)


def _narrow(text: str) -> str:
    return re.sub(" {2,}", " ", text)


def test_the_machine_is_watched(live: Program) -> None:
    """One command shows what is decided of what the other one notices."""
    watch, sensor = (
        shlex.split(line.partition("#")[0])[1:]
        for line in block("Then watch a live game", "sh").splitlines()
    )
    watching = Terminal(live, *watch)
    try:
        watching.until("Ctrl-C ends")
        with live.start(*sensor) as noticing:
            try:
                watching.until("This machine is")
                noticing.send_signal(signal.SIGTERM)
                assert noticing.wait(timeout=PATIENCE_S) == 128 + signal.SIGTERM
            finally:
                noticing.kill()
    finally:
        watching.stop()


@pytest.mark.model
def test_a_local_model_answers_by_the_line_as_it_stands(echoic: Program) -> None:
    """Its server alone is another; the other line is run where a model's answer is."""
    arguments, given = started_with("ollama/llama3.2")
    with model_server() as server:
        server.refuses = strict_models.ollama
        server.text = json.dumps({"response": "Mind the step."})
        given["ECHOIC_MODEL_API_BASE"] = server.base.removesuffix("/v1")
        started = echoic(*arguments, **given)
        try:
            ran = echoic.here("pub", "I am on the stairs.", "--wait", "--json")
        finally:
            down = echoic.here("down")

    assert (started.code, ran.code, down.code) == (0, 0, 0), started.err
    assert "Mind the step." in ran.json["response_text"]


def test_what_else_stands_there_is_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets of make, the program of its environment, and what is to be removed."""
    blocks = re.findall(r"```(?:sh|console)\n(.*?)```", README, re.DOTALL)
    lines = "".join(blocks).replace("\\\n", "").splitlines()
    called = {each.split()[0]: each for each in lines if not each[:1].isspace()}
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)

    assert set(re.findall(r"^make (\w+)", "\n".join(lines), re.MULTILINE)) <= {*targets}
    assert called["alias"] == "alias echoic=.venv/bin/echoic"
    gone = [Path(each.split()[2]).expanduser() for each in lines if each[:3] == "rm "]
    assert defaults().data.parent == gone[0]
    assert gone[1] == Path("~/.config/echoic").expanduser()


def test_the_sensor_works(live: Program) -> None:
    """With the account that the command above it makes, its event is decided on."""
    access = live.here("sensor", "access", "door").out.strip()
    code = block("### A sensor in ten lines", "python")

    done = subprocess.run(
        [sys.executable, "-c", code, access],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )

    def decided() -> Ran:
        ran = live.here("explain", "--last")
        return ran if "The front door opened" in ran.out else Ran(1, ran.out, ran.err)

    assert done.returncode == 0, done.stderr
    assert eventually(decided).code == 0


def test_the_comparison_is_what_the_command_prints(tmp_path: Path) -> None:
    """The page on comparing shows the real output for the shipped session.

    The README's command is that one, and makes a page besides.
    """
    shown = block("# Comparing strategies", "console", COMPARING)
    command, _, expected = shown.partition("\n")
    line = block("## Is another strategy better?", "sh").replace("\\\n", " ")
    arguments = shlex.split(line)[1:]

    ran = subprocess.run(
        [sys.executable, "-m", "echoic", *arguments],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "96"},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == expected
    assert shlex.split(command)[2:] == [*arguments[:-2]]
    assert "</html>" in (tmp_path / arguments[-1]).read_text()


def test_the_readme_tells_the_verdict_of_its_own_comparison() -> None:
    """It is short, and what it says of the shipped session is what is printed of it."""
    (said,) = re.findall(r"the verdict is `(\w+)`", README.replace("\n", " "))

    assert f"VERDICT  {said} in the moment, for " in COMPARING
    assert len(README.splitlines()) <= 210
