"""Recollecting: before a model is asked, the memory is asked what is like the event.

The model's call is ready by then and stands in that ask; the answer adds memories to its
prompt and changes nothing else. It goes out without them if none come in time.
"""

from datetime import timedelta

from msgspec.structs import replace

from handlers.mind.context import TurnContext
from handlers.mind.flows import conclude, consult, converse
from handlers.mind.flows.decision_messages import Occasion, left_s
from handlers.mind.stages import completion, prompts, recall
from projections.folds.executive import conversation
from schemas.messages.asks import ModelAsked, RecallAsked
from schemas.messages.decisions import Decided
from schemas.messages.notes import Handled
from schemas.messages.results import Recalled, RecallFailed
from schemas.ports.decision_context import Question
from schemas.state.agent import Pending, Timer

_WAIT_S = 0.15
"""How long a memory is waited for, in seconds."""

_QUERY_CAP = 1_000
"""How many characters of an event are asked about."""


def first(
    turn: TurnContext,
    here: Occasion,
    decided: Decided,
    asked: ModelAsked,
    question: Question | None,
) -> tuple[Decided, ModelAsked | RecallAsked]:
    """Return a decision, and the ask of the memory that comes before the model's.

    That is the model's own where there is no memory to ask: `question` is the prompt that
    a strategy wrote, which tells of none.
    """
    executive, event = turn.settings.executive, here.event
    if not executive.recall or question is not None:
        return decided, asked
    talk = "".join(each.text for each in asked.turns or ())
    told = f"{talk}{converse.background(turn, event)}"
    room = recall.room(told, executive.prompt_tokens)
    if not room or not event.text.strip():
        return decided, asked
    before = RecallAsked(
        decision_id=asked.decision_id,
        priority=asked.priority,
        expires_at=turn.now + timedelta(seconds=_WAIT_S),
        ttl_s=_WAIT_S,
        query=event.text[:_QUERY_CAP],
        person=event.person,
        entities=event.entities,
        room=room,
        then=asked,
    )
    # The prompt is not made yet.
    return replace(decided, prompt_digest=None), before


def heard(turn: TurnContext, result: Recalled | RecallFailed) -> None:
    """Ask the model, with what is remembered, if its decision still waits for that."""
    refused = completion.refusal(turn.state, result)
    pending = turn.state.pending.get(result.ask_id)
    if refused is not None or pending is None or pending.recalling is None:
        unknown = Handled(reason="unknown", detail=result.ask_id)
        turn.emit(refused or unknown)
        return
    turn.emit(Handled(reason="recorded"))
    told = _told(turn, pending, result) if isinstance(result, Recalled) else ""
    _go_on(turn, pending, pending.recalling, told)


def give_up(turn: TurnContext, timer: Timer) -> None:
    """Ask the model without memories: the memory says nothing at all."""
    pending = turn.state.pending[timer.id]
    if pending.recalling is not None:
        _go_on(turn, pending, pending.recalling, "")


def _go_on(
    turn: TurnContext, pending: Pending, asked: ModelAsked, memories: str
) -> None:
    if turn.now >= pending.expires_at:
        strategy = consult.strategy_that_asked(turn, pending)
        conclude.end_without_model(turn, strategy, pending, completion.stale(pending))
        return
    if memories:
        asked = prompts.with_memories(asked, memories)
    turn.emit(
        replace(
            asked,
            recall_id=pending.ask_id,
            expires_at=pending.expires_at,
            ttl_s=left_s(pending.expires_at, turn.now),
            rival=pending.rival,
        )
    )


def _told(turn: TurnContext, pending: Pending, result: Recalled) -> str:
    # What was just said is in the prompt as the conversation.
    talk = conversation.with_person(turn.state.executive.memory, pending.speaker)
    known = {each.decision_id for each in talk} if pending.speaker else set()
    texts = (
        text
        for id_, text in zip(result.ids, result.texts, strict=False)
        if id_ not in known
    )
    return recall.remembered(texts, pending.room)
