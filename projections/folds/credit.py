"""Credit: how outcomes, votes and endorsements change beliefs.

Each function folds one learning message; the counting is done in `folds.learning`.
"""

from immutables import Map
from msgspec.structs import replace

from projections.folds import fires, formation
from projections.folds.fold_context import FoldContext
from projections.folds.learning import confidence, vote_targets
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import (
    AdviceIgnored,
    Endorsed,
    FeedbackApplied,
    OutcomeExpired,
    OutcomeObserved,
    SilenceWeighed,
)
from schemas.state.agent import AgentState
from schemas.state.evidence import Belief, belief_key


def observed(
    state: AgentState, context: FoldContext, message: OutcomeObserved
) -> AgentState:
    """Return the state after an outcome of a fire was observed."""
    # Asked before `ended` records this outcome on the decision.
    is_known = fires.counts_already(state, message)
    state = fires.ended(state, message, message.outcome)
    held = context.raw_belief(state, message.heuristic_id, message.content_hash)
    # Overridden or cancelled says nothing of the advice, yet it was not ignored.
    if message.outcome not in ("success", "fail"):
        return _noticed(state, message, held)
    is_success = message.outcome == "success"
    after, place = held, context.input.sequence
    learning = context.judging(state, message.heuristic_id)
    if not is_known:
        is_second = fires.is_voted(state, message, held)
        after = confidence.observed(
            held, message.fire_id, is_success, place, learning, is_second
        )
    after = confidence.outcome_seen(after, message.fire_id, is_success, context.now)
    return believing(state, message.heuristic_id, message.content_hash, after)


def expired(
    state: AgentState, context: FoldContext, message: OutcomeExpired
) -> AgentState:
    """Return the state after no expected outcome of a fire came in time."""
    remembered = state.decisions.get(message.decision_id)
    state = fires.ended(state, message, "timeout")
    if not context.learning.ignored_after or remembered is None:
        return state
    held = context.raw_belief(state, message.heuristic_id, message.content_hash)
    after = confidence.expired(held, is_judged=remembered.is_judged)
    return believing(state, message.heuristic_id, message.content_hash, after)


def ignored(
    state: AgentState, context: FoldContext, message: AdviceIgnored
) -> AgentState:
    """Return the state after a run of ignored fires counted as a failure."""
    held = context.raw_belief(state, message.heuristic_id, message.content_hash)
    place = context.input.sequence
    learning = context.judging(state, message.heuristic_id)
    after = confidence.ignored(held, message.fire_id, place, learning)
    state = fires.ignored(state, message)
    return believing(state, message.heuristic_id, message.content_hash, after)


def _noticed(state: AgentState, message: OutcomeObserved, held: Belief) -> AgentState:
    """Return the state whose run of ignored fires ends by an outcome without evidence."""
    if not held.ignored:
        return state
    held = replace(held, ignored=0)
    return believing(state, message.heuristic_id, message.content_hash, held)


def voted(
    state: AgentState, context: FoldContext, message: FeedbackApplied
) -> AgentState:
    """Return the state after a person's vote: beliefs, fit, rater and rapport."""
    heard, was = context.input.message, state
    about = heard if isinstance(heard, FeedbackGiven) else None
    earlier = vote_targets.earlier(state, about, message)
    before = vote_targets.before(state, about, message)
    if message.heuristic_id is not None and message.content_hash is not None:
        given = vote_targets.given(
            message,
            vote_targets.base(state, message, before),
            context.input.sequence,
            is_told=vote_targets.counts_already(state, about, message),
        )
        # A vote that an edit copied to another content is replaced there as well.
        keys = vote_targets.carried(state, message)
        learning = context.judging(state, message.heuristic_id)
        for content_hash in (message.content_hash, *keys):
            held = context.raw_belief(state, message.heuristic_id, content_hash)
            key = belief_key(message.heuristic_id, content_hash)
            state = vote_targets.counted(
                state, key, given, held, earlier, learning, context.now
            )
        state = formation.reinforced(state, message)
    if message.is_passed_on:
        # The same vote once more: neither its rater nor rapport has a second one.
        return vote_targets.noted(was, state, message, earlier, is_kept=False)
    state = vote_targets.rated(state, message, before)
    if message.decision_id is None:
        return state
    state = vote_targets.noted(was, state, message, earlier, is_kept=True)
    state = formation.voted(state, message)
    pace = context.settings.rapport
    return vote_targets.felt(state, message, context.now, before, pace)


def endorsed(state: AgentState, context: FoldContext, message: Endorsed) -> AgentState:
    """Return the state after a model endorsed a heuristic that it was not shown."""
    id_, content_hash, similarity = (
        message.heuristic_id,
        message.content_hash,
        message.similarity,
    )
    held = context.raw_belief(state, id_, content_hash)
    place, learning = context.input.sequence, context.judging(state, id_)
    after = confidence.endorsed(held, message.decision_id, similarity, place, learning)
    return believing(state, id_, content_hash, after)


def weighed(
    state: AgentState, context: FoldContext, message: SilenceWeighed
) -> AgentState:
    """Return the state after evidence on a heuristic that keeps silent."""
    id_, content_hash, place = (
        message.heuristic_id,
        message.content_hash,
        context.input.sequence,
    )
    held = context.raw_belief(state, id_, content_hash)
    learning, about = context.judging(state, id_), message.decision_id
    if message.actor is None:
        is_good = (message.value or 0.0) > 0.0
        after = confidence.observed(held, about, is_good, place, learning)
    elif message.value is None:
        after = confidence.withdrawn(held, about, message.actor, learning)
    else:
        after = confidence.voted(
            held, about, message.actor, message.value, place, learning
        )
    return believing(state, id_, content_hash, after)


def believing(
    state: AgentState, heuristic_id: str, content_hash: str, held: Belief
) -> AgentState:
    """Return the state with another belief in a heuristic's content."""
    beliefs_: Map[str, Belief] = state.beliefs.set(
        belief_key(heuristic_id, content_hash), held
    )
    return replace(state, beliefs=beliefs_)
