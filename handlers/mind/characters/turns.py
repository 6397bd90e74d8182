"""Turns: a layer asks its model once that is granted, and is told of things as they are then.

Who has waited for a turn longer, or is less urgent, is told nothing that is old. The effects
grant turns; what may have changed meanwhile is looked at here.
"""

from collections.abc import Callable, Mapping

from handlers.mind.characters import asking, modes, reflexes
from handlers.mind.characters.asking import Question
from handlers.mind.characters.executor import executing
from handlers.mind.characters.single import one_model
from handlers.mind.characters.talker import talking
from handlers.mind.context import TurnContext
from handlers.mind.stages import completion
from schemas.messages.notes import Handled
from schemas.messages.results import TurnFailed, TurnGranted
from schemas.packs.characters import CharacterMind
from schemas.state.character import Character, LayerAsk
from schemas.values.reasons import Drop

_Fields = Mapping[str, object]
_Ask = Callable[
    [TurnContext, CharacterMind, Character, _Fields, LayerAsk | None], Question
]

_QUESTIONS: Mapping[str, _Ask] = {
    "talker": talking.question,
    "executor": executing.question,
    "single": one_model.question,
}


def granted(turn: TurnContext, result: TurnGranted | TurnFailed) -> None:
    """Ask a layer's model now, or end its decision if its turn did not come in time."""
    layer = asking.layer_of(turn, result.ask_id)
    asked = turn.state.character.asked[layer] if layer is not None else None
    refused = completion.refusal(turn.state, result)
    if layer is None or asked is None or not asked.is_turn or refused is not None:
        unknown = Handled(reason="unknown", detail=result.ask_id)
        turn.emit(refused or unknown)
        return
    turn.emit(Handled(reason="recorded"))
    if isinstance(result, TurnFailed):
        asking.drop(turn, asked, "stale", f"its turn did not come: {result.detail}")
        return
    _ask(turn, layer, asked)


def _ask(turn: TurnContext, layer: str, asked: LayerAsk) -> None:
    mind, character = modes.in_force(turn), turn.state.character
    if mind is None or not _may_ask(turn, mind, layer):
        asking.drop(turn, asked, "cancelled", f"it has no {layer} any more")
        return
    fields = reflexes.fields_at(character, mind, turn.now)
    hindered = _hindered(turn, mind, asked, fields)
    if hindered is not None:
        asking.drop(turn, asked, *hindered)
        return
    question = _QUESTIONS[layer](turn, mind, character, fields, asked)
    turn.emit(asking.ask(turn, question, asked.decision_id, asked))


def _may_ask(turn: TurnContext, mind: CharacterMind, layer: str) -> bool:
    """Tell whether there still is such a layer, and a model."""
    has = {
        "talker": mind.talker is not None,
        "executor": mind.executor is not None,
        "single": mind.has_both,
    }
    is_asked = turn.settings.model is not None and mind.mode != "scripted"
    return is_asked and has[layer]


def _hindered(
    turn: TurnContext, mind: CharacterMind, asked: LayerAsk, fields: _Fields
) -> tuple[Drop, str] | None:
    """Return why its model is not asked any more, as a reason and in words."""
    if turn.now > asked.expires_at:
        return "stale", f"stale since {asked.expires_at}"
    absent = reflexes.absence(mind, fields)
    return ("cancelled", f"it is {absent}") if absent is not None else None
