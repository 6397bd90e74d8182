"""Small drawings in a line of a table: intervals on a zero line, pairs of bars.

Its rule: pure; places across are in per cent of the width, so that a drawing fits its
cell, and each says in words what it shows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from echoic.web.report.format import interval, number, signed
from echoic.web.report.html_builder import Content, Html, el
from echoic.web.report.svg import Scale

_NICE = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_MIDDLE = 12
"""Half the height of a bar's line, in pixels."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A difference as it is drawn: a point, an interval, or only bounds."""

    value: float | None
    ci: Sequence[float] | None = None
    bounds: Sequence[float] | None = None
    tone: str = "open"

    def reach(self) -> float:
        """How far from zero it goes."""
        ends = [self.value, *(self.ci or ()), *(self.bounds or ())]
        return max((abs(end) for end in ends if end is not None), default=0.0)


def around_zero(effects: Iterable[Effect]) -> Scale:
    """The scale that all these differences share, zero in its middle."""
    reach = nice(max((effect.reach() for effect in effects), default=0.0) or 0.1)
    return Scale(-reach, reach, 3.0, 97.0)


def nice(size: float) -> float:
    """The next round number at or over a size."""
    power = 1.0
    while size > 10 * power:
        power *= 10
    while size < power:
        power /= 10
    return next(step for step in _NICE if step * power >= size * 0.999999) * power


def effect_bar(effect: Effect, scale: Scale) -> Html:
    """A difference on the zero line."""
    parts = [_line(scale(0.0), "zero")]
    if effect.bounds is not None:
        parts.append(_span(effect.bounds, scale, 10.0, "bounds"))
    if effect.ci is not None:
        parts.append(_span(effect.ci, scale, 6.0, f"interval {effect.tone}"))
    if effect.value is not None:
        dot = "point" if effect.ci is not None else "point hollow"
        parts.append(_dot(scale(effect.value), f"{dot} {effect.tone}"))
    return _drawing("bar", effect_words(effect), *parts)


def effect_words(effect: Effect) -> str:
    """The same in words."""
    parts = []
    if effect.value is not None:
        parts.append(f"difference {signed(effect.value, 'share')}")
    if effect.ci is not None:
        parts.append(f"interval {interval(effect.ci, 'share')}")
    if effect.bounds is not None:
        parts.append(f"bounds {interval(effect.bounds, 'share')}")
    return ", ".join(parts) or "no difference can be given"


def zero_axis(scale: Scale) -> Html:
    """What the zero line's ends mean, over a column of bars."""
    ends = ((scale.low, "start"), (0.0, "middle"), (scale.high, "end"))
    words = {"start": f"{signed(scale.low)}", "middle": "0", "end": signed(scale.high)}
    labels = (
        el("text", words[side], x=_share(scale(at)), y=11, text_anchor=side)
        for at, side in ends
    )
    return _drawing(
        "bar axis", "worse to the left of zero, better to the right", *labels
    )


def pair(baseline: float | None, challenger: float | None, unit: str = "") -> Html:
    """Two amounts, one bar over the other."""
    amounts = (baseline, challenger)
    largest = max((abs(each) for each in amounts if each is not None), default=0.0)
    scale = Scale(0.0, largest or 1.0)
    bars = (
        el(
            "rect", x=0, y=3 + 10 * row, height=7, rx=2,
            width=_share(max(scale(abs(each)), 0.6)), class_="ab"[row],
        )
        for row, each in enumerate(amounts)
        if each is not None
    )  # fmt: skip
    words = f"baseline {number(baseline, unit)}, challenger {number(challenger, unit)}"
    return _drawing("bar", words, *bars)


def against_chance(value: float, mean: float, limit: float) -> Html:
    """A value beside what chance alone gives: up to `limit` in 19 of 20 cases."""
    scale = Scale(0.0, nice(max(value, limit) * 1.05))
    parts = (
        _span((0.0, limit), scale, 10.0, "bounds"),
        _line(scale(mean), "zero"),
        _dot(scale(value), "point good" if value <= limit else "point bad"),
    )
    words = f"{number(value)}; chance alone gives {number(mean)}, up to {number(limit)}"
    return _drawing("bar", words, *parts)


def _drawing(class_: str, words: str, *parts: Content) -> Html:
    return el(
        "svg", *parts, class_=class_, width="100%", height=2 * _MIDDLE, role="img",
        aria_label=words,
    )  # fmt: skip


def _span(ends: Sequence[float], scale: Scale, height: float, class_: str) -> Html:
    left, right = (scale(end) for end in ends)
    return el(
        "rect", x=_share(left), width=_share(max(right - left, 0.6)),
        y=_MIDDLE - height / 2, height=height, rx=height / 2, class_=class_,
    )  # fmt: skip


def _line(at: float, class_: str) -> Html:
    place = _share(at)
    return el("line", x1=place, x2=place, y1=0, y2=2 * _MIDDLE, class_=class_)


def _dot(at: float, class_: str) -> Html:
    return el("circle", cx=_share(at), cy=_MIDDLE, r=5, class_=class_)


def _share(place: float) -> str:
    return f"{place:.2f}%"
