"""The document of a comparison, from what each recording came to.

The order in which recordings were named changes nothing in it.
"""

from collections.abc import Sequence
from dataclasses import replace

from evaluation.compare.challenger import comparison
from evaluation.compare.document import Comparison, Document, Holm
from evaluation.compare.overall import Whole, Wish
from evaluation.compare.session import Plan, SessionResult, in_order
from evaluation.ope.significance import holm
from evaluation.ope.verdicts import Reason

ALPHA = 0.05
"""Above this adjusted p-value a difference may be luck among several challengers."""


def document(results: Sequence[SessionResult], plan: Plan, wish: Wish) -> Document:
    """Return the comparison over all recordings; `results` holds at least one."""
    whole = Whole(tuple(in_order(results)), plan, wish)
    comparisons = _adjusted(
        [comparison(whole, index) for index in range(1, len(plan.challengers) + 1)]
    )
    return Document(
        echoic=wish.echoic,
        verdict=comparisons[0].verdict,
        command=wish.command,
        watermark=wish.watermark,
        baseline=whole.strategy(),
        sessions=whole.sessions(),
        frozen=whole.frozen,
        outcome=whole.outcome(),
        session_outcomes=whole.session_outcomes(),
        self_replay=whole.self_replay,
        comparisons=comparisons,
        provenance=whole.provenance(),
    )


def _adjusted(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Return the comparisons with Holm-adjusted p-values, if there are several."""
    if len(comparisons) < 2:
        return tuple(comparisons)
    raw: dict[str, float | None] = {
        str(index): each.estimate.difference.p_value
        for index, each in enumerate(comparisons)
    }
    adjusted = holm(raw)
    return tuple(
        _held_back(each, raw[str(index)], adjusted[str(index)])
        for index, each in enumerate(comparisons)
    )


def _held_back(
    comparison: Comparison, p: float | None, adjusted: float | None
) -> Comparison:
    if p is None or adjusted is None:
        return comparison
    # EQUIVALENT stays as it is: the p-value is that of a difference, and a missing one
    # does not need protecting against luck in finding some.
    counted = replace(comparison, holm=Holm(p=p, adjusted=adjusted))
    if comparison.verdict not in ("BETTER", "WORSE") or adjusted <= ALPHA:
        return counted
    reason = Reason(
        "several_challengers",
        f"p = {p:.3g} becomes {adjusted:.3g} once all challengers are counted",
    )
    reasons = (reason, *comparison.reasons)
    return replace(counted, verdict="INCONCLUSIVE", reasons=reasons)
