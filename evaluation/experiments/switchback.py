"""Analyse a live experiment as a switchback, with one value a unit (session or person).

Each unit ran under a variant drawn for it, so the difference of their values is the
long-run effect, carry-over within a unit included. The interval is anytime-valid: one may
look, and stop, at any time.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evaluation.ope import sequential
from evaluation.ope.settings import EstimationSettings
from evaluation.ope.verdicts import Reason, Verdict
from schemas.messages.experiments import VariantName
from schemas.values.exact_math import total

_CHANCE_MIN = 0.001
"""The p-value of the split into variants below which the draw itself is doubted: the usual
level of a sample-ratio-mismatch test (Kohavi, Tang and Xu, 2020)."""

_ROPE = EstimationSettings().rope
"""The margin of no difference, in outcome units, where the value of a is unknown."""

_EXACT_UP_TO = 2_000
"""Units up to which the split's p-value is an exact binomial sum; its integers have as many
bits as there are units. Beyond, the normal distribution is close enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One decision under an experiment."""

    unit: str
    """The session or person that its variant was drawn for."""
    variant: VariantName
    probability: float
    """The probability with which the unit got its variant."""
    is_washout: bool = False
    was_asked: bool = True
    """Whether a strategy decided; otherwise a gate closed before it."""
    value: float | None = None
    """Its outcome, 0 to 1; None: unknown."""
    is_waiting: bool = False
    """Whether its outcome may still be observed."""
    is_silence: bool = False
    """Whether its value is what silence counts, and nothing that was observed."""


@dataclass(frozen=True, slots=True)
class Side:
    """One variant, in numbers."""

    units: int
    """Sessions or persons that got it."""
    counted: int
    """Those of them that have a value yet."""
    decisions: int
    """Decisions with a value, outside washout."""
    mean: float | None
    """The mean of the units' values."""
    silent: int = 0
    """Of these decisions, how many have what silence counts."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The value of b less that of a."""

    estimate: float
    low: float | None
    """None: no bound yet."""
    high: float | None
    alpha: float = sequential.ALPHA


@dataclass(frozen=True, slots=True)
class Switchback:
    """The result of an experiment so far."""

    a: Side
    b: Side
    difference: Difference | None
    """None without a unit that has a value."""
    chance_of_split: float
    """The probability of a split at least as uneven by a fair draw."""
    washout_share: float
    """The share of the strategies' decisions left out because the variant had switched."""
    unknown_share: float
    """The share of the others of which nobody knows what they came to."""
    unfinished: int
    """Units whose value may still change, and which are therefore not counted yet."""
    verdict: Verdict
    """Of variant b against variant a."""
    reasons: tuple[Reason, ...]

    @property
    def may_stop(self) -> bool:
        """Whether there is a verdict; the sequence stays valid when one stops on it."""
        return self.verdict != Verdict.INCONCLUSIVE


def analyse(trials: Iterable[Trial], open_unit: str | None = None) -> Switchback:
    """Analyse the decisions of an experiment, given in order, for b against a.

    `open_unit` still runs: its value is not final, so it is not counted yet.
    """
    units: dict[str, _Unit] = {}
    for trial in trials:
        unit = units.setdefault(trial.unit, _Unit(trial.variant, trial.probability))
        unit.take(trial)
    if open_unit in units:
        units[open_unit].is_open = True
    return _judged(list(units.values()))


def with_silence(trials: Iterable[Trial], value: float) -> list[Trial]:
    """Return the trials as they would be if silence counted otherwise."""
    return [replace(each, value=value) if each.is_silence else each for each in trials]


@dataclass(slots=True)
class _Unit:
    """A session or person whose decisions are being collected."""

    variant: VariantName
    probability: float
    values: list[float] = field(default_factory=list)
    silent: int = 0
    """How many of the values are what silence counts."""
    asked: int = 0
    washouts: int = 0
    is_open: bool = False
    is_mixed: bool = False
    """Whether it was under both variants, which no draw can make."""

    def take(self, trial: Trial) -> None:
        self.is_mixed |= trial.variant != self.variant
        # Where a gate closed, neither variant had any say.
        if not trial.was_asked:
            return
        self.asked += 1
        if trial.is_washout:
            self.washouts += 1
        elif trial.is_waiting:
            self.is_open = True
        elif trial.value is not None:
            self.values.append(trial.value)
            self.silent += trial.is_silence

    @property
    def is_counted(self) -> bool:
        return bool(self.values) and not self.is_open

    @property
    def value(self) -> float:
        return total(self.values) / len(self.values)


def _judged(units: Sequence[_Unit]) -> Switchback:
    counted = [unit for unit in units if unit.is_counted]
    difference = _difference(counted)
    n_b = sum(unit.variant == "b" for unit in units)
    chance = chance_of_split(len(units) - n_b, n_b)
    verdict, reason = _verdict(units, counted, difference, chance)
    asked = sum(unit.asked for unit in units)
    washouts = sum(unit.washouts for unit in units)
    known = sum(len(unit.values) for unit in units)
    return Switchback(
        a=_side(units, "a"),
        b=_side(units, "b"),
        difference=difference,
        chance_of_split=chance,
        washout_share=washouts / asked if asked else 0.0,
        unknown_share=1.0 - known / (asked - washouts) if asked > washouts else 0.0,
        unfinished=sum(unit.is_open for unit in units),
        verdict=verdict,
        reasons=(reason,),
    )


def _side(units: Sequence[_Unit], name: VariantName) -> Side:
    own = [unit for unit in units if unit.variant == name]
    counted = [unit for unit in own if unit.is_counted]
    return Side(
        units=len(own),
        counted=len(counted),
        decisions=sum(len(unit.values) for unit in counted),
        mean=total(unit.value for unit in counted) / len(counted) if counted else None,
        silent=sum(unit.silent for unit in counted),
    )


def _difference(counted: Sequence[_Unit]) -> Difference | None:
    """Return b less a: inverse-probability weighted around each side's earlier mean.

    The estimator is `sequential.contrast`, the interval `sequential.asymptotic`.
    """
    if not counted:
        return None
    values = sequential.contrast(
        [unit.value for unit in counted],
        [unit.variant == "b" for unit in counted],
        probability=_probability_of_b(counted[0]),
    )
    estimate, low, high = sequential.asymptotic(values).last
    is_bounded = bool(np.isfinite(high))
    if not is_bounded:
        return Difference(estimate, None, None)
    # Outcomes lie in [0, 1], so no difference of two lies farther out.
    return Difference(estimate, max(low, -1.0), min(high, 1.0))


def _probability_of_b(unit: _Unit) -> float:
    return unit.probability if unit.variant == "b" else 1.0 - unit.probability


def _verdict(
    units: Sequence[_Unit],
    counted: Sequence[_Unit],
    difference: Difference | None,
    chance: float,
) -> tuple[Verdict, Reason]:
    mixed = sum(unit.is_mixed for unit in units)
    if mixed:
        detail = f"{mixed} were under both variants: not one draw"
        return Verdict.INVALID, Reason("mixed_units", detail)
    if chance < _CHANCE_MIN:
        detail = f"a fair draw splits so with p = {chance:.2g}"
        return Verdict.INVALID, Reason("uneven_split", detail)
    missing = sequential.FIRST_LOOK - len(counted)
    if difference is None or difference.low is None or difference.high is None:
        detail = f"an interval needs {missing} more with an outcome"
        return Verdict.INCONCLUSIVE, Reason("too_few", detail)
    # Equal values have an interval of no width, which would pass for certainty.
    if len({unit.value for unit in counted}) == 1:
        detail = "every one has the same value: what tells them apart?"
        return Verdict.INCONCLUSIVE, Reason("no_variation", detail)
    base = _side(counted, "a").mean
    margin = _ROPE if base is None else EstimationSettings().margin(base)
    return _by_interval(difference.low, difference.high, margin)


def _by_interval(low: float, high: float, margin: float) -> tuple[Verdict, Reason]:
    # First, as in `evaluation.ope.verdicts`: a difference too small to matter does not,
    # however certain its sign.
    if low >= -margin and high <= margin:
        return Verdict.EQUIVALENT, Reason("within_rope", f"within ±{margin:.2g} of 0")
    if low > 0.0:
        return Verdict.BETTER, Reason("above_zero", "the interval lies above 0")
    if high < 0.0:
        return Verdict.WORSE, Reason("below_zero", "the interval lies below 0")
    return Verdict.INCONCLUSIVE, Reason("holds_zero", "the interval holds 0: go on")


def chance_of_split(n_a: int, n_b: int) -> float:
    """Return the two-sided p-value of a split under fair draws (binomial, p = 1/2)."""
    n, fewer = n_a + n_b, min(n_a, n_b)
    if n == 0 or n_a == n_b:
        return 1.0
    if n > _EXACT_UP_TO:
        # With the continuity correction: the two counts differ in steps of two.
        z = (abs(n_a - n_b) - 1) / math.sqrt(n)
        return math.erfc(z / math.sqrt(2.0))
    ways = sum(math.comb(n, k) for k in range(fewer + 1))
    return min(1.0, 2 * ways / (1 << n))
