"""Looking back: reflection and review, which no decision waits for, and the end of each."""

from handlers.mind.characters.autonomous import reflecting, reviewing
from handlers.mind.context import TurnContext
from handlers.mind.stages import completion
from projections.folds.characters import asks
from schemas.messages.learning import Retrospect
from schemas.messages.notes import Handled
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.packs.characters import CharacterMind


def consider(turn: TurnContext, mind: CharacterMind) -> None:
    """Look back, if it is time to."""
    reflecting.consider(turn, mind)
    reviewing.consider(turn, mind)


def waiting(turn: TurnContext, ask_id: str) -> Retrospect | None:
    """Return which of them waits for an answer; None if neither does.

    Whatever the agent has become since: the wait ends in any case.
    """
    asked = turn.state.character.asked
    for each in asks.BACKWARD:
        if each in asked and asked[each].ask_id == ask_id:
            return each
    return None


def heard(
    turn: TurnContext, of: Retrospect, result: ModelAnswered | ModelFailed
) -> None:
    """Hear what the model found."""
    refused = completion.refusal(turn.state, result)
    if refused is not None:
        turn.emit(refused)
        return
    turn.emit(Handled(reason="recorded"))
    if isinstance(result, ModelFailed):
        _fail(turn, of, f"the model failed ({result.reason}): {result.detail}")
    else:
        by = reflecting.heard if of == "reflection" else reviewing.heard
        by(turn, turn.state.character.asked[of], result)


def give_up(turn: TurnContext, of: Retrospect) -> None:
    """End the wait for a model that never answered."""
    _fail(turn, of, "the model never answered")


def _fail(turn: TurnContext, of: Retrospect, why: str) -> None:
    by = reflecting.fail if of == "reflection" else reviewing.fail
    by(turn, turn.state.character.asked[of], why)
