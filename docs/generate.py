"""Writes docs/events.md; `--check` tells if it is stale.

    python docs/generate.py [--check]

`echoic schema --markdown` prints the same page.
"""

import sys
from pathlib import Path

from echoic.events_page import render

TARGET = Path(__file__).with_name("events.md")


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` compare it; returns the exit code."""
    page = render()
    if "--check" not in arguments:
        TARGET.write_text(page)
        return 0
    if TARGET.exists() and TARGET.read_text() == page:
        return 0
    print("docs/events.md is stale: run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
