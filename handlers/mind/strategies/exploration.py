"""Exploration: mix the strategy's odds with those of others before the one keyed draw.

`uniform` spreads the rate evenly over the eligible arms. `challenger` gives it to what
challengers would do where they differ, and changes nothing where all agree. The odds that
come out are those of the draw, to the last digit: they are the recorded propensities, by
which inverse propensity estimates divide.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from schemas.messages.arms import SILENT
from schemas.messages.decisions import Excluded, Exclusion
from schemas.ports.decision_context import DecisionContext, Odds, Strategy
from schemas.values.exact_math import round6, total
from schemas.values.settings import ExplorationSettings

_PARTS = 1_000_000
"""Probabilities are whole millionths, so that they add up to exactly one."""


def explored(
    odds: Odds,
    context: DecisionContext,
    settings: ExplorationSettings,
    challengers: Sequence[Strategy],
) -> Odds:
    """Return the odds to draw from; `challengers` are the settings', in their order.

    At a critical occasion the odds stay as they are, and `excluded` records the mass that
    exploration would have moved.
    """
    if settings.scheme == "uniform":
        proposals = [_evenly(eligible_arms(context))]
    else:
        proposals = _dissent(odds, [each.decide(context) for each in challengers])
    if not proposals:
        return odds
    arms = _mixed(odds, proposals, settings.rate)
    moved = _moved(odds, arms)
    # Rounded to nothing: then it must not be recorded as explored either.
    if moved == 0.0:
        return odds
    reason = _exclusion(odds, context)
    if reason is not None:
        return replace(odds, excluded=Excluded(reason=reason, mass=moved))
    # Silence that only exploration added was not chosen for the strategy's reason.
    keeps_reason = SILENT in dict(odds.arms)
    return replace(
        odds,
        arms=arms,
        silence=odds.silence if keeps_reason else "strategy_silent",
        exploration=settings.scheme,
    )


def eligible_arms(context: DecisionContext) -> tuple[str, ...]:
    """Return the arms on offer: eligible heuristics, the model if it may be asked,
    silence.
    """
    arms = [each.arm for each in context.candidates if each.eligible]
    if context.llm_arm is not None and context.immediate:
        arms.append(context.llm_arm)
    # `dict.fromkeys` drops repeats and keeps the order, which a set would not.
    return (*dict.fromkeys(arms), SILENT)


def whole(odds: Mapping[str, float], greedy: str) -> tuple[tuple[str, float], ...]:
    """Return odds in whole millionths that add up to one; `greedy` takes the remainder.

    Arms that round to nothing are left out. If the remainder is negative and the greedy
    arm's share is too small to bear it, the likeliest arm takes it instead.
    """
    parts = {arm: round(odds[arm] * _PARTS) for arm in odds}
    rest = _PARTS - sum(int(part) for part in parts.values())
    likeliest = max(parts, key=parts.__getitem__)
    taker = greedy if parts.get(greedy, 0) + rest > 0 else likeliest
    parts[taker] = parts.get(taker, 0) + rest
    return tuple((arm, round6(parts[arm] / _PARTS)) for arm in parts if parts[arm] > 0)


def _dissent(odds: Odds, others: Sequence[Odds]) -> list[Mapping[str, float]]:
    """Return the distinct odds of the challengers that would not do the same.

    A challenger with one arm differs if that is not the greedy arm. One that draws among
    several differs if its odds do, and then its odds are mixed in.
    """
    distinct = {
        other.arms: dict(other.arms)
        for other in others
        # One that failed says nothing of what is better.
        if other.silence != "error" and _differs(odds, other)
    }
    return [distinct[arms] for arms in distinct]


def _differs(odds: Odds, other: Odds) -> bool:
    if len(other.arms) == 1:
        return other.arms[0][0] != odds.greedy
    return dict(other.arms) != dict(odds.arms)


def _evenly(arms: Sequence[str]) -> Mapping[str, float]:
    return {arm: 1.0 / len(arms) for arm in arms}


def _mixed(
    odds: Odds, proposals: Sequence[Mapping[str, float]], rate: float
) -> tuple[tuple[str, float], ...]:
    """Return (1 - rate) * odds + rate * the mean of the proposals, in whole millionths."""
    mixed = {arm: (1.0 - rate) * probability for arm, probability in odds.arms}
    share = rate / len(proposals)
    for proposal in proposals:
        for arm, probability in proposal.items():
            mixed[arm] = mixed.get(arm, 0.0) + share * probability
    return whole(mixed, odds.greedy)


def _moved(odds: Odds, arms: Sequence[tuple[str, float]]) -> float:
    """Return the total variation distance between the strategy's odds and `arms`."""
    own = dict(odds.arms)
    return round6(total(max(0.0, share - own.get(arm, 0.0)) for arm, share in arms))


def _exclusion(odds: Odds, context: DecisionContext) -> Exclusion | None:
    """Return why nothing is explored at this occasion; None if it may be."""
    return criticality(context, odds.greedy)


CRITICAL_URGENCY = 0.9
"""From this urgency on, of the event or of the arm, nothing is delayed or explored."""

CRITICAL_THREAT = 0.8
"""From this threat on neither; the same value at which a threat passes every gate."""


def criticality(context: DecisionContext, arm: str) -> Exclusion | None:
    """Return why taking `arm` here is critical; None if it is not."""
    urgency = max(
        [context.urgency, *(c.urgency for c in context.candidates if c.arm == arm)]
    )
    if urgency >= CRITICAL_URGENCY:
        return "critical_urgency"
    if context.salience.get("threat", 0.0) >= CRITICAL_THREAT:
        return "threat"
    return None
