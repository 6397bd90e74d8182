"""Repeats: what was taken once under an id of its source is not taken again.

Sensors set no `Nats-Msg-Id` (ADR 0006), and the broker recognises repeats of ours for two
minutes, so the state remembers: of an event its decision, of a control and a vote that
counted the answer.
"""

from msgspec.structs import replace

from projections.folds.fold_context import FoldContext
from schemas.codec.catalogue import OutputMessage
from schemas.codec.envelope import Input
from schemas.messages.controls import Control
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied
from schemas.messages.notes import ControlApplied
from schemas.state.agent import AgentState, SourceMemory
from schemas.values.subjects import sensor_of


def first_answer(state: AgentState, input_: Input) -> str | None:
    """Return the id of what answered the input when it came first; None if it is new."""
    memory = state.sources.get(_source_of(input_))
    return memory.seen.get(input_.id) if memory else None


def _source_of(input_: Input) -> str:
    """Return within which source an input's id is its own: a sensor, or a program."""
    sensor = sensor_of(input_.record.subject)
    return sensor or input_.record.headers.get("ce-source", "")


def remembered(
    state: AgentState, context: FoldContext, message: OutputMessage
) -> AgentState:
    """Return the state that knows the answer to a control, or to a vote, which counted.

    What was refused changed nothing, and may be sent again.
    """
    input_ = context.input
    match input_.message, message:
        case (Control(), ControlApplied()) | (FeedbackGiven(), FeedbackApplied()):
            # An id that the reader filled in comes no second time.
            if "ce-id" not in input_.record.headers:
                return state
        case _:
            return state
    source = _source_of(input_)
    memory = state.sources.get(source) or SourceMemory()
    # A vote that is passed on has further answers.
    if memory.seen.get(input_.id) is not None:
        return state
    memory = replace(memory, seen=memory.seen.set(input_.id, context.output_id))
    return replace(state, sources=state.sources.set(source, memory))
