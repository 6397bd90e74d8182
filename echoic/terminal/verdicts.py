"""How verdicts and gates are painted, on every screen that has them."""

from collections.abc import Iterable, Mapping

from rich.console import RenderableType
from rich.text import Text

from echoic.terminal.screen import Part, marked, text
from evaluation.ope.gates import Gate
from evaluation.ope.verdicts import (
    AGAINST,
    Reason,
    Standing,
    is_opposed,
    of_what,
    standing,
)

_COLOURS = {"BETTER": "green", "EQUIVALENT": "green", "WORSE": "red", "INVALID": "red"}
GATES = {
    "ok": ("✓", "green"),
    "caution": ("!", "yellow"),
    "refused": ("✗", "red"),
    "invalid": ("✗", "red"),
}
"""The mark of a gate's status."""
_STANDING: Mapping[Standing, Part] = {
    "refuses": GATES["refused"],
    "met": GATES["caution"],
    "caution": GATES["caution"],
    "note": "·",
}


def verdict(name: str) -> Part:
    """Return a verdict in its colour."""
    return name, _COLOURS.get(name, "yellow")


def verdict_line(name: str, reasons: Iterable[Reason], whom: str) -> Text:
    """Return the line of a verdict: of what and for whom it is, and what opposes it."""
    scope, colour = of_what(name), verdict(name)[1]
    # What is of the log, as INVALID is, is so for nobody in particular.
    said = f"{name} {scope}, {whom}" if scope else name
    if is_opposed(reasons):
        # Not in the colour of a claim: played out, it may be the other way round.
        said, colour = f"{said}; {AGAINST}", "yellow"
    return text((f"VERDICT  {said}", colour))


def reason_line(
    reason: Reason, gates: Iterable[Gate], *, has_code: bool
) -> RenderableType:
    """Return the line of a reason, by whether it refuses, is met, or limits nothing."""
    found = standing(reason, gates)
    # Read without its mark, a limit that is met looks like one that is not.
    detail = f"met: {reason.detail}" if found == "met" else reason.detail
    code = f"  ({reason.code})" if has_code else ""
    return marked(_STANDING[found], f"{detail}{code}", indent=2)
