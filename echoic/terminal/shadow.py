"""A shadow's flips as lines: the event, what was done, and what would have been.

Pure, and one line a flip however much was said.
"""

from echoic.client.names import Names
from echoic.terminal.text import PLAIN, Style, counted, figure, fitted
from replay.open_loop.shadow import Shadowed, Totals
from schemas.messages.decisions import SILENT

_HEURISTIC = "heuristic:"
_EVENT, _AGREEMENT = 30, 12


def line(shadowed: Shadowed, totals: Totals, names: Names, style: Style = PLAIN) -> str:
    """Return one flip: how often it agreed so far, the event, and both answers."""
    room = max(24, (style.width - _AGREEMENT - _EVENT - 6) // 2)
    record = shadowed.record
    # What was said at once, before any completion.
    done = _deed(record.decided.arm, record.decided.text, None, names)
    would = _deed(shadowed.would, shadowed.would_say, shadowed.silence, names)
    agreement = figure(totals.agreement or 0.0)
    return (
        f"{style.paint(f'agrees {agreement:>3}', 'dim')}"
        f"  {fitted(record.text, _EVENT)}"
        f"  {fitted(done, room)}  {style.paint('→ ' + fitted(would, room).rstrip(), 'yellow')}"
    )


def totals_line(totals: Totals, style: Style = PLAIN) -> str:
    """Return all of it on one line."""
    if totals.agreement is None:
        return f"no decision to compare; {totals.gated:,} ended at a gate"
    agreement = style.paint(f"agrees {figure(totals.agreement)}", "bold")
    return (
        f"{agreement} over {counted(totals.decisions, 'decision')},"
        f" {counted(totals.flips, 'flip')}; {totals.gated:,} ended at a gate before"
    )


def _deed(arm: str, text: str | None, silence: str | None, names: Names) -> str:
    """Return what taking an arm is, in a few words."""
    if arm == SILENT:
        return "silent" if silence is None else f"silent ({silence})"
    if arm.startswith(_HEURISTIC):
        # An arm names the heuristic's content besides: `heuristic:<id>@<content hash>`.
        id_ = arm[len(_HEURISTIC) :].rpartition("@")[0]
        name = names.get(id_, id_[:8])
        return f"{name}: {text}" if text else name
    return "asks the model" if arm.startswith("llm:") else "races the model"
