"""Remember what was said and heard, once it is on record."""

from msgspec.structs import replace

from projections.folds import pending_answers
from projections.folds.executive import (
    conversation,
    milestones,
    patterns,
    sayings,
    silences,
    waiting,
)
from projections.folds.fold_context import FoldContext
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.sensing import Sensed
from schemas.state.agent import AgentState
from schemas.state.memory import Memory


def decided(
    state: AgentState, context: FoldContext, message: Decided, event: Sensed | None
) -> AgentState:
    """Return the state that remembers what a decision heard and said.

    Without an event a timer was due.
    """
    now, id_ = context.now, context.output_id
    if event is None:
        said = sayings.of_decided(id_, message, now, b"")
    else:
        state = sayings.listened(state, message)
        # Its own voice is nobody's: nobody is there for it, and nobody said it.
        if message.silence == sayings.OWN_ECHO:
            return state
        said = sayings.of_decided(id_, message, now, context.aids.vector or b"")
        state = milestones.counted(sayings.heard(state, event, now), context, event)
        # What only informs is no pattern: a gauge tells as often as it is read.
        if message.silence != "informational":
            state = patterns.counted(state, context, event)
        how = context.settings.executive
        if how.relevance:
            here = context.appearance
            state = sayings.told(state, here, event, id_, message, how, now)
    state = state if said is None else sayings.remembered(state, said)
    if not context.remembers:
        return state
    memory = conversation.decided(state.executive.memory, id_, message, event, now)
    if event is not None and context.tells_events and not _is_hidden(context, event):
        memory = conversation.happened(memory, event, now)
    if event is not None and message.silence is not None and context.tells_silences:
        memory = silences.decided(memory, context, id_, message, event)
    return _with(state, memory)


def dropped(state: AgentState, context: FoldContext, message: Dropped) -> AgentState:
    """Return the state that remembers an answer which was not said.

    To be called while it is still known to be pending or to wait.
    """
    # What was batched was said, with something else.
    if message.reason != "batched":
        state = sayings.ended(state, message.decision_id, None)
    if not context.tells_silences:
        return state
    return _with(state, silences.dropped(state, message, context.now))


def completed(
    state: AgentState, context: FoldContext, message: Completed
) -> AgentState:
    """Return the state that remembers an answer which took its time.

    To be called while it is still known to be pending or to wait.
    """
    asks = pending_answers.of_decision(state, message.decision_id)
    pending = state.pending[asks[0]] if asks else None
    held = waiting.find(state, message.decision_id)
    state = sayings.remembered(
        state, sayings.of_completed(message, pending, context.now)
    )
    for each in (message.decision_id, *message.also_answers):
        state = sayings.ended(state, each, context.now)
    if not context.remembers:
        return state
    memory = state.executive.memory
    return _with(
        state, conversation.completed(memory, message, pending, held, context.now)
    )


def _is_hidden(context: FoldContext, event: Sensed) -> bool:
    """Tell whether somebody must not hear of an event, so that it is told to nobody."""
    declared = context.appearance.domain.event_type
    return declared is not None and bool(declared.hides(event))


def _with(state: AgentState, memory: Memory) -> AgentState:
    # An event that nobody said, and nothing was said of, changes nothing.
    if memory is state.executive.memory:
        return state
    return replace(state, executive=replace(state.executive, memory=memory))
