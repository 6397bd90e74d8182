"""Writes the pages that are made from the code; `--check` tells which are stale.

python docs/generate.py [--check]
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.shape import ceilings
from echoic.cli import commands_page
from echoic.config import settings_page
from echoic.docs_pages import engines, events, services
from echoic.explain.gates import passers_of
from echoic.metrics import page as metrics_page
from schemas.values.reasons import GATES

FOLDER = Path(__file__).parent
PAGES: Mapping[str, Callable[[], str]] = {
    "events.md": events.render,
    "settings.md": settings_page.render,
    "commands.md": commands_page.render,
    "metrics.md": metrics_page.render,
    "services.md": services.render,
    "engines.schema.json": engines.render,
    # Of this page a table alone is made from the code.
    "architecture.md": lambda: ceilings.page(_read("architecture.md") or ""),
    "gates.md": lambda: _with_gates(_read("gates.md") or ""),
}


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` compare them; returns the exit code."""
    stale = [name for name, render in PAGES.items() if _read(name) != render()]
    if "--check" not in arguments:
        for name in stale:
            (FOLDER / name).write_text(PAGES[name]())
        return 0
    for name in stale:
        print(f"docs/{name} is stale: run `make docs`", file=sys.stderr)
    return 1 if stale else 0


def _with_gates(text: str) -> str:
    """Return the page of gates with the table of who passes them between its marks."""
    begins, ends = "<!-- gates begin -->\n", "<!-- gates end -->\n"
    before, _, rest = text.partition(begins)
    rows = (
        f"| `{name}` | {declared.told} | {passers_of(name) or 'nobody'} |\n"
        for name, declared in GATES.items()
        if declared.passers is not None
    )
    table = "".join(
        ("| gate | if it is closed | passes all the same |\n|---|---|---|\n", *rows)
    )
    return f"{before}{begins}{table}{ends}{rest.partition(ends)[2]}"


def _read(name: str) -> str | None:
    path = FOLDER / name
    return path.read_text() if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
