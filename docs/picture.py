"""Draws `docs/demo.svg`: the demo as it looks in a terminal, from its real output.

Run it as `python docs/picture.py`.
"""

import io
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 128
SHOWN_DECISIONS = 14
OUT = Path(__file__).parent / "demo.svg"


def main() -> None:
    """Run the demo in a terminal of its own and draw what matters of it."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    for line in excerpt(demo_output()):
        console.print(Text.from_ansi(line), soft_wrap=True)
    console.save_svg(str(OUT), title="make demo")


def demo_output() -> list[str]:
    """The lines that the demo prints to a terminal."""
    environment = os.environ | {"COLUMNS": str(WIDTH), "FORCE_COLOR": "1"}
    done = subprocess.run(
        [str(Path(sys.executable).with_name("echoic")), "demo"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def excerpt(lines: list[str]) -> list[str]:
    """Decisions that show each kind, and all that follows the last of them."""
    end = next(i for i, line in enumerate(lines) if "events," in line)
    told = lines[: end - 1]
    return [*told[:SHOWN_DECISIONS], "  …", "", *lines[end:]]


if __name__ == "__main__":
    main()
