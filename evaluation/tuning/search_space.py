"""Propose the settings that a search tries, on a grid or by Optuna.

Up to three parameters are tried on a grid, every combination once. Beyond that Optuna's TPE
(Bergstra et al., 2011) proposes, seeded, with the settings in force as its first choice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from evaluation.tuning.search import Values
from schemas.values.base import Scalar

GRID_LIMIT = 3
"""Parameters up to which a grid is searched: at five points each, 125 choices."""
_POINTS = 5
"""Points of a range, unless a number is given."""
_AT_ONCE = 8
"""Choices proposed at a time: one pass over the recordings evaluates all of them."""


class RangeError(ValueError):
    """This is no range of a setting."""


class MissingOptunaError(RuntimeError):
    """Optuna is not installed."""


@dataclass(frozen=True, slots=True)
class Range:
    """What a parameter may be set to."""

    low: float
    high: float
    points: tuple[float | int, ...]
    """On a grid."""
    is_whole: bool
    is_list: bool = False
    """Whether only the points themselves are meant."""


def parse_range(text: str, *, is_real: bool = False) -> Range:
    """Parse `0.9..1` (five points), `0.9..1/11`, or a list such as `0.9,0.95,1`.

    `1..5` means whole numbers unless the setting `is_real`; `0..1` never does.

    Raises:
        RangeError: it is none of these.
    """
    try:
        if ".." in text:
            return _span(text, is_real)
        numbers = tuple(_number(part) for part in text.split(","))
    except ValueError:
        raise RangeError(
            f"{text!r} is no range: give 0.9..1, 0.9..1/11 or 0.9,0.95,1"
        ) from None
    is_whole = not is_real and all(isinstance(each, int) for each in numbers)
    return Range(min(numbers), max(numbers), numbers, is_whole, is_list=True)


class Grid:
    """Every combination of the ranges' points, once."""

    def __init__(self, ranges: Mapping[str, Range]) -> None:
        """Combine the points of up to a few ranges."""
        names = sorted(ranges)
        combined = product(*(ranges[name].points for name in names))
        self._left = [dict(zip(names, each, strict=True)) for each in combined]

    def ask(self) -> Sequence[Values]:
        """Return all of them, and then none."""
        choices, self._left = self._left, []
        return choices

    def tell(self, choice: Values, worth: float | None) -> None:
        """Ignore it: every combination is tried, whatever the others were worth."""


class Tpe:
    """Optuna's tree-structured Parzen estimator, a few choices at a time."""

    def __init__(
        self, ranges: Mapping[str, Range], current: Values, trials: int, seed: int
    ) -> None:
        """Try so many choices within the ranges, `current` first if it lies in them.

        Raises:
            MissingOptunaError: Optuna is not installed.
        """
        # An optional dependency, imported where it is used: grids work without it.
        try:
            import optuna
        except ImportError as error:
            raise MissingOptunaError(
                f"more than {GRID_LIMIT} parameters are searched with Optuna, which is"
                " not installed: pip install 'echoic[tune]'"
            ) from error
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._failed = optuna.trial.TrialState.FAIL
        sampler = optuna.samplers.TPESampler(seed=seed)
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        self._ranges = ranges
        self._left = trials
        self._open: list[tuple[Values, Any]] = []
        if all(_lies_in(ranges[name], current.get(name)) for name in ranges):
            self._study.enqueue_trial({name: current[name] for name in ranges})

    def ask(self) -> Sequence[Values]:
        """Return a few more, until all trials are used up."""
        count = min(self._left, _AT_ONCE)
        self._left -= count
        for _ in range(count):
            trial = self._study.ask()
            self._open.append((self._suggested(trial), trial))
        return [values for values, _ in self._open]

    def tell(self, choice: Values, worth: float | None) -> None:
        """Learn from one of those that were asked for."""
        place = next(
            place for place, (values, _) in enumerate(self._open) if values == choice
        )
        _, trial = self._open.pop(place)
        # A failed trial is no point of the model, where a made-up worth would mislead it.
        if worth is None:
            self._study.tell(trial, state=self._failed)
        else:
            self._study.tell(trial, worth)

    def _suggested(self, trial: Any) -> Values:
        values: dict[str, Scalar] = {}
        for name in sorted(self._ranges):
            found = self._ranges[name]
            if found.is_list:
                values[name] = trial.suggest_categorical(name, found.points)
            elif found.is_whole:
                values[name] = trial.suggest_int(name, int(found.low), int(found.high))
            else:
                values[name] = trial.suggest_float(name, found.low, found.high)
        return values


def _span(text: str, is_real: bool) -> Range:
    ends, _, count = text.partition("/")
    low, _, high = (part.strip() for part in ends.partition(".."))
    first, last = _number(low), _number(high)
    if not first < last:
        raise ValueError(text)
    are_whole = isinstance(first, int) and isinstance(last, int) and last > 1
    is_whole = are_whole and not count and not is_real
    if is_whole:
        points: tuple[float | int, ...] = tuple(range(int(first), int(last) + 1))
        return Range(first, last, points, is_whole)
    steps = (int(count) if count else _POINTS) - 1
    if steps < 1:
        raise ValueError(text)
    step = (last - first) / steps
    # Rounded, so that settings read 0.95 and not 0.9500000000000001.
    points = tuple(round(first + place * step, 9) for place in range(steps + 1))
    return Range(first, last, points, is_whole=False)


def _number(text: str) -> float | int:
    number = float(text)
    # `float` reads inf and nan as well; NaN fails this
    # comparison, which is why it is negated.
    if not abs(number) < float("inf"):
        raise ValueError(text)
    return int(text) if text.strip().lstrip("+-").isdecimal() else number


def _lies_in(found: Range, value: Scalar | None) -> bool:
    if found.is_list:
        return value in found.points
    if not isinstance(value, int | float) or not found.low <= value <= found.high:
        return False
    return not found.is_whole or value == int(value)
