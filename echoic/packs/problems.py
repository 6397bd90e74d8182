"""Problems of a manifest, each with its place, a stable code and advice.

Codes never change their meaning; docs and editors refer to them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, TypeAlias

from rich.cells import cell_len

Code: TypeAlias = Literal[
    "E-PACK-001",  # no manifest can be read
    "E-PACK-002",  # no YAML
    "E-PACK-003",  # unknown key
    "E-PACK-004",  # unknown salience dimension
    "E-PACK-005",  # missing key
    "E-PACK-006",  # a value of the wrong kind or out of range
    "E-PACK-007",  # a `when` that cannot be read
    "E-PACK-008",  # the same name or key twice
    "E-PACK-009",  # an outcome pattern that nothing triggers
    "E-PACK-010",  # a format that this program does not know
    "E-PACK-011",  # a `when` on an event type that is not declared
    "E-PACK-012",  # heuristics but no event types
    "E-PACK-013",  # a floor over the ceiling
    "E-PACK-014",  # bounds that a confidence or other bounds do not fit
    "E-PACK-015",  # a prompt's file that cannot be read
    "E-PACK-016",  # `not` of a comparison of size, which is unknown without a number
    "E-PACK-017",  # heuristics beside a mind, which are never asked
]
_Severity = Literal["error", "warning"]

_EXCERPT = 80
"""Characters of a line that are shown at most, around the place of the problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem: an error, or a warning of what is likely wrong."""

    file: Path
    line: int
    column: int
    code: Code
    message: str
    suggestion: str = ""
    severity: _Severity = "error"
    excerpt: str = ""
    """The line as it was written."""


def render(problem: Problem) -> str:
    """Return `file:line:col  code  message (advice)`, the line, and a caret."""
    advice = f" ({problem.suggestion})" if problem.suggestion else ""
    warning = "warning: " if problem.severity == "warning" else ""
    head = (
        f"{problem.file}:{problem.line}:{problem.column}  {problem.code}  "
        f"{warning}{problem.message}{advice}"
    )
    if not problem.excerpt:
        return head
    number = f"{problem.line:>5}"
    excerpt, place = _window(problem.excerpt, problem.column - 1)
    # Tabs are kept and wide characters count twice, so that the caret is under its column.
    before = excerpt[:place]
    caret = "".join("\t" if each == "\t" else " " * cell_len(each) for each in before)
    return f"{head}\n{number} | {excerpt}\n{' ' * len(number)} | {caret}^"


def _window(line: str, place: int) -> tuple[str, int]:
    """Return a line, cut to what is around `place`, and where that is in it."""
    start = max(min(place - _EXCERPT // 2, len(line) - _EXCERPT), 0)
    cut = line[start : start + _EXCERPT]
    left, right = "…" * (start > 0), "…" * (start + _EXCERPT < len(line))
    return f"{left}{cut}{right}", place - start + len(left)


def did_you_mean(word: object, known: Sequence[str]) -> str:
    """Return `did you mean "…"?` for the nearest known word, or the few there are."""
    near = get_close_matches(str(word), known, n=1, cutoff=0.6)
    if near:
        return f'did you mean "{near[0]}"?'
    return f"use one of: {', '.join(known)}" if len(known) <= 12 else ""
