"""Plan how many sessions to record before two strategies can be told apart.

It is a power calculation for a paired difference under a given exploration. Only flips
carry information, so what counts is how often the challenger's arm is played there; and a
plan has to pass the gates, whatever the power.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

from evaluation.ope.intervals import quantile
from evaluation.ope.recorded import Recorded, Scheme
from schemas.values.exact_math import exp

_POWER_Z = 0.8416
"""The normal quantile of a power of 80 %."""
OUTCOME_VARIANCE = 0.25
"""The variance of a fair coin flip: the largest of an outcome in [0, 1]."""
_WIDENED = 1.06
"""The interval shown is the hull of two: allowed for as this factor on Student's."""
_LEAST_FLIP_OBSERVATIONS = 42
"""Planned flip observations, so that the gate's 30 are reached in 98 of 100 recordings."""
_LEAST_RARER = 16
"""Outcomes of the rarer kind among them, so that the gate's 10 are reached as well."""
_LEAST_SESSIONS = 15
"""Sessions planned at least: what the gate `flip_sessions` asks for."""
ROPE = 0.02
"""The default margin of no difference, in outcome units."""
DEFAULT_EFFECT = 0.15
"""The effect of one flip that is planned for where nothing has been measured."""
UNIFORM_ARMS = 3
"""Arms that uniform exploration is assumed to choose from."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one scheme needs; `more_sessions` counts from what has been recorded."""

    scheme: Scheme
    flip_observations: int
    decisions: int
    sessions: int
    more_sessions: int


def uniform(rate: float, *, arms: int = UNIFORM_ARMS) -> Scheme:
    """Return the scheme that spreads `rate` evenly over all arms at every decision."""
    share = _probability(rate, "rate") / arms
    return Scheme(f"uniform {rate:g}", share, 1.0 - rate + share)


def challenger(rate: float) -> Scheme:
    """Return the scheme that plays the challenger's arm with `rate` where the two disagree.

    Elsewhere it explores nothing, so it costs the fewest odd answers for each flip seen.
    """
    _probability(rate, "rate")
    return Scheme(f"challenger {rate:g}", rate, 1.0 - rate)


def usual_schemes(*, arms: int = UNIFORM_ARMS) -> tuple[Scheme, ...]:
    """Return the schemes that a plan is usually made for."""
    return (
        *(uniform(rate, arms=arms) for rate in (0.05, 0.1)),
        *(challenger(rate) for rate in (0.1, 0.2, 0.5)),
    )


def plan(
    effect: float,
    scheme: Scheme,
    *,
    flip_rate: float,
    decisions_per_session: float,
    recorded: Recorded | None = None,
) -> Plan:
    """Plan the sessions to record under a scheme until an effect per flip would be found.

    What has been recorded already counts, as far as its own exploration allows.

    Raises:
        ValueError: effect, flip rate or decisions per session lie outside their range.
    """
    _probability(flip_rate, "flip rate")
    if not decisions_per_session > 0.0:
        raise ValueError(
            f"decisions per session {decisions_per_session!r}: give more than 0"
        )
    if not 0.0 < abs(effect) <= 1.0:
        raise ValueError(f"effect {effect!r}: give what a flip gains, above 0 up to 1")
    # From flip observations to decisions: a decision is one if it flips and
    # the challenger's arm is drawn.
    least = _least_flips(recorded) / (flip_rate * scheme.challenger)
    noise = _noise(effect, scheme, flip_rate)
    sessions, decisions = _LEAST_SESSIONS, 0
    # A fixed point: the t quantile depends on the number of sessions it leads to.
    for _ in range(_ROUNDS):
        needed = _factor(sessions) * noise / (flip_rate * effect**2)
        # Rounded before `ceil`, or 1000.0000000001 decisions would become 1,001.
        decisions = ceil(round(max(needed, least), 6))
        sessions = max(ceil(decisions / decisions_per_session), _LEAST_SESSIONS)
    flips = ceil(round(decisions * flip_rate * scheme.challenger, 6))
    more = sessions
    if recorded is not None and recorded.exploration is not None:
        added = _added(effect, scheme, recorded, sessions) / decisions_per_session
        # Starting anew is always possible, and cheaper if what is recorded is too noisy.
        more = ceil(round(min(sessions, added) * _thinned(recorded, flip_rate), 6))
        more = max(more, _until_gates(scheme, recorded, flip_rate))
    # What is told of no outcome, or no longer flips, has to be recorded all the same.
    thin = 1.0 if recorded is None else _thinned(recorded, flip_rate)
    decisions, sessions = (ceil(round(n * thin, 6)) for n in (decisions, sessions))
    return Plan(scheme, flips, decisions, sessions, more)


_ROUNDS = 20
"""Iterations of the search for the number of sessions; it settles within a few."""


def _factor(sessions: int) -> float:
    """Return the squared standard errors that an effect must measure for 80 % power."""
    return (_WIDENED * quantile(sessions - 1) + _POWER_Z) ** 2


def _noise(effect: float, scheme: Scheme, flip_rate: float) -> float:
    """Return the variance of one flip's difference, in squared outcome units.

    Two outcomes an effect apart vary most around one half: p(1 - p) averages
    1/4 - effect²/4. The second term is that the number of flips is itself random.
    """
    outcome = OUTCOME_VARIANCE - effect**2 / 4.0
    return outcome * scheme.variance + (1.0 - flip_rate) * effect**2


def _least_flips(recorded: Recorded | None) -> int:
    """Return the flip observations that open the gates, given how rare outcomes are."""
    rarer = 0.5 if recorded is None else recorded.rarer
    # Outcomes that are all alike say nothing of how rare the other kind is.
    rare = ceil(_LEAST_RARER / rarer) if rarer else _LEAST_FLIP_OBSERVATIONS
    return max(_LEAST_FLIP_OBSERVATIONS, rare)


def plans(
    effect: float,
    *,
    flip_rate: float,
    decisions_per_session: float,
    schemes: Sequence[Scheme] | None = None,
    recorded: Recorded | None = None,
) -> tuple[Plan, ...]:
    """Return one plan for each scheme; the exploration on record comes first."""
    now = None if recorded is None else recorded.exploration
    return tuple(
        plan(
            effect,
            scheme,
            flip_rate=flip_rate,
            decisions_per_session=decisions_per_session,
            recorded=recorded,
        )
        for scheme in (
            *(() if now is None else (now,)),
            *(usual_schemes() if schemes is None else schemes),
        )
    )


def _added(effect: float, scheme: Scheme, recorded: Recorded, sessions: int) -> float:
    """Return the decisions to add until the mean over old and new ones is precise enough.

    All weigh alike in the mean, so noisy old ones may cost more than they contribute;
    `plan` then counts from scratch. The recording was explored, or it would not be asked.
    """
    rate, now = recorded.flip_rate, recorded.exploration or scheme
    share = effect**2 * rate / _factor(sessions)
    old = float(recorded.decisions)
    noise, before = _noise(effect, scheme, rate), _noise(effect, now, rate)
    # (old * before + new * noise) / (old + new)² = share, solved for new: a quadratic
    # equation, of which the larger root is meant.
    half = noise / (2.0 * share) - old
    rest = old * before / share - old**2
    # What is recorded is precise enough already; the quadratic has no positive root.
    if rest <= 0.0:
        return 0.0
    return half + sqrt(half**2 + rest)


def _coming(recorded: Recorded, planned: float) -> float:
    """Return the flip rate to plan with: to come, else on record, else as `planned`."""
    return recorded.coming_rate or recorded.flip_rate or planned


def _thinned(recorded: Recorded, planned: float) -> float:
    """Return how many sessions to come hold as much as one would at the rate on record."""
    was = recorded.flip_rate or planned
    return was / _coming(recorded, planned) / (recorded.known or 1.0)


def _until_gates(scheme: Scheme, recorded: Recorded, planned: float) -> int:
    """Return the sessions to add until the flip gates open, whatever the effect."""
    rate = _coming(recorded, planned)
    a_session = rate * scheme.challenger * recorded.decisions_per_session
    missing = _least_flips(recorded) - recorded.flip_observations
    known = recorded.known or 1.0
    flips = ceil(round(missing / (a_session * known), 6)) if missing > 0.0 else 0
    if recorded.tried is None:
        return max(flips, _LEAST_SESSIONS - recorded.sessions, 0)
    # A session counts in which the challenger's arm is drawn at a flip at least once.
    is_tried = 1.0 - exp(-a_session * known)
    return max(flips, ceil((_LEAST_SESSIONS - recorded.tried) / is_tried), 0)


def _probability(value: float, name: str) -> float:
    if not 0.0 < value < 1.0 and not (name == "flip rate" and value == 1.0):
        raise ValueError(f"{name} {value!r}: give a share above 0 and below 1")
    return value
