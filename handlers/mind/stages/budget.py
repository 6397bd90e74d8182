"""Budget: may a model be asked now, by what asking took lately?"""

from datetime import datetime
from operator import itemgetter

from projections.folds.executive import spending
from schemas.messages.decisions import Gate
from schemas.state.executive import Spent
from schemas.values.exact_math import round6
from schemas.values.executive_settings import ExecutiveSettings

_ONE = 1.0
_MILLIONTH = 0.000001
"""What must be left: one call, one token, a millionth of a dollar."""


def spending_gate(
    spent: Spent, settings: ExecutiveSettings, now: datetime
) -> Gate | None:
    """Return the gate of the limit with the smallest share left; None if there is none."""
    today = spending.of_today(spent, settings, now)
    calls = len(spending.recent(spent, now))
    guessed = f", {today.estimated} of them estimated" if today.estimated else ""
    limits = (
        (settings.budget_calls, calls, _ONE, "calls in the last minute"),
        (settings.budget_tokens, today.tokens, _ONE, f"tokens today{guessed}"),
        (settings.budget_cost, today.cost, _MILLIONTH, "US dollars today"),
    )
    shares = [
        (used / most, _gate(most - used, least, f"{used:g} of {most:g} {what}"))
        for most, used, least, what in limits
        if most
    ]
    return max(shares, key=itemgetter(0))[1] if shares else None


def _gate(left: float, least: float, note: str) -> Gate:
    left = round6(max(0.0, left))
    return Gate(
        name="budget",
        passed=left >= least,
        value=left,
        threshold=least,
        margin=round6(left - least),
        note=note,
    )
