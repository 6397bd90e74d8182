"""Asking a layer's model, and hearing its answer.

A character with a model never falls back to scripts silently: what the model did not answer,
or answered badly, ends its decision with the reason, and the character goes on.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

from handlers.mind.characters import cadence, conversing, reflexes, replies, talker
from handlers.mind.characters.replies import Reply, Unreadable
from handlers.mind.context import TurnContext
from handlers.mind.flows.consult import recorded_digest
from handlers.mind.flows.infer import infer
from handlers.mind.stages import completion
from handlers.mind.stages.prompts import request_hash
from projections.folds.characters import body
from schemas.messages.arms import Action, llm_arm
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.characters import AIMS, AimsSet
from schemas.messages.decisions import Completed, Draw, Dropped, LayerVerdict
from schemas.messages.notes import ControlRefused, Handled
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.packs.characters import CharacterMind, Talker
from schemas.state.character import Character, LayerAsk
from schemas.values import ids
from schemas.values.reasons import Drop
from schemas.values.subjects import AGENT_SOURCE

TALKER: Literal["talker"] = "talker"

_UNKNOWN = 0.0
"""Nobody predicts how a character's words turn out."""


def verdict(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    fields: Mapping[str, object],
    at: datetime | None = None,
) -> LayerVerdict | None:
    """Return what the talker comes to, now or later; None if the character has none."""
    layer = mind.talker
    if layer is None:
        return None
    if turn.settings.model is None:
        return _verdict("not_asked", "no model is configured")
    if TALKER in character.asked:
        return _verdict("goes_on", "its model has not answered yet")
    heard_ = conversing.hears(character, layer, at or turn.now)
    if heard_ is not None:
        answers, why = conversing.verdict(turn, layer, heard_, fields)
        acts = "acts" if answers else "nothing_due"
        return _verdict(acts, why, conversing.RULE)
    interval_s, rule = cadence.talker_interval(layer, fields)
    why = f"{rule}: every {interval_s:g} s"
    is_due = cadence.is_due(character.called.get(TALKER), interval_s, at or turn.now)
    return _verdict("acts" if is_due else "nothing_due", why, rule)


def times(
    turn: TurnContext, mind: CharacterMind, character: Character
) -> list[datetime]:
    """Return the times at which the talker may become due."""
    layer = mind.talker
    if layer is None or turn.settings.model is None or TALKER in character.asked:
        return []
    called = character.called.get(TALKER)
    heard_ = conversing.hears(character, layer, turn.now)
    # What was heard may be to be answered still; when that is over its own cadence counts.
    further = [] if heard_ is None else [turn.now, heard_.until]
    if called is None:
        return [turn.now, *further]
    each = (
        layer.conversation_s,
        layer.lonely_s,
        layer.extrovert_s,
        layer.moderate_s,
        layer.introvert_s,
    )
    # One that has passed already is due at the next tick.
    due = [max(called + timedelta(seconds=wait_s), turn.now) for wait_s in each]
    return [*due, *further]


def ask(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    fields: Mapping[str, object],
    decision_id: str,
) -> ModelAsked:
    """Return the question to the talker's model."""
    layer, model = mind.talker, turn.settings.model
    assert layer is not None, "the verdict was to act"
    assert model is not None, "the verdict was to act"
    told = talker.system(turn.input.agent, layer)
    doing = reflexes.doing_at(character, turn.now)
    asked = talker.prompt(
        mind, layer, fields, doing.behaviour if doing else None, character.aims
    )
    _, rule = cadence.talker_interval(layer, fields)
    heard_ = conversing.hears(character, layer, turn.now)
    if heard_ is not None:
        asked, rule = f"{asked}\n\n{conversing.prompt(heard_)}", conversing.RULE
    ttl_s = turn.settings.ttl_s
    return ModelAsked(
        purpose=TALKER,
        decision_id=decision_id,
        priority=cadence.talker_priority(layer, rule),
        expires_at=turn.now + timedelta(seconds=ttl_s),
        ttl_s=ttl_s,
        model=model.name,
        system=told,
        prompt=asked,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        deadline_s=model.deadline_s,
        channel=layer.channel,
        response_type="observation",
        request_hash=request_hash(model, told, asked),
        template_digest=recorded_digest(turn, ids.digest(told.encode())),
    )


def odds(
    turn: TurnContext, layer: Talker, character: Character, fields: Mapping[str, object]
) -> tuple[float, Draw | None]:
    """Return with which probability the talker is asked here, and the draw if any."""
    heard_ = conversing.hears(character, layer, turn.now)
    if heard_ is None:
        return 1.0, None
    return conversing.odds(turn, layer, heard_, fields)


def arm(turn: TurnContext, layer: Talker) -> str:
    """Return the arm of asking the talker's model as it is asked."""
    model = turn.settings.model
    assert model is not None, "the verdict was to act"
    words = talker.system(turn.input.agent, layer).encode()
    sampling = f"{model.temperature}/{model.max_tokens}".encode()
    return f"{TALKER}:" + llm_arm(model.name, ids.digest(words), ids.digest(sampling))


def waiting(turn: TurnContext, ask_id: str) -> LayerAsk | None:
    """Return the layer's ask that has this id; None if no layer waits for it."""
    asked = turn.state.character.asked
    return next(
        (asked[layer] for layer in sorted(asked) if asked[layer].ask_id == ask_id), None
    )


def heard(
    turn: TurnContext, asked: LayerAsk, result: ModelAnswered | ModelFailed
) -> None:
    """End the decision that waits for a layer's model, with what it said or without."""
    refused = completion.refusal(turn.state, result)
    if refused is not None:
        turn.emit(refused)
        return
    turn.emit(Handled(reason="recorded"))
    mind = body.mind_of(turn.packs)
    if isinstance(result, ModelFailed):
        _drop(turn, asked, completion.DROPS[result.reason], result.detail)
    elif turn.now > asked.expires_at:
        _drop(turn, asked, "stale", f"stale since {asked.expires_at}")
    elif mind is None or mind.talker is None:
        _drop(turn, asked, "cancelled", "it is no such character any more")
    else:
        _answered(turn, mind, mind.talker, asked, result)


def give_up(turn: TurnContext, asked: LayerAsk) -> None:
    """End the wait for a model that never answered."""
    _drop(turn, asked, "llm_timeout", "no answer came")


def broken(asked: LayerAsk, detail: str) -> Dropped:
    """Return the end of a decision whose wait for a layer's model failed."""
    return _dropped(asked, "error", detail)


def _answered(
    turn: TurnContext,
    mind: CharacterMind,
    layer: Talker,
    asked: LayerAsk,
    result: ModelAnswered,
) -> None:
    fields = reflexes.fields_at(turn.state.character, mind, turn.now)
    try:
        reply = replies.read(result.text, talker.offered(layer, fields))
    except Unreadable as error:
        _drop(turn, asked, "llm_declined", str(error))
        return
    turn.emit(
        Completed(
            decision_id=asked.decision_id,
            ask_id=asked.ask_id,
            path="llm",
            text=reply.speaking,
            response_type="observation",
            action=reply.action,
            model=result.model,
            predicted_success=_UNKNOWN,
            prediction_confidence=_UNKNOWN,
            left_out=reply.refused or None,
        )
    )
    if reply.speaking:
        said = conversing.spoken(layer, asked, reply.action)
        channel = layer.channel if said is None else AGENT_SOURCE
        turn.emit(_delivery(turn, asked, channel, reply.speaking, said))
    if reply.action is not None:
        words = reply.action.type
        turn.emit(_delivery(turn, asked, mind.channel, words, reply.action))
    _aim(turn, reply)


def _aim(turn: TurnContext, reply: Reply) -> None:
    """Infer what the character is after from here, if its talker said so."""
    before = turn.state.character
    if not reply.aims and reply.priorities is None:
        return
    wanted = (*before.aims, *(each for each in reply.aims if each not in before.aims))
    if len(wanted) > AIMS:
        detail = f"{AIMS} aims are held at once; {len(wanted)} would be"
        turn.emit(
            ControlRefused(control=AimsSet.token, reason="invalid", detail=detail)
        )
        wanted = before.aims
    control = AimsSet(
        aims=wanted if wanted != before.aims else None,
        priorities=dict(reply.priorities) if reply.priorities is not None else None,
    )
    if control.aims is None and control.priorities is None:
        return
    refused = infer(turn, control, TALKER)
    if isinstance(refused, ControlRefused):
        turn.emit(refused)


def _delivery(
    turn: TurnContext, asked: LayerAsk, channel: str, text: str, action: Action | None
) -> DeliveryAsked:
    left_s = (asked.expires_at - turn.now).total_seconds()
    return DeliveryAsked(
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


def _drop(turn: TurnContext, asked: LayerAsk, reason: Drop, detail: str) -> None:
    turn.emit(_dropped(asked, reason, detail))


def _dropped(asked: LayerAsk, reason: Drop, detail: str) -> Dropped:
    return Dropped(
        decision_id=asked.decision_id,
        ask_id=asked.ask_id,
        reason=reason,
        detail=detail[:2_000],
    )


def _verdict(verdict: Any, why: str, rule: str | None = None) -> LayerVerdict:
    return LayerVerdict(layer=TALKER, verdict=verdict, rule=rule, why=why)
