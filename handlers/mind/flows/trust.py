"""Trust: say so when the last trusted heuristic of a domain fell, and nothing else answers.

A domain's events are then met with silence, but for trials. It is told once, and once more
when evidence brings one of the domain over the threshold again.
"""

from handlers.mind.context import TurnContext
from handlers.mind.flows.consult import strategy_in_force
from handlers.mind.strategies.heuristic_first import Trusting
from projections.folds.learning import beliefs, heuristics
from schemas.messages.learning import (
    AdviceIgnored,
    Endorsed,
    FeedbackApplied,
    OutcomeObserved,
    TrustChanged,
)
from schemas.state.agent import AgentState
from schemas.state.taught import Taught

_EVIDENCE = (AdviceIgnored, Endorsed, FeedbackApplied, OutcomeObserved)


def noted(turn: TurnContext, before: AgentState) -> None:
    """Announce each domain whose last trusted heuristic fell, or whose first rose.

    `before` is the agent's state at the input.
    """
    credited = {
        (each.heuristic_id, each.content_hash): each
        for each in turn.outputs
        if isinstance(each, _EVIDENCE) and each.heuristic_id is not None
    }
    # Where a model may be asked, nothing falls silent.
    if not credited or turn.settings.model is not None:
        return
    strategy = strategy_in_force(turn)
    if not isinstance(strategy, Trusting):
        return
    for heuristic_id, content_hash in credited:
        _note(turn, before, strategy, (heuristic_id or "", content_hash or ""))


def _note(
    turn: TurnContext, before: AgentState, strategy: Trusting, credited: tuple[str, str]
) -> None:
    known = list(heuristics.all_heuristics(turn.state, turn.packs))
    of = next(
        (each for each in known if (each.heuristic_id, each.content_hash) == credited),
        None,
    )
    if of is None or of.is_silence:
        return
    threshold = strategy.biased(turn.biases_of(of.domain))
    was = beliefs.bounded_belief(
        before, turn.packs, turn.learning, *credited
    ).confidence
    now = turn.belief(*credited).confidence
    if (was >= threshold) == (now >= threshold):
        return
    others = (
        each
        for each in known
        if each.domain == of.domain and each.heuristic_id != of.heuristic_id
    )
    if any(_is_trusted(turn, each, threshold) for each in others):
        return
    turn.emit(
        TrustChanged(
            domain=of.domain,
            is_trusted=now >= threshold,
            heuristic_id=of.heuristic_id,
            content_hash=of.content_hash,
            confidence=now,
            threshold=threshold,
        )
    )


def _is_trusted(turn: TurnContext, each: Taught, threshold: float) -> bool:
    if each.is_silence or turn.life(each.heuristic_id, each.content_hash) == "frozen":
        return False
    return turn.belief(each.heuristic_id, each.content_hash).confidence >= threshold
