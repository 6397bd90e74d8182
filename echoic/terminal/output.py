"""How results are shown: results go to stdout, everything else to stderr.

`--json` prints the same results for programs; colour is for terminals only.
"""

import json
import math
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from echoic.terminal.called import as_typed
from echoic.terminal.grid import grid
from echoic.terminal.text import Style
from schemas.values.base import rfc3339

_ENDLESS = 10_000
"""Columns of a table that goes to no terminal."""


def print_json(value: object, *, is_recorded: bool = False) -> None:
    """Print one value as one line of JSON: times as ISO 8601, numbers to 6 decimals.

    What is recorded is printed to the last digit.
    """
    shown = value if is_recorded else plain(value)
    print(json.dumps(shown, ensure_ascii=False, default=str), flush=True)


def plain(value: object) -> object:
    """Return a value for programs: ISO times, numbers rounded, keys as text."""
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
    print(as_typed(text), file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Print a result that names commands, each as it can be typed here."""
    print(as_typed(text), flush=True)


def table(rows: Iterable[Sequence[object]], header: Sequence[str]) -> None:
    """Print rows in columns as wide as they need to be."""
    lines = list(columns(rows, header))
    if len(lines) == 1:
        note("nothing yet")
        return
    print("\n".join(lines))


def columns(rows: Iterable[Sequence[object]], header: Sequence[str]) -> Iterator[str]:
    """Lay out rows below their header, on a terminal within its width."""
    # A table in a pipe is not wrapped: programs there read line by line.
    width = terminal_width() if sys.stdout.isatty() else _ENDLESS
    return grid([f"¶{name}" for name in header], rows, Style(width))


def print_rows(
    rows: Sequence[Mapping[str, object]], columns: Sequence[str], as_json: bool
) -> None:
    """Print rows as a table of some columns, or whole as JSON."""
    if as_json:
        print_json({"v": 1, "rows": rows})
        return
    table([[row[column] for column in columns] for row in rows], columns)


def terminal_width() -> int:
    """Return the columns to fill: of the terminal, 140 without one."""
    # `COLUMNS` counts without a terminal, too: recordings of screens set it.
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size((120, 24)).columns if known else 140


def has_colour() -> bool:
    """Tell whether colours are wanted and shown."""
    # https://no-color.org: any value but the empty one.
    if os.environ.get("NO_COLOR"):
        return False
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def style() -> Style:
    """Return how much room there is here, and whether in colour."""
    return Style(width=terminal_width(), colour=has_colour())
