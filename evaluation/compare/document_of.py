"""The document of a comparison, from what each recording came to.

The order in which recordings were named changes nothing in it.
"""

from collections.abc import Sequence

from evaluation.compare.challenger import comparisons_of
from evaluation.compare.document import Document
from evaluation.compare.overall import Whole, Wish
from evaluation.compare.session import Plan, SessionResult, in_order


def document(results: Sequence[SessionResult], plan: Plan, wish: Wish) -> Document:
    """Return the comparison over all recordings; `results` holds at least one."""
    whole = Whole(tuple(in_order(results)), plan, wish)
    comparisons = comparisons_of(whole)
    return Document(
        echoic=wish.echoic,
        verdict=comparisons[0].verdict,
        command=wish.command,
        watermark=wish.watermark,
        baseline=whole.strategy(),
        sessions=whole.sessions(),
        frozen=whole.frozen,
        outcome=whole.outcome(),
        session_outcomes=whole.session_outcomes,
        whole_sessions=whole.beside_a_verdict(),
        self_replay=whole.self_replay,
        comparisons=comparisons,
        provenance=whole.provenance(),
    )
