"""A shadow's flips as lines: the event, what was done, and what would have been.

Pure, and one line a flip however much was said.
"""

from rich.console import RenderableType
from rich.table import Column, Table

from echoic.client.names import Names, named
from echoic.terminal.screen import counted, figure, text
from replay.open_loop.shadow import Shadowed, Totals
from schemas.messages.arms import SILENT

_HEURISTIC = "heuristic:"


def line(shadowed: Shadowed, totals: Totals, names: Names) -> RenderableType:
    """Return one flip: how often it agreed so far, the event, and both answers."""
    columns = (Column(no_wrap=True, ratio=ratio) for ratio in (None, 2, 3, 3))
    row = Table.grid(*columns, padding=(0, 2, 0, 0), expand=True)
    decided = shadowed.record.decided
    would = _in_words(shadowed.would, shadowed.would_say, shadowed.silence, names)
    row.add_row(
        text((f"agrees {figure(totals.agreement or 0.0):>3}", "dim")),
        text(shadowed.record.text),
        # What was said at once, before any completion.
        text(_in_words(decided.arm, decided.text, None, names)),
        text((f"→ {would}", "yellow")),
    )
    return row


def totals_line(totals: Totals) -> RenderableType:
    """Return all of it on one line."""
    if totals.agreement is None:
        return f"no decision to compare; {totals.gated:,} ended at a gate"
    return text(
        (f"agrees {figure(totals.agreement)}", "bold"),
        f" over {counted(totals.decisions, 'decision')},"
        f" {counted(totals.flips, 'flip')}; {totals.gated:,} ended at a gate before",
    )


def _in_words(arm: str, text: str | None, silence: str | None, names: Names) -> str:
    """Return what taking an arm is, in a few words."""
    if arm == SILENT:
        return "silent" if silence is None else f"silent ({silence})"
    if arm.startswith(_HEURISTIC):
        # An arm names the heuristic's content besides: `heuristic:<id>@<content hash>`.
        id_ = arm[len(_HEURISTIC) :].rpartition("@")[0]
        name = named(id_, names)
        return f"{name}: {text}" if text else name
    return "asks the model" if arm.startswith("llm:") else "races the model"
