"""Where a character's events, times and answers go: to its layers, or to its autonomy."""

from handlers.mind.characters import modes, occasions, think, turns
from handlers.mind.characters.autonomous import answering, deciding, looking_back
from handlers.mind.context import TurnContext
from projections.folds.characters.autonomy import LAYER
from projections.folds.characters.body import mind_of
from schemas.messages.characters import ReflectionRequested
from schemas.messages.notes import Handled
from schemas.messages.results import ModelAnswered, ModelFailed, TurnFailed, TurnGranted
from schemas.messages.sensing import Sensed
from schemas.packs.characters import CharacterMind
from schemas.state.agent import Timer


def on_event(turn: TurnContext, event: Sensed, mind: CharacterMind) -> None:
    """Decide on an event; a world's clock is none, for what was due has run before it."""
    if occasions.meaning(turn) == "clock":
        turn.emit(Handled(reason="recorded"))
    elif mind.autonomous is not None:
        deciding.on_event(turn, event, modes.under(turn, mind))
    else:
        think.on_event(turn, event, mind)


def run(turn: TurnContext, timer: Timer) -> None:
    """Run a due timer of a character: it thinks, or waits for a model no longer."""
    mind = mind_of(turn.packs)
    asked = turn.state.character.asked.get(LAYER)
    past = looking_back.waiting(turn, timer.id)
    if past is not None:
        looking_back.give_up(turn, past)
    elif mind is None or mind.autonomous is None:
        think.run(turn, timer)
    elif timer.purpose == "think":
        deciding.at_timer(turn, timer, modes.under(turn, mind))
    elif asked is not None and asked.ask_id == timer.id:
        answering.give_up(turn, modes.under(turn, mind), asked)
    else:
        # Of a layer that it had before its pack changed.
        think.run(turn, timer)


def heard(turn: TurnContext, result: ModelAnswered | ModelFailed) -> bool:
    """Hear a character's model, and say whether the result was for one."""
    mind, past = mind_of(turn.packs), looking_back.waiting(turn, result.ask_id)
    if past is not None:
        looking_back.heard(turn, past, result)
        return True
    if mind is not None and mind.autonomous is not None:
        mind = modes.under(turn, mind)
        return answering.heard(turn, mind, result) or think.heard(turn, result)
    return think.heard(turn, result)


def granted(turn: TurnContext, result: TurnGranted | TurnFailed) -> None:
    """Take a character's turn to ask its model, or hear that it did not come in time."""
    turns.granted(turn, result)
    changed(turn)


def look_back(turn: TurnContext, control: ReflectionRequested) -> None:
    """Have a character look back because somebody wants it to."""
    looking_back.requested(turn, mind_of(turn.packs), control)


def changed(turn: TurnContext, _: object = None) -> None:
    """Tell when a character thinks next, as what it is after or plans has changed."""
    mind = mind_of(turn.packs)
    # An autonomous one decides at its own times, whatever it is told to be after.
    if mind is None or mind.autonomous is None:
        think.changed(turn)
