"""Turn logged decisions into the estimator's rows.

Decisions that ended at a gate before any strategy was asked make no row: no strategy would
have changed them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.ope.rows import Observation
from handlers.mind.strategies.exploration import (
    CRITICAL_THREAT,
    CRITICAL_URGENCY,
    criticality,
)
from replay.open_loop.asked import LoggedDecision
from replay.recording.outcomes import UNKNOWN, Outcome
from schemas.messages.arms import SILENT
from schemas.messages.sensing import SOMEBODY
from schemas.ports.decision_context import DecisionContext, Odds
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


@dataclass(frozen=True, slots=True)
class Closed:
    """What a challenger would do where exploration tries nothing."""

    share: float
    """Its mean odds on arms that are never tried, in [0, 1]."""
    causes: tuple[str, ...] = ()
    """Why that is so, the commonest first, each with how many decisions and one of them."""


@dataclass(frozen=True, slots=True)
class Critical:
    """An occasion at which exploration tries nothing."""

    cause: str
    """What makes it one, as `salience threat 0.85 >= 0.8`."""
    text: str
    """The event's."""


def critical(decisions: Sequence[LoggedDecision]) -> dict[str, Critical]:
    """Return the critical occasions, by the ids of the decisions at them."""
    return {
        each.record.id: Critical(cause, each.record.text)
        for each in decisions
        if each.context is not None
        and (cause := _cause(each.context, each.odds[BASELINE].greedy)) is not None
    }


def _cause(context: DecisionContext, arm: str) -> str | None:
    """Return what makes an occasion critical, with its number and limit; None if nothing."""
    match criticality(context, arm):
        case None:
            return None
        case "threat":
            threat = context.salience.get("threat", 0.0)
            return f"salience threat {threat:g} >= {CRITICAL_THREAT:g}"
        case _:
            return f"{_urgency(context, arm)} >= {CRITICAL_URGENCY:g}"


def _urgency(context: DecisionContext, arm: str) -> str:
    """Return the highest urgency there, and where it comes from."""
    of_arm = max(
        (each.urgency for each in context.candidates if each.arm == arm), default=0.0
    )
    if of_arm > context.urgency:
        return f"urgency of the heuristic {of_arm:g}"
    for dimension in ("threat", "actionability"):
        # An urgency that the event does not declare is the higher of these two.
        if context.salience.get(dimension) == context.urgency:
            return f"salience {dimension} {context.urgency:g}"
    return f"urgency of the event {context.urgency:g}"


def closed(
    decisions: Sequence[LoggedDecision],
    challenger: int,
    critical: Mapping[str, Critical],
) -> Closed:
    """Return what a challenger would do on arms that exploration never tries.

    Args:
        decisions: those that reached a strategy.
        challenger: the index of its odds.
        critical: the critical occasions, by decision id.
    """
    mass, found, texts = 0.0, Counter[str](), dict[str, str]()
    for each in decisions:
        here = critical.get(each.record.id)
        if here is None:
            continue
        odds = total(
            odds
            for arm, odds in each.odds[challenger].arms
            if not each.logging.get(arm)
        )
        if odds > 0.0:
            mass += odds
            found[here.cause] += 1
            texts.setdefault(here.cause, here.text)
    return Closed(
        mass / len(decisions) if decisions else 0.0,
        tuple(
            f"{cause} in {count:,}, such as “{texts[cause]}”"
            for cause, count in sorted(found.items(), key=lambda each: (-each[1], each))
        ),
    )


def flip_share(first: Odds, second: Odds) -> float:
    """Return the total variation distance of two odds, in [0, 1].

    It is the least probability with which two coupled draws take different arms.
    """
    others = dict(second.arms)
    # Rounding may bring the common share just above 1.
    agree = total(min(share, others.get(arm, 0.0)) for arm, share in first.arms)
    return max(0.0, 1.0 - agree)
