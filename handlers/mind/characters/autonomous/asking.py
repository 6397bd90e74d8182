"""Asking the model of an autonomous character what to do next, and once more if need be."""

from datetime import timedelta

from handlers.mind.characters.autonomous import prompt, recall
from handlers.mind.context import TurnContext
from handlers.mind.flows.consult import recorded_digest
from handlers.mind.stages.prompts import request_hash
from projections.folds.characters import situations
from projections.folds.characters.autonomy import LAYER
from schemas.messages.arms import llm_arm
from schemas.messages.asks import ModelAsked
from schemas.packs.autonomous import Autonomous
from schemas.packs.characters import CharacterMind
from schemas.state.autonomy import Act, Autonomy
from schemas.values import ids
from schemas.values.model_settings import ModelSettings

_PRIORITY = 1.0
"""What is done next waits for whoever is spoken to."""


def arm(turn: TurnContext, how: Autonomous, model: ModelSettings) -> str:
    """Return the arm of asking the model as it is asked."""
    words = prompt.system(turn.input.agent, how) + prompt.lasting(how)
    sampling = f"{model.temperature}/{model.max_tokens}".encode()
    digest = ids.digest(words.encode())
    return f"{LAYER}:" + llm_arm(model.name, digest, ids.digest(sampling))


def ask(
    turn: TurnContext,
    mind: CharacterMind,
    model: ModelSettings,
    decision_id: str,
    fault: str = "",
) -> ModelAsked:
    """Return the question; `fault` is what is wrong with the model's last answer."""
    how, character = mind.autonomous, turn.state.character
    assert how is not None, "its mind is autonomous"
    here = situations.surroundings(how, character.body.fields)
    acts = character.autonomy.acts
    remembered: tuple[Act, ...] = ()
    if how.tier == 2:
        now_here = situations.fingerprint(how, here, acts)
        remembered = recall.recalled(acts, now_here, turn.now)
    told = prompt.system(turn.input.agent, how)
    asked = prompt.prompt(
        how,
        here,
        acts,
        remembered=remembered,
        failed=failed(character.autonomy),
        fault=fault,
    )
    words = told + prompt.lasting(how)
    ttl_s = turn.settings.ttl_s
    return ModelAsked(
        purpose=LAYER,
        decision_id=decision_id,
        priority=_PRIORITY,
        expires_at=turn.now + timedelta(seconds=ttl_s),
        ttl_s=ttl_s,
        model=model.name,
        system=told,
        prompt=asked,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        deadline_s=model.deadline_s,
        channel=mind.channel,
        response_type="observation",
        request_hash=request_hash(model, told, asked),
        template_digest=recorded_digest(turn, ids.digest(words.encode())),
    )


def failed(autonomy: Autonomy) -> Act | None:
    """Return the action whose failure is to be made good; None if none is."""
    if not autonomy.retries or not autonomy.acts:
        return None
    last = autonomy.acts[-1]
    return last if last.outcome == "failed" else None
