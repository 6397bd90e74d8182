"""Conversing: what was said before counts, and the companion can say why it said it."""

from handlers.mind.context import TurnContext
from handlers.mind.stages import recall
from handlers.mind.stages.recall import Remembering
from projections.folds.executive import conversation
from projections.folds.learning import heuristics
from schemas.messages.sensing import Sensed
from schemas.state.memory import Grounds
from schemas.values import phrase_matching
from schemas.values.phrases import Phrases
from schemas.values.prompt_fencing import FENCED_SINCE, shown

_CAP = 100
"""How many characters of an event or a model's name are said in a reason."""


def background(turn: TurnContext, event: Sensed) -> str:
    """Return what a model is told of what is remembered; empty if that is nothing."""
    executive = turn.settings.executive
    # What is remembered is other people's text, so it is told only where there are fences.
    if executive is None or turn.settings.edition < FENCED_SINCE:
        return ""
    tokens = executive.prompt_tokens
    return recall.told(_remembering(turn, event), tokens) if tokens else ""


def follows(turn: TurnContext, event: Sensed) -> str | None:
    """Return the decision that a person's words follow upon, if they do upon one."""
    if not event.is_persons or turn.settings.executive is None:
        return None
    return recall.follows(_remembering(turn, event))


def why(turn: TurnContext, event: Sensed, words: Phrases) -> str:
    """Return why the last thing was said to that person, from its decision's own record."""
    talk = conversation.with_person(turn.state.executive.memory, event.speaker)
    edition = turn.settings.edition
    said = (each.grounds for each in reversed(talk) if each.grounds is not None)
    # Who asks twice asks twice about the same.
    meant = (each for each in said if not _is_why(each, words, edition))
    grounds = next(meant, None)
    if grounds is None:
        return words.reason("nothing")
    named = _named(turn, grounds)
    kind = grounds.path if grounds.about else f"{grounds.path}_alone"
    return words.reason(
        kind,
        event=shown(grounds.about, _CAP),
        name=shown(named or grounds.model, _CAP),
        similarity=_percent(grounds.similarity),
        confidence=_percent(grounds.confidence),
    )


def _is_why(grounds: Grounds, words: Phrases, edition: int) -> bool:
    """Tell whether something was said only to tell why something else was."""
    if grounds.path != "acknowledged":
        return False
    heard = phrase_matching.heard(grounds.about, (words,), edition)
    return heard is not None and heard.means == "why"


def _named(turn: TurnContext, grounds: Grounds) -> str:
    """Return when the heuristic that answered does so; its id if it is there no more."""
    id_ = grounds.heuristic_id
    if id_ is None:
        return ""
    known = heuristics.all_heuristics(turn.state, turn.packs)
    return next((each.condition for each in known if each.id == id_), id_)


def _percent(share: float | None) -> str:
    return "?" if share is None else f"{share:.0%}"


def _remembering(turn: TurnContext, event: Sensed) -> Remembering:
    memory, habit = turn.state.executive.memory, turn.appearance.habit
    return Remembering(memory, event, turn.now, habit)
