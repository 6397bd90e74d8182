"""Judge an experiment by the outcomes of whole sessions that packs declare.

A unit's value is the mean over its sessions. The intervals hold at all looks and for all
measures together, since each measure gets an equal share of alpha (Bonferroni).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.ope import sequential
from evaluation.ope.verdicts import Verdict
from replay.recording.session_outcomes import SessionValue
from schemas.messages.experiments import Assignment
from schemas.values.exact_math import total


@dataclass(frozen=True, slots=True)
class SessionTrial:
    """One session's value by one measure, and the variant that it ran under."""

    assignment: Assignment
    value: SessionValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionJudgement:
    """The result so far for one measure of whole sessions, in the measure's own unit."""

    domain: str
    name: str
    better: str
    a: float | None
    """The mean over units; None without one."""
    b: float | None
    units: int
    censored: int
    """Sessions whose outcome was cut off at their end."""
    estimate: float | None
    """b less a."""
    low: float | None
    """None: no bound yet."""
    high: float | None
    alpha: float
    verdict: Verdict


def judge(trials: Iterable[SessionTrial]) -> tuple[SessionJudgement, ...]:
    """Judge every declared measure, b against a, in the order of their names."""
    by_measure: dict[tuple[str, str], list[SessionTrial]] = {}
    for each in trials:
        if each.value.value is not None:
            key = each.value.domain, each.value.declared.name
            by_measure.setdefault(key, []).append(each)
    # Bonferroni: all intervals hold together with probability 1 - ALPHA, however dependent
    # the measures are.
    alpha = sequential.ALPHA / max(len(by_measure), 1)
    return tuple(_judged(by_measure[key], alpha) for key in sorted(by_measure))


def _judged(trials: Sequence[SessionTrial], alpha: float) -> SessionJudgement:
    units: dict[str, list[float]] = {}
    variants: dict[str, Assignment] = {}
    for each in trials:
        unit = each.assignment.unit
        units.setdefault(unit, []).append(each.value.value or 0.0)
        variants.setdefault(unit, each.assignment)
    values = [total(units[unit]) / len(units[unit]) for unit in units]
    is_b = [variants[unit].variant == "b" for unit in units]
    estimate, low, high = _difference(values, is_b, variants[next(iter(units))], alpha)
    declared = trials[0].value.declared
    return SessionJudgement(
        domain=trials[0].value.domain,
        name=declared.name,
        better=declared.better,
        a=_mean(values, [not each for each in is_b]),
        b=_mean(values, is_b),
        units=len(units),
        censored=sum(each.value.is_censored for each in trials),
        estimate=estimate,
        low=low,
        high=high,
        alpha=alpha,
        verdict=_verdict(declared.better, low, high),
    )


def _difference(
    values: Sequence[float], is_b: Sequence[bool], first: Assignment, alpha: float
) -> tuple[float | None, float | None, float | None]:
    """Return the estimate and its bounds, in the measure's unit.

    `sequential.contrast` first guesses one half, which suits values in [0, 1]. Measures have
    any scale, so the first value sets it and is left out: a scale must not depend on the
    values that are judged.
    """
    if len(values) < 2:
        return None, None, None
    # Twice the first value, so that what `contrast` guesses first, one half, is that value.
    scale = 2.0 * abs(values[0]) or 1.0
    probability = first.probability if first.variant == "b" else 1.0 - first.probability
    contrast = sequential.contrast(
        [each / scale for each in values[1:]], is_b[1:], probability=probability
    )
    estimate, low, high = (
        each * scale for each in sequential.asymptotic(contrast, alpha=alpha).last
    )
    # Equal values have an interval of no width, which is no evidence of a difference.
    if not np.isfinite(high) or len(set(values)) == 1:
        return estimate, None, None
    return estimate, low, high


def _mean(values: Sequence[float], chosen: Sequence[bool]) -> float | None:
    own = [value for value, is_own in zip(values, chosen, strict=True) if is_own]
    return total(own) / len(own) if own else None


def _verdict(better: str, low: float | None, high: float | None) -> Verdict:
    if low is None or high is None or low <= 0.0 <= high:
        return Verdict.INCONCLUSIVE
    return Verdict.BETTER if (low > 0.0) == (better == "higher") else Verdict.WORSE
