"""Retuned confidences on one screen: scores, reliability, and the curves side by side.

Pure.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.console import RenderableType
from rich.text import Text

from echoic.terminal.screen import counted, cut, number, table, text, words
from evaluation.evidence.rapport import RapportCurve
from evaluation.evidence.refold import Curve
from evaluation.ope.calibration import Calibration
from evaluation.tuning.scoring import Curves, Retuning, Score
from schemas.values.base import Scalar

_LEVELS = "▁▂▃▄▅▆▇█"
_CELLS = 14
_SHOWN = 40
"""How many heuristics are shown, those with most known ends first."""


def screen(found: Retuning) -> Iterator[RenderableType]:
    """Yield the whole screen."""
    yield text((", ".join(_change(found, name) for name in found.changes), "bold"))
    yield (
        f"{counted(found.sessions, 'session')},"
        f" {counted(found.predictions, 'fire')} with a known end;"
        " the recorded settings give the recorded confidences exactly"
    )
    yield ""
    if found.recorded is None or found.retuned is None:
        yield "no fire's end is known, so there is nothing to score"
    else:
        yield _scores(found.recorded, found.retuned)
        yield ""
        yield _reliability(found.recorded, found.retuned)
    yield ""
    yield from _curves(found.curves)


def rapport_screen(
    changes: object, curves: Sequence[RapportCurve]
) -> Iterator[RenderableType]:
    """Yield rapport as it was and as it would have been, one line for each person."""
    assert isinstance(changes, dict)
    yield (
        ", ".join(
            change(name, each["before"], each["after"])
            for name, each in changes.items()
        )
        or "rapport as it is"
    )
    yield ""
    if not curves:
        yield "nobody voted on a decision, so no rapport moved"
        return
    rows = (
        (
            each.person,
            f"{sparkline(each.recorded)} {each.recorded[-1]:.2f}",
            f"{sparkline(each.retuned)} {each.retuned[-1]:.2f}",
            counted(len(each.recorded), "vote"),
        )
        for each in curves
    )
    yield table((cut("rapport with"), "recorded", "retuned", ""), rows)


def change(name: str, before: object, after: Scalar) -> str:
    """Return one changed setting: `learning.gamma 1 → 0.98`."""
    return f"{name} {setting(before)} → {setting(after)}"


def sparkline(points: Sequence[float], cells: int = _CELLS) -> str:
    """Draw numbers from 0 to 1 as a line of bars; of many, evenly spaced ones."""
    if len(points) > cells:
        last = len(points) - 1
        # Both ends are among them: they are what the numbers beside the line repeat.
        points = [points[round(cell * last / (cells - 1))] for cell in range(cells)]
    top = len(_LEVELS) - 1
    return "".join(_LEVELS[round(min(max(each, 0.0), 1.0) * top)] for each in points)


def _change(found: Retuning, name: str) -> str:
    before, after = found.changes[name]
    return change(name, "/".join(setting(each) for each in before), after)


def setting(value: object) -> str:
    """Return a setting's value in words."""
    if value is None:
        return "-"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:g}" if is_number else str(value)


def _scores(old: Score, new: Score) -> RenderableType:
    colour = "green" if new.brier < old.brier else "yellow"
    brier = text((f"{new.brier:.3f}", colour if new.brier != old.brier else "dim"))
    skill = "over the rate so far; 0 knows no more than that"
    rows: tuple[tuple[str | Text, ...], ...] = (
        ("Brier score", f"{old.brier:.3f}", brier, "lower is better"),
        ("skill", _signed(old.skill), _signed(new.skill), skill),
        ("calibration error", _error(old), _error(new), ""),
        ("  by chance up to", _band(old), _band(new), ""),
    )
    return table(("", number("recorded"), number("retuned"), words()), rows)


def _reliability(old: Score, new: Score) -> RenderableType:
    # Confidences differ, so the two may fill a different number of bins.
    pairs = zip_longest(_rows(old.reliability), _rows(new.reliability), fillvalue="")
    return table(
        ("said → came", "recorded", "retuned"), (("", *each) for each in pairs)
    )


def _rows(found: Calibration) -> list[str]:
    return [
        f"{each.predicted:.2f} → {each.happened:.2f}  of {each.n}"
        for each in found.bins
    ]


def _curves(curves: Sequence[Curves]) -> Iterator[RenderableType]:
    # Names and content break ties, so that the same evidence gives the same screen.
    shown = sorted(curves, key=lambda each: (-each.fires, each.name, each.content_hash))
    rows = (
        (each.name, each.fires, _curve(each.recorded), _curve(each.retuned))
        for each in shown[:_SHOWN]
    )
    yield table((cut("heuristic"), number("fires"), "recorded", "retuned"), rows)
    if len(shown) > _SHOWN:
        yield f"and {len(shown) - _SHOWN} more: --json shows all"


def _curve(curve: Curve) -> str:
    values = [point.confidence for point in curve.points]
    ends = (
        f"{values[0]:.2f} → {values[-1]:.2f}" if len(values) > 1 else f"{values[0]:.2f}"
    )
    life = "" if curve.lifecycle == "active" else f" {curve.lifecycle}"
    return f"{sparkline(values):<{_CELLS}} {ends}{life}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _error(found: Score) -> str:
    return f"{found.reliability.error:.3f}"


def _band(found: Score) -> str:
    return f"{found.reliability.null_band.p95:.3f}"
