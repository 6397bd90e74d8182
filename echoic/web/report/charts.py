"""The larger drawings: trade-off, reliability, confidence, weights.

Its rule: pure, from parts of the document to one drawing each.
"""

from collections.abc import Sequence

from echoic.web.report.figures import nice
from echoic.web.report.format import counted, number
from echoic.web.report.html_builder import Content, Fields, Html, brief, el
from echoic.web.report.svg import (
    BOTTOM,
    LEFT,
    RIGHT,
    Axis,
    Point,
    Scale,
    box,
    chart,
    circle,
    field,
    steps,
    stroke,
    text,
)

_CURVE_POINTS = 240
"""More points than this make a curve no clearer."""

_Z95 = 1.96


def tradeoff(points: Sequence[Fields], measure: str, title: str, unit: str) -> Html:
    """Success over what it costs, a point a strategy; hollow at the foot: not estimated."""
    known = [
        (point, float(point[measure]), "a" if index == 0 else "b")
        for index, point in enumerate(points)
        if point.get(measure) is not None
    ]
    most = max((amount for _, amount, _ in known), default=0.0)
    across = Axis(title, 0.0, nice(most * 1.1 or 1.0), unit)
    up = Axis("success", *_around([point.get("success") for point in points]))
    x, y = field(across, up)
    marks: list[Content] = []
    for point, amount, side in known:
        success = point.get("success")
        at = (x(amount), y(up.low if success is None else success))
        marks += _labelled(at, point, number(amount, unit), side)
    words = "; ".join(
        f"{brief(point.get('label'))} {number(amount, unit)} {number(point.get('success'))}"
        for point, amount, _ in known
    )
    return chart(f"Success over {title.lower()}: {words}", across, up, marks)


def reliability(bins: Sequence[Fields]) -> Html:
    """Observed over predicted success; the pale bars are what chance allows."""
    across, up = Axis("predicted success", 0.0, 1.0), Axis("observed", 0.0, 1.0)
    x, y = field(across, up)
    seen = [each for each in bins if each["count"] and each["observed"] is not None]
    most = max((each["count"] for each in seen), default=1)
    chance: list[Content] = []
    dots: list[Content] = []
    for each in seen:
        middle, count = each["predicted"], each["count"]
        told = (
            f"predicted {number(middle)}, observed {number(each['observed'])},"
            f" {counted(count, 'decision')}"
        )
        slack = _Z95 * (max(middle * (1 - middle), 0.0) / count) ** 0.5
        top, foot = y(middle + slack), y(middle - slack)
        chance.append(box((x(middle) - 2.5, top), 5, foot - top, "chance", told))
        size = 3.0 + 4.0 * (count / most) ** 0.5
        dots.append(circle((x(middle), y(each["observed"])), size, "point b", told))
    diagonal = stroke([(x(0), y(0)), (x(1), y(1))], "diagonal")
    words = f"Observed over predicted success in {counted(len(seen), 'bin')}"
    return chart(words, across, up, [*chance, diagonal, *dots])


def confidence(curve: Fields) -> Html:
    """How one heuristic's confidence went in both lives, update by update."""
    lives = [_thinned(curve.get(side) or ()) for side in ("baseline", "challenger")]
    moments = sorted({at for points in lives for at, _ in points})
    places = {at: index for index, at in enumerate(moments)}
    x = Scale(0, max(len(places) - 1, 1), 2, 238)
    y = Scale(0.0, 1.0, 66, 4)
    lines = [stroke([(2, y(level)), (238, y(level))], "grid") for level in (0, 0.5, 1)]
    for side, points in zip("ab", lives, strict=True):
        track: list[Point] = [(x(places[at]), y(value)) for at, value in points]
        if track:
            lines.append(stroke([*steps(track), (238, track[-1][1])], f"curve {side}"))
    ends = ", ".join(
        f"{side} ends at {number(points[-1][1])}"
        for side, points in zip(("baseline", "challenger"), lives, strict=True)
        if points
    )
    return el(
        "svg", *lines, viewBox="0 0 240 70", class_="spark", role="img",
        aria_label=f"Confidence of {brief(curve.get('name'))}: {ends}",
    )  # fmt: skip


def weights(bars: Sequence[Fields]) -> Html:
    """How many decisions have which importance weight."""
    most = max((bar["count"] for bar in bars), default=0)
    up = Axis("decisions", 0.0, nice(most or 1))
    _, y = field(Axis("", 0.0, 1.0), up)
    wide = (RIGHT - LEFT) / len(bars)
    drawn: list[Content] = []
    for index, bar in enumerate(bars):
        top = y(bar["count"])
        told = f"{_reach(bar)}: {bar['count']:,}"
        left = LEFT + index * wide
        drawn.append(box((left + 1.5, top), wide - 3, BOTTOM - top, "column", told))
        if bar["count"]:
            count = text((left + wide / 2, top - 5), f"{bar['count']:,}", "middle")
            drawn.append(count)
        drawn.append(text((left, BOTTOM + 16), number(bar["low"]), "middle"))
    across = Axis("weight, from", 0.0, 1.0, is_bare=True)
    return chart("How many decisions have which weight", across, up, drawn)


def _reach(bar: Fields) -> str:
    high = bar.get("high")
    return f"from {number(bar['low'])}" + (f" to {number(high)}" if high else " on")


def _around(values: Sequence[float | None]) -> tuple[float, float]:
    """A range of success that holds these, with room; all of it if none is known."""
    known = [value for value in values if value is not None]
    if not known:
        return 0.0, 1.0
    low, high = min(known) - 0.05, max(known) + 0.05
    return max(int(low * 10) / 10, 0.0), min((int(high * 10) + 1) / 10, 1.0)


def _labelled(at: Point, point: Fields, amount: str, side: str) -> list[Content]:
    name = brief(point.get("label", ""), 28)
    success = point.get("success")
    known = number(success) if success is not None else "success not estimated"
    hollow = "" if success is not None else " hollow"
    leans_left = at[0] > (LEFT + RIGHT) / 2
    beside = (at[0] + (-10 if leans_left else 10), at[1] - 8)
    return [
        circle(at, 6, f"point {side}{hollow}", f"{name}: {amount}, {known}"),
        text(beside, name, "end" if leans_left else "start", "name"),
    ]


def _thinned(points: Sequence[Sequence[object]]) -> list[tuple[str, float]]:
    """At most so many of the points, the last among them."""
    every = -(-len(points) // _CURVE_POINTS) or 1
    kept = [*points[:-1][::every], *points[-1:]]
    return [(str(at), float(str(value))) for at, value in kept]
