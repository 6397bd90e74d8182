"""Retuned confidences on one screen: scores, reliability, and the curves side by side.

Its rule: pure, what was found goes in and lines come out.
"""

from collections.abc import Iterator, Sequence

from echoic.terminal.text import PLAIN, Style, counted, fitted
from evaluation.evidence.rapport import RapportCurve, as_fields
from evaluation.evidence.refold import Curve
from evaluation.ope.calibration import Calibration
from evaluation.tuning.scoring import Curves, Retuning, Score
from projections.folds.learning.rapport import Pace
from schemas.values.settings_by_name import Scalar

LEVELS = "▁▂▃▄▅▆▇█"
_CELLS = 14
_NAME = 26
_SHOWN = 40
"""How many heuristics are shown, those with most known ends first."""


def lines(found: Retuning, style: Style = PLAIN) -> Iterator[str]:
    """The whole screen, line by line."""
    yield style.paint(", ".join(_change(found, name) for name in found.changes), "bold")
    yield (
        f"{counted(found.sessions, 'session')},"
        f" {counted(found.predictions, 'fire')} with a known end;"
        " the recorded settings give the recorded confidences exactly"
    )
    yield ""
    if found.recorded is None or found.retuned is None:
        yield "no fire's end is known, so there is nothing to score"
    else:
        yield from _scores(found.recorded, found.retuned, style)
        yield ""
        yield from _reliability(found.recorded, found.retuned)
    yield ""
    yield from _curves(found.curves)


def rapport_lines(pace: Pace, curves: Sequence[RapportCurve]) -> Iterator[str]:
    """Rapport as it was and as it would have been, a line a person."""
    changes = as_fields(pace, ())["changes"]
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
    yield f"{'rapport with':<{_NAME}} {'recorded':<{_CELLS}}       retuned"
    for each in curves:
        yield (
            f"{fitted(each.person, _NAME):<{_NAME}}"
            f" {sparkline(each.recorded):<{_CELLS}} {each.recorded[-1]:.2f}"
            f"  {sparkline(each.retuned):<{_CELLS}} {each.retuned[-1]:.2f}"
            f"  {counted(len(each.recorded), 'vote')}"
        )


def change(name: str, before: object, after: Scalar) -> str:
    """One changed setting: `learning.gamma 1 → 0.98`."""
    return f"{name} {_figure(before)} → {_figure(after)}"


def sparkline(points: Sequence[float], cells: int = _CELLS) -> str:
    """Numbers from 0 to 1 as a line of bars, drawn together if they are many."""
    if len(points) > cells:
        last = len(points) - 1
        points = [points[round(cell * last / (cells - 1))] for cell in range(cells)]
    top = len(LEVELS) - 1
    return "".join(LEVELS[round(min(max(each, 0.0), 1.0) * top)] for each in points)


def _change(found: Retuning, name: str) -> str:
    before, after = found.changes[name]
    return change(name, "/".join(_figure(each) for each in before), after)


def _figure(value: object) -> str:
    if value is None:
        return "-"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:g}" if is_number else str(value)


def _scores(old: Score, new: Score, style: Style) -> Iterator[str]:
    yield f"{'':<20}{'recorded':>10}{'retuned':>10}"
    better = new.brier < old.brier
    paint = "green" if better else "yellow"
    yield (
        f"{'Brier score':<20}{old.brier:>10.3f}"
        f"{style.paint(f'{new.brier:>10.3f}', paint if new.brier != old.brier else 'dim')}"
        "   lower is better"
    )
    yield (
        f"{'skill':<20}{_signed(old.skill):>10}{_signed(new.skill):>10}"
        "   over the rate so far; 0 knows no more than that"
    )
    yield f"{'calibration error':<20}{_error(old):>10}{_error(new):>10}"
    yield f"{'  by chance up to':<20}{_band(old):>10}{_band(new):>10}"


def _reliability(old: Score, new: Score) -> Iterator[str]:
    yield f"{'said → came':<20}{'recorded':<26}retuned"
    left, right = _rows(old.reliability), _rows(new.reliability)
    for row in range(max(len(left), len(right))):
        one = left[row] if row < len(left) else ""
        other = right[row] if row < len(right) else ""
        yield f"{'':<20}{one:<26}{other}".rstrip()


def _rows(found: Calibration) -> list[str]:
    return [
        f"{each.predicted:.2f} → {each.happened:.2f}  of {each.n}"
        for each in found.bins
    ]


def _curves(curves: Sequence[Curves]) -> Iterator[str]:
    shown = sorted(curves, key=lambda each: (-each.fires, each.name, each.content_hash))
    yield f"{'heuristic':<{_NAME}}{'fires':>6}  {'recorded':<40}retuned"
    for each in shown[:_SHOWN]:
        name = fitted(each.name, _NAME - 1) + " "
        left, right = _curve(each.recorded), _curve(each.retuned)
        yield f"{name}{each.fires:>6}  {left:<40}{right}"
    if len(shown) > _SHOWN:
        yield f"and {len(shown) - _SHOWN} more: --json shows all"


def _curve(curve: Curve) -> str:
    values = [point.confidence for point in curve.points]
    ends = (
        f"{values[0]:.2f} → {values[-1]:.2f}" if len(values) > 1 else f"{values[0]:.2f}"
    )
    life = "" if curve.life == "active" else f" {curve.life}"
    return f"{sparkline(values):<{_CELLS}} {ends}{life}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _error(found: Score) -> str:
    return f"{found.reliability.error:.3f}"


def _band(found: Score) -> str:
    return f"{found.reliability.null_band.p95:.3f}"
