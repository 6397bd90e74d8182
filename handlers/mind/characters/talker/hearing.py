"""Conversing: what a talker does with what it hears.

What is said to it alone it answers. A place says when to answer; whether to is drawn here,
by how sociable the character is and how far off the speaker. While in a conversation it
talks at no other time (departure B31).
"""

from collections.abc import Mapping
from datetime import datetime

from handlers.mind.characters import cadence
from handlers.mind.characters.place.scheduler import likelihood
from handlers.mind.context import TurnContext
from schemas.messages.arms import Action
from schemas.messages.decisions import Draw
from schemas.messages.sensing import Fields
from schemas.packs.layers import Talker
from schemas.state.character import Character, LastHeard, LayerAsk
from schemas.values import ids
from schemas.values.prompt_fencing import fenced

RULE = "in conversation"
_LEAVE = "leave_conversation"
"""The tool by which a character leaves a conversation with its words."""

_PURPOSE = "answer"
_CAP = 400
"""How many characters of a speech are told."""


def hears(character: Character, layer: Talker, at: datetime) -> LastHeard | None:
    """Return what was heard last in the conversation that the character is in."""
    heard = character.heard
    return heard if heard is not None and at < heard.until else None


def odds(
    turn: TurnContext, layer: Talker, heard: LastHeard, fields: Mapping[str, object]
) -> tuple[float, Draw | None]:
    """Return how likely it answers, and the draw that decides; 1 and none if none does."""
    # Who is spoken to without a place is meant.
    if layer.place is None or not layer.likelihood:
        return 1.0, None
    extraversion = cadence.extraversion(layer, fields)
    # By what was heard, not by the occasion: looking again draws the same.
    key = f"{heard.conversation}/{heard.turn}"
    value = ids.draw(turn.settings.seed, turn.input.agent, key, _PURPOSE)
    return likelihood(extraversion, heard.distance), Draw(purpose=_PURPOSE, value=value)


def verdict(
    turn: TurnContext, layer: Talker, heard: LastHeard, fields: Mapping[str, object]
) -> tuple[bool, str]:
    """Return whether the character answers what it heard, and why."""
    if not heard.is_asked:
        has_place = layer.place is not None
        return False, (
            "the place asks it when it is its turn" if has_place else "it has answered"
        )
    likely, draw = odds(turn, layer, heard, fields)
    why = f"hears {heard.speaker} at {heard.distance:g} tiles"
    if draw is None:
        return True, why
    why = f"{why}: answers with {likely:g}, drew {draw.value:.6f}"
    return draw.value < likely, why


def prompt(heard: LastHeard) -> str:
    """Return what the talker is told of the conversation."""
    said = [
        f"- {fenced(each.speaker, _CAP)}: {fenced(each.text, _CAP)}"
        for each in heard.lines
    ]
    said.append(f"- {fenced(heard.speaker, _CAP)}: {fenced(heard.text, _CAP)}")
    if heard.is_last:
        said.append("It is time to say goodbye.")
    return "\n".join(("You are in a conversation; the latest:", *said))


def spoken(layer: Talker, asked: LayerAsk, action: Action | None) -> Action | None:
    """Return how the character's words go to its place; None if it has none."""
    if layer.place is None:
        return None
    params: Fields = {}
    if asked.answers is not None:
        params["conversation"], params["turn"] = asked.answers
    if action is not None and action.type == _LEAVE:
        params["goodbye"] = True
    return Action(type="said", target=layer.place, params=params)
