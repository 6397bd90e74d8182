"""The estimator's input: one logged decision with its arm, propensity and reward.

Rows are checked here, so that what is passed on is sound; a row that cannot be true is an
error and never repaired, since a wrong propensity would bias every estimate unnoticed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum, isfinite

SUM_TOLERANCE = 1e-6
"""How far odds may be from adding up to 1: decimals written with six places pass."""


class ObservationError(ValueError):
    """A row cannot be true; the message says what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One logged decision, and what two strategies would have done in its place."""

    session: str
    """The session it is clustered by; empty: a cluster of its own."""

    arm: str
    """The arm that was taken."""

    propensity: float
    """The probability with which the logging policy took that arm, in (0, 1]."""

    reward: float | None
    """The outcome, in [0, 1]; None: not known."""

    target: Mapping[str, float]
    """The target strategy's odds over arms, adding up to 1; an arm left out has 0."""

    baseline: Mapping[str, float]
    """The same of the strategy that the target is compared with."""

    decision: str | None = None

    context: str = ""
    """The bucket within which the reward model pools decisions."""

    logging: Mapping[str, float] | None = None
    """The logging policy's odds over all arms, where known."""

    is_censored: bool = False
    """Whether its outcome was cut off: it is counted, and left out on both sides."""

    position: int = 0
    """Its place within the session."""

    responded: bool | None = None
    """Whether the arm taken says something."""

    respond_probability: float | None = None
    """The logging policy's probability of saying something."""

    person: str = ""
    """Whom it concerned; empty: nobody is named."""

    agent: str = ""
    """Who decided, a companion or character; empty: not told."""


def check(row: Observation) -> None:
    """Raise `ObservationError` if a row cannot be true."""
    if not 0.0 < row.propensity <= 1.0:
        raise ObservationError(
            f"p {row.propensity!r} is not in (0, 1]: give the probability with which"
            " the arm that was taken was drawn"
        )
    if row.reward is not None and not 0.0 <= row.reward <= 1.0:
        raise ObservationError(
            f"reward {row.reward!r} is not in [0, 1]: rescale it, or give null if it"
            " is not known"
        )
    _check_odds("target", row.target)
    _check_odds("baseline", row.baseline)
    if row.logging is not None:
        _check_odds("logging", row.logging)
        logged = row.logging.get(row.arm, 0.0)
        if abs(logged - row.propensity) > SUM_TOLERANCE:
            raise ObservationError(
                f"p is {row.propensity!r}, but logging gives {row.arm!r}"
                f" {logged!r}: they must be the same"
            )
    chance = row.respond_probability
    if chance is not None and not 0.0 <= chance <= 1.0:
        raise ObservationError(f"respond_probability {chance!r} is not in [0, 1]")


def _check_odds(name: str, odds: Mapping[str, float]) -> None:
    for arm, probability in odds.items():
        if not 0.0 <= probability <= 1.0:
            raise ObservationError(
                f"{name} gives {arm!r} {probability!r}: a probability is in [0, 1]"
            )
    # The slack beyond the tolerance is for the sum's own rounding at its edge.
    total = fsum(odds.values())
    if not isfinite(total) or abs(total - 1.0) > SUM_TOLERANCE + 1e-12:
        raise ObservationError(
            f"{name} adds up to {total!r}: the odds of all its arms must add up to 1"
        )
