"""Fold what outputs show besides what they are about: mood, what is ignored, what it costs."""

from projections.folds.executive import ignored, known_facts, personality, spending
from projections.folds.fold_context import FoldContext
from schemas.codec.catalogue import OutputMessage
from schemas.messages.decisions import Decided
from schemas.state.agent import AgentState


def noticed(
    state: AgentState, context: FoldContext, message: OutputMessage
) -> AgentState:
    """Return the state after what an output shows."""
    settings = context.settings.executive
    state = personality.felt(state, context, message)
    # Most outputs are decisions, which tell nothing of what is ignored or spent.
    if isinstance(message, Decided):
        return known_facts.noticed(state, context, message)
    if settings.modulates:
        state = ignored.noticed(state, context, message)
    if settings.budget_calls or spending.has_day(settings):
        state = spending.noticed(state, context, message)
    return state
