"""An estimate on one screen: values, gates, the verdict, and what to do next.

Pure; each number says what kind it is, and what a gate holds back is not shown as a value.
"""

from collections.abc import Callable, Iterator

from rich.console import RenderableType

from echoic.terminal.screen import marked, number, table, text, words
from echoic.terminal.verdicts import GATES, reason_line, verdict_line
from evaluation.ope.results import Estimate, Range
from evaluation.ope.verdicts import Verdict


def screen(
    estimate: Estimate, file: str, *, all_shown: bool = False
) -> Iterator[RenderableType]:
    """Yield the whole screen; `all_shown` gives what a gate holds back, in brackets."""
    difference = estimate.difference
    yield text((f"{file}   {estimate.target.n:,} decisions", "bold"))
    yield ""
    header = ("", number("baseline"), number("target"), "difference", words("kind"))
    yield table(header, _values(estimate, all_shown))
    yield ""
    yield table(
        ("", words()),
        (
            (text(GATES[each.status], f" {each.name.replace('_', ' ')}"), each.detail)
            for each in difference.gates
        ),
    )
    yield ""
    yield verdict_line(difference.verdict, difference.reasons, difference.whom.words)
    for reason in difference.reasons:
        yield reason_line(reason, difference.gates, has_code=True)
    yield ""
    advice, command = _next(difference.verdict)
    yield marked("→", advice)
    # On a line of its own, so that it is not wrapped and can be copied.
    if command:
        yield f"  {command} {file}"


def _values(estimate: Estimate, all_shown: bool) -> Iterator[tuple[str, ...]]:
    sides = (estimate.baseline, estimate.target)
    difference = estimate.difference
    held = [part.withheld for part in (*sides, difference)]

    def row(name: str, kind: str, delta: str) -> tuple[str, ...]:
        values = [_plain(getattr(side, name)) for side in sides]
        shown = (
            # Bounds are never withheld: they hold for whatever was not seen.
            _guarded(value, all_shown) if is_held else value
            for value, is_held in zip((*values, delta), held, strict=True)
        )
        return f"value, {name.upper()}", *shown, kind

    for name in ("dr", "snips", "ips"):
        # Doubly robust first: the verdict rests on it; the others show whether they agree.
        delta = _signed(getattr(difference, name))
        if name == "dr" and difference.ci is not None:
            delta += f" {_range(difference.ci, _signed)}"
        yield row(name, "estimated", delta)
    baseline, target = (side.dm for side in sides)
    is_known = baseline is not None and target is not None
    delta = _signed((target or 0.0) - (baseline or 0.0) if is_known else None)
    yield row("dm", "predicted, decides nothing", delta)
    bounds = (_range(side.bounds, _plain) for side in sides)
    what = "holds whatever was not seen"
    yield "bounds", *bounds, _range(difference.bounds, _signed), what
    yield "decides otherwise", "", "", f"{difference.flip_share:.1%}", "fact"


def _guarded(value: str, all_shown: bool) -> str:
    """Return how to show a number that a gate holds back."""
    if value == "-":
        return value
    return f"({value})" if all_shown else "held back"


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _range(ends: Range, shown: Callable[[float | None], str]) -> str:
    return f"[{shown(ends[0])}, {shown(ends[1])}]"


def _next(verdict: Verdict) -> tuple[str, str]:
    """Return what to do next, and the command that helps with it, if there is one."""
    match verdict:
        case Verdict.INVALID:
            return (
                "find out how p came about: it must be the probability with which the"
                " arm that was taken was drawn",
                "",
            )
        case Verdict.NOT_ENOUGH_OVERLAP:
            return (
                "where the two differ, draw the target's arm now and then, and log p;"
                " how often:",
                "echoic replay plan",
            )
        case Verdict.INCONCLUSIVE:
            return "log more decisions; how many:", "echoic replay plan"
        case _:
            return (
                "this holds of single decisions, in the situations of this log; what"
                " would follow from them only a live comparison shows",
                "",
            )
