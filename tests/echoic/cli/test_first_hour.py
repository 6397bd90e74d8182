"""The page on the first hour, run as it stands beside an instance."""

import re
import shlex
import subprocess
import sys

import pytest

from tests.echoic.cli.acting import is_as_shown
from tests.echoic.cli.conftest import ROOT, Program
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.services, pytest.mark.timeout(180)]

PAGE = (ROOT / "docs" / "first-hour.md").read_text("utf-8")
AGENT = "fern"


def steps() -> list[tuple[str, str]]:
    """The commands of the page, each with the lines that it shows of the output."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    whole = "".join(blocks).replace("\\\n", "")
    told = re.split(r"^\$ ", whole, flags=re.MULTILINE)[1:]
    return [
        (command, shown)
        for command, _, shown in (each.partition("\n") for each in told)
    ]


def test_every_line_of_it_works(live: Program) -> None:
    """From a sensor of one's own to A/B, each command does what the page shows."""
    sensor = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert sensor
    (live.folder / "garden.py").write_text(sensor[1])

    for command, shown in steps():
        arguments = shlex.split(command)
        if arguments[0] == "python":
            file = (live.folder / "access.txt").read_text().strip()
            done = subprocess.run(
                [sys.executable, "garden.py", file, *arguments[3:]],
                cwd=live.folder,
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
            )
            code, out, err = done.returncode, done.stdout, done.stderr
        else:
            own = [each for each in arguments[1:] if each not in (">", "access.txt")]
            ran = live.here(*own, ECHOIC_AGENT=AGENT)
            code, out, err = ran.code, ran.out, ran.err
            if ">" in arguments:
                (live.folder / "access.txt").write_text(out)
                out = ""

        assert code == 0, (command, err)
        assert is_as_shown(shown, out + err), (command, shown, out + err)


def test_every_page_is_in_the_index() -> None:
    """Nobody has to find a page in another one's prose."""
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    pages = {each.name for each in (ROOT / "docs").glob("*.md")} - {"README.md"}

    assert [each for each in sorted(pages) if f"({each}" not in index] == []
    assert "docs/first-hour.md" in (ROOT / "README.md").read_text("utf-8")
