"""Feedback: what a person's vote counts for.

A vote on a decision credits the heuristic whose action the person saw; a model's words
credit none, unless a heuristic was found to say the same. A vote may also name a heuristic
itself. What it moves, by its aspect, is in `projections/folds/learning/vote_targets.py`.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from projections.folds.learning.heuristics import content_in_force
from schemas.messages.feedback import Aspect, FeedbackGiven, ForgottenDecision
from schemas.messages.learning import FeedbackApplied, FeedbackRefused
from schemas.packs.compiled import CompiledPack
from schemas.state.agent import AgentState, Remembered
from schemas.values.exact_math import round6
from schemas.values.unicode_text import quoted


def credit_of_vote(
    state: AgentState,
    packs: Sequence[CompiledPack],
    given: FeedbackGiven,
    *,
    shares: bool = False,
) -> FeedbackApplied | FeedbackRefused:
    """Return what a vote counts for, or why it cannot count.

    With `shares` a vote on several answers that were said as one counts by its share.
    """
    if given.decision_id is not None:
        applied = _on_decision(state, given, given.decision_id, shares=shares)
        if isinstance(applied, FeedbackRefused):
            return applied
        age_s = _age_s(state, given.decision_id)
        return replace(applied, age_s=age_s)
    return _on_heuristic(state, packs, given, given.heuristic_id or "")


def _age_s(state: AgentState, decision_id: str) -> float | None:
    """Return a decision's age in seconds; None if another clock timed it."""
    remembered = state.decisions.get(decision_id)
    if remembered is None or remembered.at is None or state.now is None:
        return None
    age_s = (state.now - remembered.at).total_seconds()
    return age_s if age_s >= 0.0 else None


def _on_decision(
    state: AgentState, given: FeedbackGiven, decision_id: str, *, shares: bool
) -> FeedbackApplied | FeedbackRefused:
    # The state knows later outcomes and votes; what the shell looked up in the log may not.
    known = state.decisions.get(decision_id) or given.about
    if known is None:
        return FeedbackRefused(
            reason="unknown_decision",
            detail=f"this agent made no decision {quoted(decision_id)} that it remembers",
        )
    through = known.reinforced if isinstance(known, Remembered) else None
    # What fired itself is credited directly, and a fact counts once (ADR 0016).
    through = through if known.fire_id is None else None
    credited = through or known
    return FeedbackApplied(
        decision_id=decision_id,
        fire_id=known.fire_id,
        heuristic_id=credited.heuristic_id,
        content_hash=credited.content_hash,
        through=decision_id if through else None,
        actor=given.actor,
        value=given.signed,
        aspect=_aspect(known, given),
        comment=given.comment,
        share=_share(known) if shares else None,
    )


def _share(known: Remembered | ForgottenDecision) -> float | None:
    """Return by which share a vote counts, if several answers were said as one."""
    if isinstance(known, Remembered):
        answers = known.batch.answers if known.batch is not None else None
    else:
        answers = known.answers
    return None if answers is None else round6(1.0 / answers)


def passed_on(state: AgentState, vote: FeedbackApplied) -> list[FeedbackApplied]:
    """Return a vote on answers said as one, once more for each further heuristic."""
    if vote.share is None:
        return []
    lead = state.decisions.get(vote.decision_id or "")
    members = lead.batch.members if lead is not None and lead.batch else ()
    known = (state.decisions.get(each) for each in members)
    return [
        FeedbackApplied(
            fire_id=each.fire_id,
            heuristic_id=each.heuristic_id,
            content_hash=each.content_hash,
            through=vote.decision_id,
            actor=vote.actor,
            value=vote.value,
            aspect=vote.aspect,
            age_s=vote.age_s,
            share=vote.share,
        )
        for each in known
        if each is not None
    ]


def _aspect(known: Remembered | ForgottenDecision, given: FeedbackGiven) -> Aspect:
    """Return what is judged: of a kept silence, the condition is the silence itself."""
    kept = known.fire_id is not None and known.path == "rejected"
    return "overall" if kept and given.aspect == "condition" else given.aspect


def _on_heuristic(
    state: AgentState,
    packs: Sequence[CompiledPack],
    given: FeedbackGiven,
    heuristic_id: str,
) -> FeedbackApplied | FeedbackRefused:
    content_hash = content_in_force(state, packs, heuristic_id)
    if content_hash is None:
        return FeedbackRefused(
            reason="unknown_heuristic",
            detail=f"this agent has no heuristic {quoted(heuristic_id)}",
        )
    return FeedbackApplied(
        heuristic_id=heuristic_id,
        content_hash=content_hash,
        actor=given.actor,
        value=given.signed,
        aspect=given.aspect,
        comment=given.comment,
    )
