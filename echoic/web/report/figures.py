"""What the small drawings show: differences on one zero line, and scales for charts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from echoic.web.report.format import Tone, interval, signed, verdict_sign
from evaluation.compare.document import Breakdown, Comparison, Headline, Sensitivity

_NICE = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_LEAST_WIDTH = 0.6
"""In per cent: what is next to nothing is still seen."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 346, 14, 196
"""The field of a chart; its templates know it too."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear scale from values to places along an axis, by default in per cent."""

    low: float
    high: float
    start: float = 0.0
    end: float = 100.0

    def __call__(self, value: float) -> float:
        """Return the place of a value; one beyond the axis is clamped to its end."""
        inside = min(max(value, self.low), self.high)
        # An empty range has one place, its start.
        share = (inside - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)

    def share(self, value: float) -> str:
        """Return the place of a value as an attribute."""
        return f"{self(value):.2f}%"

    def width(self, low: float, high: float) -> str:
        """Return how wide a span is as an attribute."""
        return f"{max(self(high) - self(low), _LEAST_WIDTH):.2f}%"

    @property
    def marks(self) -> tuple[float, float, float]:
        """Where a chart labels it."""
        return self.low, (self.low + self.high) / 2, self.high


@dataclass(frozen=True, slots=True)
class Effect:
    """A difference as it is drawn: a point, an interval, or only bounds."""

    value: float | None
    ci: Sequence[float] | None = None
    bounds: Sequence[float] | None = None
    tone: Tone = "open"

    @property
    def reach(self) -> float:
        """How far from zero it goes."""
        ends = [self.value, *(self.ci or ()), *(self.bounds or ())]
        return max((abs(end) for end in ends if end is not None), default=0.0)

    @property
    def words(self) -> str:
        """The same in words."""
        parts = []
        if self.value is not None:
            parts.append(f"difference {signed(self.value, 'share')}")
        if self.ci is not None:
            parts.append(f"interval {interval(self.ci, 'share')}")
        if self.bounds is not None:
            parts.append(f"bounds {interval(self.bounds, 'share')}")
        return ", ".join(parts) or "no difference can be given"


def effect(row: Comparison | Headline | Sensitivity | Breakdown) -> Effect:
    """Return the difference that a part of the document is about."""
    match row:
        case Comparison():
            found = row.estimate.difference
            tone = verdict_sign(row.verdict, row.reasons).tone
            return Effect(found.dr, found.ci, found.bounds, tone)
        case Headline(delta=float(), ci=(low, high)):
            # Coloured only where the whole interval is on one side of zero.
            tone = "good" if low > 0 else "bad" if high < 0 else "open"
            return Effect(row.delta, row.ci, tone=tone)
        case Headline():
            return Effect(row.delta, bounds=row.ci)
        case Sensitivity():
            return Effect(row.difference, row.ci, tone=verdict_sign(row.verdict).tone)
        case Breakdown():
            return Effect(row.difference)


def around_zero(effects: Iterable[Effect]) -> Scale:
    """Return the scale that all these differences share, zero in its middle."""
    reach = nice(max((each.reach for each in effects), default=0.0) or 0.1)
    # Three per cent of room on either side, for the symbols at the ends.
    return Scale(-reach, reach, 3.0, 97.0)


def bars(amounts: Iterable[float | None]) -> Scale:
    """Return the scale of bars beside one another."""
    sizes = (abs(each) for each in amounts if each is not None)
    return Scale(0.0, max(sizes, default=0.0) or 1.0)


def nice(size: float) -> float:
    """Return the next round number at or over a size."""
    power = 1.0
    while size > 10 * power:
        power *= 10
    while size < power:
        power /= 10
    # The tolerance lets 0.3, which is stored a little larger, stay 0.3.
    return next(step for step in _NICE if step * power >= size * 0.999999) * power


def around(values: Iterable[float | None]) -> tuple[float, float]:
    """Return a range of success that holds these, with room; all of it if none is known."""
    known = [value for value in values if value is not None]
    if not known:
        return 0.0, 1.0
    low, high = min(known) - 0.05, max(known) + 0.05
    return max(int(low * 10) / 10, 0.0), min((int(high * 10) + 1) / 10, 1.0)


FILTERS: dict[str, Callable[..., Any]] = {"effect": effect, "around_zero": around_zero}
GLOBALS = {
    "across": partial(Scale, start=_LEFT, end=_RIGHT),
    "up": partial(Scale, start=_BOTTOM, end=_TOP),
    "bars": bars,
    "nice": nice,
    "around": around,
}
