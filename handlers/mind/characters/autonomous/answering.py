"""Hearing the model of an autonomous character: its choice is done, or something random.

What it failed to answer, or answered badly, stands with its reason in the log; the
character goes on in any case.
"""

from datetime import timedelta
from typing import Literal

from handlers.mind.characters import asking as layers
from handlers.mind.characters import reflexes, replies
from handlers.mind.characters.acting import deliver
from handlers.mind.characters.autonomous import asking, chance, deciding, reply
from handlers.mind.characters.autonomous.reply import Choice
from handlers.mind.context import TurnContext
from handlers.mind.stages import completion
from projections.folds.characters import persona, situations
from projections.folds.characters.autonomy import LAYER
from schemas.messages.arms import Action
from schemas.messages.decisions import ActionChoice, Completed
from schemas.messages.notes import Handled
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.packs.characters import CharacterMind
from schemas.state.character import LayerAsk

_UNKNOWN = 0.0
"""Nobody predicts how an action turns out."""


def heard(
    turn: TurnContext, mind: CharacterMind, result: ModelAnswered | ModelFailed
) -> bool:
    """Hear the model, and say whether the result was for what to do next."""
    asked = turn.state.character.asked.get(LAYER)
    if asked is None or asked.ask_id != result.ask_id:
        return False
    refused = completion.refusal(turn.state, result)
    if refused is not None:
        turn.emit(refused)
        return True
    turn.emit(Handled(reason="recorded"))
    if isinstance(result, ModelFailed):
        why = f"the model failed ({result.reason}): {result.detail}"
        _otherwise(turn, mind, asked, why)
    elif turn.now > asked.expires_at:
        _otherwise(turn, mind, asked, f"the answer is stale since {asked.expires_at}")
    else:
        _read(turn, mind, asked, result)
    deciding.wake(turn, mind)
    return True


def give_up(turn: TurnContext, mind: CharacterMind, asked: LayerAsk) -> None:
    """Do something random, as the model never answered."""
    _otherwise(turn, mind, asked, "the model never answered")
    deciding.wake(turn, mind)


def _read(
    turn: TurnContext, mind: CharacterMind, asked: LayerAsk, result: ModelAnswered
) -> None:
    how, character = mind.autonomous, turn.state.character
    assert how is not None, "its mind is autonomous"
    here = situations.surroundings(how, character.body.fields)
    try:
        choice = reply.read(result.text, how, here, character.autonomy.acts)
    except replies.Unreadable as error:
        _unreadable(turn, mind, asked, str(error))
        return
    if choice.action is None:
        _otherwise(turn, mind, asked, choice.fault or "", choice)
        return
    if _gone(turn, mind, asked):
        return
    made = ActionChoice(
        arm=_arm(turn, mind),
        probability=1.0,
        reasoning=choice.reasoning or None,
        thought=choice.thought or None,
        self_confidence=choice.confidence,
        wanted=choice.wanted,
    )
    _complete(turn, mind, asked, choice.action, made)


def _unreadable(
    turn: TurnContext, mind: CharacterMind, asked: LayerAsk, fault: str
) -> None:
    """Ask once more with what was wrong; after that do something random."""
    if asked.is_again or turn.settings.model is None:
        _otherwise(turn, mind, asked, f"unreadable again: {fault}")
    elif not _gone(turn, mind, asked):
        turn.emit(asking.ask(turn, mind, asked.decision_id, fault))


def _otherwise(
    turn: TurnContext,
    mind: CharacterMind,
    asked: LayerAsk,
    why: str,
    choice: Choice | None = None,
) -> None:
    """Do something random in the place of what the model was asked for."""
    how, character = mind.autonomous, turn.state.character
    assert how is not None, "its mind is autonomous"
    if _gone(turn, mind, asked):
        return
    here = situations.surroundings(how, character.body.fields)
    how = persona.in_force(how, character.autonomy)
    drawn, candidates = chance.drawn(turn, how, here, character.autonomy.acts)
    if drawn is None:
        why = f"{why}; and nothing can be done here"
        layers.drop(turn, asked, "llm_declined", why)
        return
    made = ActionChoice(
        arm=drawn.arm,
        probability=drawn.probability,
        reasoning=choice.reasoning or None if choice is not None else None,
        thought=choice.thought or None if choice is not None else None,
        self_confidence=choice.confidence if choice is not None else None,
        wanted=choice.wanted if choice is not None else None,
        fallback=why[:2_000],
        draw=drawn.draw,
        candidates=candidates,
    )
    _complete(turn, mind, asked, drawn.action, made)


def _gone(turn: TurnContext, mind: CharacterMind, asked: LayerAsk) -> bool:
    """End the decision if the character cannot act any more, and say whether that is so."""
    fields = reflexes.fields_at(turn.state.character, mind, turn.now)
    absent = reflexes.absence(mind, fields)
    if absent is None:
        return False
    detail = f"the character is {absent.replace('_', ' ')}"
    layers.drop(turn, asked, "cancelled", detail)
    return True


def _complete(
    turn: TurnContext,
    mind: CharacterMind,
    asked: LayerAsk,
    action: Action,
    made: ActionChoice,
) -> None:
    model = turn.settings.model
    path: Literal["llm", "fallback"] = "llm" if made.fallback is None else "fallback"
    turn.emit(
        Completed(
            decision_id=asked.decision_id,
            ask_id=asked.ask_id,
            path=path,
            text=action.type,
            response_type="observation",
            action=action,
            model=model.name if model is not None else "",
            predicted_success=_UNKNOWN,
            prediction_confidence=_UNKNOWN,
            choice=made,
        )
    )
    expires_at = turn.now + timedelta(seconds=turn.settings.ttl_s)
    deliver(turn, mind, action, asked.decision_id, asked.event_id, path, expires_at)


def _arm(turn: TurnContext, mind: CharacterMind) -> str:
    return asking.arm(turn, mind) if turn.settings.model is not None else LAYER
