"""Asking a layer's model, and hearing its answer, whichever layer it is.

A character with a model never falls back to scripts silently: what the model did not answer,
or answered badly, ends its decision with the reason, and the character goes on.
"""

from datetime import timedelta
from typing import Literal

from msgspec import Struct

from handlers.mind.context import TurnContext
from handlers.mind.flows.infer import infer
from handlers.mind.stages import completion
from handlers.mind.stages.prompts import request_hash
from projections.folds.characters import asks
from schemas.codec.catalogue import ControlMessage
from schemas.messages.arms import Action, llm_arm
from schemas.messages.asks import DeliveryAsked, ModelAsked, TurnAsked
from schemas.messages.characters import AimsSet
from schemas.messages.decisions import Completed, Draw, Dropped, LayerVerdict
from schemas.messages.notes import ControlRefused, Handled
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.packs.characters import CharacterMind
from schemas.packs.layers import LayerModel
from schemas.state import limits
from schemas.state.character import Character, LayerAsk
from schemas.values import ids
from schemas.values.model_settings import ModelSettings
from schemas.values.reasons import Drop

LayerName = Literal["talker", "executor", "single"]
"""The layers that ask a model."""
_Asker = LayerName | Literal["autonomous"]
"""Who asks a model: a layer, or a character that has none."""

_UNKNOWN = 0.0
"""Nobody predicts how what a character says or does turns out."""


class Question(Struct, frozen=True, kw_only=True):
    """What a layer asks its model."""

    layer: _Asker
    system: str
    prompt: str
    priority: float
    channel: str
    lasting: str = ""
    """What of the prompt is the same at each call, and so makes the arm."""
    model: LayerModel | None = None
    """Its own model; None: the settings'."""
    reason: str | None = None
    likely: float = 1.0
    """With which probability it is asked here."""
    draw: Draw | None = None
    """The draw that decided, if any."""

    @property
    def template_digest(self) -> str:
        """The digest of what is the same at each call."""
        return ids.digest((self.system + self.lasting).encode())


def held_back(
    turn: TurnContext, mind: CharacterMind, layer: LayerName, character: Character
) -> LayerVerdict | None:
    """Return why a layer's model cannot be asked, whatever is due; None if it can."""
    if turn.settings.model is None:
        why = "no model is configured"
        return LayerVerdict(layer=layer, verdict="not_asked", why=why)
    if mind.mode == "scripted":
        why = "it is scripted: no model is asked"
        return LayerVerdict(layer=layer, verdict="not_asked", why=why)
    if layer in character.asked:
        why = "its model has not answered yet"
        return LayerVerdict(layer=layer, verdict="goes_on", why=why)
    return None


def ask_or_wait(
    turn: TurnContext, question: Question, decision_id: str
) -> ModelAsked | TurnAsked:
    """Return a layer's question to its model, or what asks for its turn if it waits for one."""
    rules, ttl_s = turn.settings.characters, turn.settings.ttl_s
    if not rules.turns:
        return ask(turn, question, decision_id)
    session = turn.state.session
    # A world with a clock of its own stands still until its members have their answers.
    is_paced = session is None or session.clock == "broker"
    talks = question.layer == "talker" or question.reason is None
    return TurnAsked(
        layer=question.layer,
        decision_id=decision_id,
        priority=question.priority,
        expires_at=turn.now + timedelta(seconds=ttl_s),
        ttl_s=ttl_s,
        reason=question.reason,
        gap_s=rules.call_gap_s if is_paced else 0.0,
        per_minute=rules.talker_per_minute if talks else rules.executor_per_minute,
    )


def ask(
    turn: TurnContext,
    question: Question,
    decision_id: str,
    granted: LayerAsk | None = None,
) -> ModelAsked:
    """Return a layer's question to its model; an answer is due as when its turn was asked."""
    model, ttl_s = _model(turn, question), turn.settings.ttl_s
    expires_at = turn.now + timedelta(seconds=ttl_s)
    if granted is not None:
        expires_at = granted.expires_at
        ttl_s = max((expires_at - turn.now).total_seconds(), 0.001)
    return ModelAsked(
        purpose=question.layer,
        decision_id=decision_id,
        priority=question.priority,
        expires_at=expires_at,
        ttl_s=ttl_s,
        model=model.name,
        system=question.system,
        prompt=question.prompt,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        deadline_s=model.deadline_s,
        channel=question.channel,
        response_type="observation",
        request_hash=request_hash(model, question.system, question.prompt),
        template_digest=question.template_digest,
        reason=question.reason,
    )


def arm(turn: TurnContext, question: Question) -> str:
    """Return the arm of asking a layer's model as it is asked."""
    model = _model(turn, question)
    sampling = ids.digest(f"{model.temperature}/{model.max_tokens}".encode())
    return f"{question.layer}:" + llm_arm(
        model.name, question.template_digest, sampling
    )


def _model(turn: TurnContext, question: Question) -> ModelSettings:
    """Return the model that is asked: the settings', as far as the layer names no other."""
    model, own = turn.settings.model, question.model
    assert model is not None, "the verdict was to act"
    if own is None:
        return model
    return model.model_copy(update=own.model_dump(exclude_none=True))


def waiting(turn: TurnContext, ask_id: str) -> LayerAsk | None:
    """Return the layer's ask that has this id; None if no layer waits for it."""
    layer = layer_of(turn, ask_id)
    return turn.state.character.asked[layer] if layer is not None else None


def layer_of(turn: TurnContext, ask_id: str) -> str | None:
    """Return the layer that waits for an ask; None if none does.

    Who looks back waits for it, too, and no decision does: that is none.
    """
    asked = turn.state.character.asked
    layers = (each for each in sorted(asked) if each not in asks.BACKWARD)
    return next((each for each in layers if asked[each].ask_id == ask_id), None)


def words_of(
    turn: TurnContext, asked: LayerAsk, result: ModelAnswered | ModelFailed
) -> ModelAnswered | None:
    """Take a result, and return it if it is an answer in time; else end the decision."""
    refused = completion.refusal(turn.state, result)
    if refused is not None:
        turn.emit(refused)
        return None
    turn.emit(Handled(reason="recorded"))
    if isinstance(result, ModelFailed):
        drop(turn, asked, completion.DROPS[result.reason], result.detail)
        return None
    if turn.now > asked.expires_at:
        drop(turn, asked, "stale", f"stale since {asked.expires_at}")
        return None
    return result


def complete(
    turn: TurnContext,
    asked: LayerAsk,
    model: str,
    text: str,
    action: Action | None,
    left_out: tuple[str, ...],
    thought: str | None = None,
) -> None:
    """End a decision with what its model answered."""
    turn.emit(
        Completed(
            decision_id=asked.decision_id,
            ask_id=asked.ask_id,
            path="llm",
            text=text,
            response_type="observation",
            action=action,
            model=model,
            predicted_success=_UNKNOWN,
            prediction_confidence=_UNKNOWN,
            left_out=left_out or None,
            thought=thought[: limits.THOUGHT] if thought else None,
        )
    )


def infer_or_refuse(
    turn: TurnContext, control: ControlMessage, layer: LayerName
) -> None:
    """Change what a character is after, or plans; say why if that cannot be."""
    refused = infer(turn, control, layer)
    if isinstance(refused, ControlRefused):
        turn.emit(refused)


def prioritise(
    turn: TurnContext, priorities: dict[str, float] | None, layer: LayerName
) -> None:
    """Change how much each kind of work matters, if a layer's model wants that."""
    before = dict(turn.state.character.priorities)
    if priorities is not None and priorities != before:
        infer_or_refuse(turn, AimsSet(priorities=priorities), layer)


def deliver(
    turn: TurnContext, asked: LayerAsk, channel: str, text: str, action: Action | None
) -> None:
    """Send out what a layer's model said, or wants done."""
    left_s = (asked.expires_at - turn.now).total_seconds()
    turn.emit(
        DeliveryAsked(
            decision_id=asked.decision_id,
            event_id=asked.event_id,
            channel=channel,
            text=text,
            response_type="observation",
            urgency=0.0,
            path="llm",
            action=action,
            output="action" if action is not None else None,
            priority=0.5,
            expires_at=asked.expires_at,
            ttl_s=max(left_s, 0.001),
        )
    )


def give_up(turn: TurnContext, asked: LayerAsk) -> None:
    """End the wait for a model that never answered."""
    drop(turn, asked, "llm_timeout", "no answer came")


def broken(asked: LayerAsk, detail: str) -> Dropped:
    """Return the end of a decision whose wait for a layer's model failed."""
    return _dropped(asked, "error", detail)


def drop(turn: TurnContext, asked: LayerAsk, reason: Drop, detail: str) -> None:
    """End a decision with nothing said or planned."""
    turn.emit(_dropped(asked, reason, detail))


def _dropped(asked: LayerAsk, reason: Drop, detail: str) -> Dropped:
    return Dropped(
        decision_id=asked.decision_id,
        ask_id=asked.ask_id,
        reason=reason,
        detail=detail[:2_000],
    )
