"""How results are shown: results go to stdout, everything else to stderr.

`--json` prints the same results for programs; colour is for terminals only.
"""

import json
import math
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from echoic.terminal.called import as_typed
from echoic.terminal.screen import Terminal, rendered
from echoic.terminal.written_out import json_written_out, written_out
from schemas.values.base import rfc3339

if TYPE_CHECKING:
    from rich.console import RenderableType

_ENDLESS = 10_000
"""Columns of a list that goes to no terminal."""


def print_json(value: object, *, is_recorded: bool = False) -> None:
    """Print one value as one line of JSON: times as ISO 8601, numbers to 6 decimals.

    What is recorded is printed to the last digit.
    """
    shown = value if is_recorded else plain(value)
    encoded = json.dumps(shown, ensure_ascii=False, default=str)
    print(json_written_out(encoded), flush=True)


def plain(value: object) -> object:
    """Return a value for programs: ISO times, numbers rounded, keys as text."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    match value:
        case float():
            return _figure(value)
        case datetime():
            return rfc3339(value)
        case Mapping():
            return {str(key): plain(each) for key, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value]
        case _:
            return value


def _figure(value: float) -> float | None:
    """Round to six decimals, below a thousandth to six digits; None if not finite."""
    # JSON has no word for infinity or for what is no number.
    if not math.isfinite(value):
        return None
    return round(value, 6) if abs(value) >= 0.001 else float(f"{value:.6g}")


def note(text: str) -> None:
    """Tell a person something that is no result."""
    # The lines are ours, the names within them may be anybody's.
    print(written_out(as_typed(text), kept="\n\t"), file=sys.stderr, flush=True)


def show(*screen: "RenderableType", within: Terminal | None = None) -> None:
    """Print what a person reads, laid out for this terminal."""
    if screen:
        print(rendered(screen, within or terminal()), flush=True)


def show_list(rows: "RenderableType") -> None:
    """Print a list, which is not wrapped in a pipe: programs there read line by line."""
    here = terminal()
    show(rows, within=here if sys.stdout.isatty() else Terminal(_ENDLESS, here.colour))


def terminal() -> Terminal:
    """Return how much room there is here, and whether in colour."""
    # `COLUMNS` counts without a terminal, too: recordings of screens set it.
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = shutil.get_terminal_size((120, 24)).columns if known else 140
    # https://no-color.org: any value but the empty one.
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return Terminal(width)
    return Terminal(width, sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR")))
