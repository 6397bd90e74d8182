"""What to record next, where a comparison of two strategies is still open."""

from dataclasses import dataclass
from math import sqrt

from evaluation.ope.planning import (
    DEFAULT_EFFECT,
    OUTCOME_VARIANCE,
    ROPE,
    challenger,
    plan,
)
from evaluation.ope.recorded import Recorded, Scheme, Trend

_RATE = 0.2
"""The least rate of challenger exploration that is proposed."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What to record next."""

    words: str
    """In one phrase, after "record"."""
    rate: float | None = None
    """The rate of challenger exploration to record with; None: as it is now."""
    trend: Trend | None = None
    """How flips fell off, if they did."""
    is_hopeless: bool = False
    """Whether no number of such sessions will do, as nothing flips any more."""


def effect_to_plan_for(difference: float | None, flip_rate: float) -> float:
    """Return the effect per flip to plan for, from a measured difference per decision.

    A difference below the ROPE is planned for as the ROPE: no need to find a smaller one.
    """
    if difference is None or not flip_rate:
        return DEFAULT_EFFECT
    return min(1.0, max(abs(difference), ROPE) / flip_rate)


def advice(
    recorded: Recorded, difference: float | None = None, se: float | None = None
) -> Advice:
    """Return what to record next.

    `difference` and `se` are the measured ones, if any. It is called where nothing is
    decided yet, so it always asks for one session at least.
    """
    if not recorded.decisions:
        return Advice("another session: in this one no decision was a strategy's")
    if not recorded.flip_rate:
        return Advice("nothing to decide: the two never differ")
    trend, now = recorded.trend, recorded.exploration
    if not recorded.coming_rate:
        return Advice("no more sessions like these", trend=trend, is_hopeless=True)
    effect = effect_to_plan_for(difference, recorded.flip_rate)
    if now is not None and se:
        # Outcomes of one session may be correlated: where the measured error exceeds that
        # of independent coin flips, plan for an effect that is smaller by the same ratio.
        effect *= min(1.0, _expected_error(recorded, now) / se)
    # A rate above the one proposed stays: less exploration would take more sessions.
    keeps = recorded.offered is not None and recorded.offered >= _RATE
    if keeps and now is None and recorded.offered is not None:
        now = Scheme("as now", recorded.offered, 1.0 - recorded.offered)
    better = _more(effect, challenger(_RATE), recorded)
    said = f"{_sessions(better)} with challenger exploration at {_RATE:g}"
    if now is None:
        return Advice(said, _RATE, trend)
    same = _more(effect, now, recorded)
    as_is = f"{_sessions(same)} at the current exploration"
    if keeps or same <= better:
        return Advice(as_is, None, trend)
    return Advice(f"{as_is}, or {said}", _RATE, trend)


def _more(effect: float, scheme: Scheme, recorded: Recorded) -> int:
    found = plan(
        effect,
        scheme,
        flip_rate=recorded.flip_rate,
        decisions_per_session=recorded.decisions_per_session,
        recorded=recorded,
    )
    return max(1, found.more_sessions)


def _expected_error(recorded: Recorded, scheme: Scheme) -> float:
    """Return the standard error of the difference if outcomes were independent coin flips."""
    variance = recorded.flip_rate * scheme.variance * OUTCOME_VARIANCE
    return sqrt(variance / recorded.decisions)


def _sessions(count: int) -> str:
    return f"{count:,} more session{'' if count == 1 else 's'}"
