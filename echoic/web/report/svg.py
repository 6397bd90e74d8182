"""The strokes that charts are made of, and the field with its two axes.

Its rule: pure; a chart scales as one, at most so large that its letters stay readable on
a telephone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from echoic.web.report.format import number
from echoic.web.report.html_builder import Content, Html, el

LEFT, RIGHT, TOP, BOTTOM = 46, 346, 14, 196
_WIDTH, _HEIGHT = 360, 236

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places along an axis."""

    low: float
    high: float
    start: float = 0.0
    end: float = 100.0

    def __call__(self, value: float) -> float:
        """The place of a value; one beyond the axis stands at its end."""
        inside = min(max(value, self.low), self.high)
        share = (inside - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a chart."""

    title: str
    low: float
    high: float
    unit: str = ""
    is_bare: bool = False
    """Whether the chart labels it itself."""

    def marks(self) -> tuple[float, float, float]:
        """Where it is labelled."""
        return self.low, (self.low + self.high) / 2, self.high


def field(across: Axis, up: Axis) -> tuple[Scale, Scale]:
    """The scales of a chart's field."""
    return Scale(across.low, across.high, LEFT, RIGHT), Scale(
        up.low, up.high, BOTTOM, TOP
    )


def chart(words: str, across: Axis, up: Axis, marks: Iterable[Content]) -> Html:
    """A field with its axes and what is drawn in it; `words` say what that shows."""
    x, y = field(across, up)
    lines = [stroke([(LEFT, y(at)), (RIGHT, y(at))], "grid") for at in up.marks()]
    sides = ("start", "middle", "end")
    below = [
        text((x(at), BOTTOM + 16), number(at, across.unit), side)
        for at, side in zip(across.marks(), sides, strict=True)
        if not across.is_bare
    ]
    beside = [
        text((LEFT - 7, y(at) + 4), number(at, up.unit), "end") for at in up.marks()
    ]
    title = text(((LEFT + RIGHT) / 2, BOTTOM + 34), across.title, "middle", "title")
    height = text((0, 2), up.title, "start", "title")
    return el(
        "svg", *lines, *below, *beside, title, height, *marks, class_="chart",
        viewBox=f"0 -9 {_WIDTH} {_HEIGHT + 9}", role="img", aria_label=words,
    )  # fmt: skip


def stroke(points: Iterable[Point], class_: str) -> Html:
    """A line through points."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return el("path", d=f"M{path}" if path else "", class_=class_)


def box(corner: Point, width: float, height: float, class_: str, told: str) -> Html:
    """A bar; `told` shows when one points at it."""
    return el(
        "rect", el("title", told), x=f"{corner[0]:.1f}", y=f"{corner[1]:.1f}",
        width=f"{width:.1f}", height=f"{max(height, 0.0):.1f}", rx=1.5, class_=class_,
    )  # fmt: skip


def circle(at: Point, size: float, class_: str, told: str) -> Html:
    """A dot; `told` shows when one points at it."""
    return el(
        "circle", el("title", told), cx=f"{at[0]:.1f}", cy=f"{at[1]:.1f}",
        r=f"{size:.1f}", class_=class_,
    )  # fmt: skip


def text(at: Point, words: str, anchor: str, class_: str | None = None) -> Html:
    """A label."""
    return el(
        "text", words, x=f"{at[0]:.1f}", y=f"{at[1]:.1f}", text_anchor=anchor,
        class_=class_,
    )  # fmt: skip


def steps(points: Sequence[Point]) -> list[Point]:
    """The corners of a line that holds each height until the next point."""
    corners: list[Point] = []
    for x, y in points:
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, y))
    return corners
