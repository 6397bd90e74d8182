"""What the tests of the command line do again and again."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.echoic.cli.conftest import ROOT, Program, Ran
from tests.patience import PATIENCE_S

THIRST = ("--source", "crafter", "--type", "vital_changed", "--field", "vital=drink")


_OWN = (
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{8}\b", "ID"),
    (r"\d{4}-\d\d-\d\d", "DATE"),
    (r"\d\d:\d\d(:\d\d)?", "TIME"),
    (r"[^\s`]*(/echoic|python\S* -m echoic)\b", "echoic"),
)
"""What each run has of its own, and what stands for it."""


def levelled(text: str) -> str:
    """Return a text with what each run has of its own as the name of what it is."""
    for own, one in _OWN:
        text = re.sub(own, one, text)
    return text


def is_as_shown(shown: str, printed: str) -> bool:
    """Tell whether a page shows what is printed, but for ids, times and paths.

    A line of `…` stands for any lines, and `…` in a line for any words.
    """
    pattern = "".join(
        r"(.*\n)*" if line.strip() == "…" else f"{_line(line)}\n"
        for line in levelled(shown).splitlines()
    )
    return re.fullmatch(pattern, levelled(printed)) is not None


def _line(shown: str) -> str:
    return ".*".join(map(re.escape, shown.rstrip().split("…"))) + " *"


def started_with(model: str) -> tuple[list[str], dict[str, str]]:
    """Return the README's command that starts with a model, and its variables."""
    page = (ROOT / "README.md").read_text("utf-8")
    (line,) = re.findall(rf"^ECHOIC_MODEL_NAME={model} .*", page, re.MULTILINE)
    given, command = re.split(r"(?:^|\s)echoic\s", line)
    return command.split(), {
        # The model answers however slow the machine is.
        "ECHOIC_MODEL_DEADLINE_S": "100",
        "ECHOIC_TTL_S": "200",
        **dict(each.split("=") for each in given.replace("…", "none").split()),
    }


def thirsty(live: Program, agent: str, drink: int, text: str) -> dict[str, Any]:
    """Publish that the player is thirsty; what was decided, under the seed's names."""
    ran = live.here(
        "pub", text, *THIRST, "--field", f"value={drink}", "--hint", "threat=0.9",
        "--agent", agent, "--wait", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    found: dict[str, Any] = ran.json
    return found


def read_models(program: Program) -> dict[str, str]:
    """What the doctor says of the read models."""
    checks = program.here("doctor", "--json", "--exit-zero").json["checks"]
    found: dict[str, str]
    (found,) = (each for each in checks if each["name"] == "read models")
    return found


def eventually(attempt: Callable[[], Ran], within_s: float = PATIENCE_S) -> Ran:
    """The first attempt that worked, or the last one in time."""
    deadline = time.monotonic() + within_s
    while (ran := attempt()).code != 0 and time.monotonic() < deadline:
        time.sleep(0.1)
    return ran


@contextmanager
def watching(live: Program, *arguments: str) -> Iterator[Any]:
    """A command that goes on, once it says that it watches."""
    with live.start(*arguments) as process:
        try:
            assert process.stderr is not None
            assert "watching" in process.stderr.readline()
            yield process
        finally:
            process.kill()
