"""Turn logged decisions into the estimator's rows.

Decisions that ended at a gate before any strategy was asked make no row: no strategy would
have changed them.
"""

from collections.abc import Collection, Mapping, Sequence

from evaluation.ope.rows import Observation
from handlers.mind.strategies.exploration import criticality
from replay.open_loop.asked import LoggedDecision
from replay.recording.outcomes import UNKNOWN, Outcome
from schemas.messages.arms import SILENT
from schemas.messages.sensing import SOMEBODY
from schemas.ports.decision_context import Odds
from schemas.values.exact_math import total

BASELINE = 0
"""The index of the baseline's odds in a logged decision; challengers follow."""


def asked(decisions: Sequence[LoggedDecision]) -> list[LoggedDecision]:
    """Return the decisions that reached a strategy."""
    return [each for each in decisions if each.context is not None]


def observations(
    decisions: Sequence[LoggedDecision],
    challenger: int,
    outcomes: Mapping[str, Outcome],
) -> list[Observation]:
    """Return what the estimator needs of each decision, in order.

    Args:
        decisions: those that reached a strategy, of one or more sessions.
        challenger: the index of its odds.
        outcomes: what each came to, by decision id.
    """
    rows = []
    positions: dict[str, int] = {}
    for each in decisions:
        position = positions.get(each.session, 0)
        positions[each.session] = position + 1
        outcome = outcomes.get(each.record.id, UNKNOWN)
        rows.append(
            Observation(
                session=each.session,
                arm=each.decided.arm,
                propensity=each.decided.probability,
                reward=outcome.value,
                target=dict(each.odds[challenger].arms),
                baseline=dict(each.odds[BASELINE].arms),
                decision=each.record.id,
                # Coarse buckets: finer ones would leave the reward model too few rows each.
                context=f"{each.decided.source}.{each.decided.type}",
                logging=each.logging,
                is_censored=outcome.is_censored,
                position=position,
                responded=each.decided.arm != SILENT,
                respond_probability=1.0 - each.logging.get(SILENT, 0.0),
                person=_person(each),
                agent=each.record.agent,
            )
        )
    return rows


def _person(decision: LoggedDecision) -> str:
    person = decision.decided.person
    return "" if person is None or person == SOMEBODY else person


def critical(decisions: Sequence[LoggedDecision]) -> frozenset[str]:
    """Return the ids of those at critical occasions, where exploration tries nothing."""
    return frozenset(
        each.record.id
        for each in decisions
        if each.context is not None
        and criticality(each.context, each.odds[BASELINE].greedy) is not None
    )


def closed_share(
    decisions: Sequence[LoggedDecision], challenger: int, critical: Collection[str]
) -> float:
    """Return the challenger's mean odds on arms that exploration never tries, in [0, 1].

    Args:
        decisions: those that reached a strategy.
        challenger: the index of its odds.
        critical: the ids of those at critical occasions.
    """
    closed = sum(
        odds
        for each in decisions
        if each.record.id in critical
        for arm, odds in each.odds[challenger].arms
        if not each.logging.get(arm)
    )
    return closed / len(decisions) if decisions else 0.0


def flip_share(first: Odds, second: Odds) -> float:
    """Return the total variation distance of two odds, in [0, 1].

    It is the least probability with which two coupled draws take different arms.
    """
    others = dict(second.arms)
    # Rounding may bring the common share just above 1.
    agree = total(min(share, others.get(arm, 0.0)) for arm, share in first.arms)
    return max(0.0, 1.0 - agree)
