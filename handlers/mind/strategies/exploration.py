"""Exploring: the strategy's odds, mixed with those of others before the one keyed draw.

`uniform` spreads the rate evenly over the eligible arms. `challenger` gives it to what
challengers would do where they differ, and leaves alone what all agree on. The odds that
come out are those of the draw, to the last digit: an estimate rests on them.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from schemas.messages.decisions import SILENT, Excluded, Exclusion
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
    """Return the odds of the draw; `challengers` are the settings', in their order."""
    if settings.scheme == "uniform":
        proposals = [_evenly(eligible_arms(context))]
    else:
        proposals = _dissent(odds, [each.decide(context) for each in challengers])
    if not proposals:
        return odds
    arms = _mixed(odds, proposals, settings.rate)
    moved = _moved(odds, arms)
    if moved == 0.0:
        return odds
    reason = _exclusion(odds, context)
    if reason is not None:
        return replace(odds, excluded=Excluded(reason=reason, mass=moved))
    keeps_reason = SILENT in dict(odds.arms)
    return replace(
        odds,
        arms=arms,
        silence=odds.silence if keeps_reason else "strategy_silent",
        exploration=settings.scheme,
    )


def eligible_arms(context: DecisionContext) -> tuple[str, ...]:
    """Return what could be done: the eligible heuristics, the model if it may be asked,
    silence.
    """
    arms = [each.arm for each in context.candidates if each.eligible]
    if context.llm_arm is not None and context.immediate:
        arms.append(context.llm_arm)
    return (*dict.fromkeys(arms), SILENT)


def whole(odds: Mapping[str, float], greedy: str) -> tuple[tuple[str, float], ...]:
    """Odds in whole millionths that add up to one; what rounding leaves goes to `greedy`.

    Arms left with nothing are not among them. If the greedy arm's own share is less than
    what rounding took too much, the likeliest arm gives way instead.
    """
    parts = {arm: round(odds[arm] * _PARTS) for arm in odds}
    rest = _PARTS - sum(int(part) for part in parts.values())
    likeliest = max(parts, key=parts.__getitem__)
    taker = greedy if parts.get(greedy, 0) + rest > 0 else likeliest
    parts[taker] = parts.get(taker, 0) + rest
    return tuple((arm, round6(parts[arm] / _PARTS)) for arm in parts if parts[arm] > 0)


def _dissent(odds: Odds, others: Sequence[Odds]) -> list[Mapping[str, float]]:
    """Return the distinct proposals of the challengers that would not do the same.

    One that is certain of its arm differs if that is not the greedy arm. One that draws
    itself differs if its odds do, and is followed to its odds.
    """
    distinct = {
        other.arms: dict(other.arms)
        for other in others
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
    """Return the strategy's odds with `rate` of them given to the proposals, in equal
    shares.
    """
    mixed = {arm: (1.0 - rate) * probability for arm, probability in odds.arms}
    share = rate / len(proposals)
    for proposal in proposals:
        for arm, probability in proposal.items():
            mixed[arm] = mixed.get(arm, 0.0) + share * probability
    return whole(mixed, odds.greedy)


def _moved(odds: Odds, arms: Sequence[tuple[str, float]]) -> float:
    """Return the probability that arms gained over the strategy's own odds."""
    own = dict(odds.arms)
    return round6(total(max(0.0, share - own.get(arm, 0.0)) for arm, share in arms))


def _exclusion(odds: Odds, context: DecisionContext) -> Exclusion | None:
    """Why this is no occasion to try things; a mute or a spent budget would be named here."""
    return criticality(context, odds.greedy)


CRITICAL_URGENCY = 0.9
"""From this urgency on, an event or what it calls for brooks no delay and no trial."""

CRITICAL_THREAT = 0.8
"""From this threat on, neither does an event."""


def criticality(context: DecisionContext, arm: str) -> Exclusion | None:
    """Why taking `arm` here is critical; None if it is not."""
    urgency = max(
        [context.urgency, *(c.urgency for c in context.candidates if c.arm == arm)]
    )
    if urgency >= CRITICAL_URGENCY:
        return "critical_urgency"
    if context.salience.get("threat", 0.0) >= CRITICAL_THREAT:
        return "threat"
    return None
