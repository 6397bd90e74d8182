"""How verdicts and gates are painted, on every screen that has them."""

from rich.text import Text

from echoic.terminal.screen import Part, text
from evaluation.ope.verdicts import CLAIMS

_COLOURS = {"BETTER": "green", "EQUIVALENT": "green", "WORSE": "red", "INVALID": "red"}
GATES = {
    "ok": ("✓", "green"),
    "caution": ("!", "yellow"),
    "refused": ("✗", "red"),
    "invalid": ("✗", "red"),
}
"""The mark of a gate's status."""


def verdict(name: str) -> Part:
    """Return a verdict in its colour."""
    return name, _COLOURS.get(name, "yellow")


def verdict_line(name: str, *, short_term_only: bool) -> Text:
    """Return the line of a verdict, and whether it is one of the next outcome alone."""
    # Only a claim can claim too much; the other verdicts need no restriction.
    capped = "  short-term only" if short_term_only and name in CLAIMS else ""
    colour = verdict(name)[1]
    return text((f"VERDICT  {name}{capped}", colour))
