"""Points, curves and strokes of the larger drawings of the report.

Thousands of moments or updates become a few SVG paths.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from echoic.web.report.figures import Scale
from evaluation.compare.charts import Curve, CurvePart, Timeline
from evaluation.compare.document import Comparison

_CURVE_POINTS = 240
"""More points than this make a curve no clearer."""
_DRAWN_CURVES = 60
"""The document has all; here are those that moved most often."""

_WIDTH = 1000
_LANES: Mapping[str, int] = {"baseline": 30, "challenger": 62}
"""The y of the foot of each lane."""
_TALL: Mapping[str, int] = {
    "gated": 3,
    "silent": 6,
    "heuristic": 16,
    "llm": 22,
    "race": 22,
}
"""A class's height: how much is said, and by whom."""


def priced(comparison: Comparison, measure: str) -> list[dict[str, Any]]:
    """Return the strategies whose `measure` is known, each with the side that it is on."""
    return [
        {**asdict(point), "amount": amount, "side": "b" if index else "a"}
        for index, point in enumerate(comparison.tradeoff)
        if (amount := getattr(point, measure)) is not None
    ]


def moved_most(comparison: Comparison) -> list[CurvePart]:
    """Return the curves worth drawing, those with most updates first."""
    found = sorted(
        comparison.curves,
        key=lambda each: len(each.baseline) + len(each.challenger),
        reverse=True,
    )
    return found[:_DRAWN_CURVES]


def tracks(curve: CurvePart) -> list[dict[str, object]]:
    """Return the path of a heuristic's confidence on each side, with its last value."""
    sides = {name: _thinned(getattr(curve, name)) for name in _LANES}
    moments = sorted({at for points in sides.values() for at, _ in points})
    # Evenly by update, not by time: updates come in bursts.
    places = {at: index for index, at in enumerate(moments)}
    x, y = Scale(0, max(len(places) - 1, 1), 2, 238), Scale(0.0, 1.0, 66, 4)
    return [
        {
            "name": name,
            "side": "b" if name == "challenger" else "a",
            "end": points[-1][1],
            "path": steps([(x(places[at]), y(value)) for at, value in points]) + "H238",
        }
        for name, points in sides.items()
        if points
    ]


def steps(points: Sequence[tuple[float, float]]) -> str:
    """Return a path that holds each height until the next point."""
    (x, y), *others = points
    return f"M{x:.1f} {y:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in others)


def differing(timeline: Timeline) -> int:
    """Count the decisions of a session in which the two differ."""
    return sum(each.baseline != each.challenger for each in timeline.events)


def arms_seen(timelines: Sequence[Timeline]) -> list[str]:
    """Return the classes of arms that occur."""
    seen = {
        getattr(each, side)
        for part in timelines
        for each in part.events
        for side in _LANES
    }
    return [name for name in _TALL if name in seen]


def strokes(timeline: Timeline) -> list[tuple[str, str]]:
    """Return a session's lanes: for each class of strokes, all of them as one path."""
    events = timeline.events
    x = _across([each.at for each in events])
    both = list(zip(x, events, strict=True))
    differ = (at for at, each in both if each.baseline != each.challenger)
    found = [("differs", _strokes(differ, 70, 66))]
    for side, foot in _LANES.items():
        found.append(("grid", f"M0 {foot}H{_WIDTH}"))
        for name, height in _TALL.items():
            there = (at for at, each in both if getattr(each, side) == name)
            found.append((f"tick {name}", _strokes(there, foot, height)))
    known = [(at, each.outcome) for at, each in both if each.outcome is not None]
    for tone, is_good in (("good", True), ("bad", False)):
        there = (at for at, outcome in known if (outcome >= 0.5) is is_good)
        found.append((f"tick outcome-{tone}", _strokes(there, 82, 8)))
    return [(class_, path) for class_, path in found if path]


def _across(moments: Sequence[str]) -> list[float]:
    """Return the x of each moment, to half a unit; moments are in order."""
    seconds = [datetime.fromisoformat(at).timestamp() for at in moments]
    scale = Scale(min(seconds), max(seconds), 3, _WIDTH - 3)
    # To half a unit, so that strokes at the same place are drawn once.
    return [round(scale(at) * 2) / 2 for at in seconds]


def _strokes(places: Iterable[float], foot: int, height: int) -> str:
    # `dict.fromkeys` drops repeats and keeps the order, so the bytes are always the same.
    return "".join(f"M{at:g} {foot}v-{height}" for at in dict.fromkeys(places))


def _thinned(points: Curve) -> Curve:
    """Return at most 241 of the points, evenly spaced, the last among them."""
    # Division rounded up; of no points every first.
    every = -(-len(points) // _CURVE_POINTS) or 1
    return *points[:-1][::every], *points[-1:]


FILTERS: dict[str, Callable[..., Any]] = {
    "priced": priced,
    "moved_most": moved_most,
    "tracks": tracks,
    "differing": differing,
    "arms_seen": arms_seen,
    "strokes": strokes,
    "place": "{:.1f}".format,
}
