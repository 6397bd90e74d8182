"""Fold decisions whose occasion is a due timer: what it was for is over, or said."""

from projections.folds.executive import opportunities, remembering, reminders
from projections.folds.fold_context import FoldContext
from schemas.messages.decisions import Decided
from schemas.state.agent import AgentState


def decided(
    state: AgentState, context: FoldContext, id_: str, message: Decided
) -> AgentState:
    """Return the state after a decision that was made on no event."""
    if message.timer is None:
        return state
    reminder = reminders.of_timer(state.executive, message.timer)
    if reminder is not None:
        state = reminders.rung(
            state, context, reminder, was_said=message.silence is None
        )
    state = opportunities.taken(state, message.timer, context.now)
    return remembering.decided(state, context, id_, message, None)
