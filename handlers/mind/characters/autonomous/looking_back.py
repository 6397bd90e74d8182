"""Looking back: reflection and review, which no decision waits for, and the end of each."""

from handlers.mind.characters.autonomous import reflecting, reviewing
from handlers.mind.context import TurnContext
from handlers.mind.stages import completion
from projections.folds.characters import asks, retrospects
from schemas.messages.characters import ReflectionRequested
from schemas.messages.learning import Retrospect
from schemas.messages.notes import ControlApplied, ControlRefused, Handled
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.packs.autonomous import Autonomous
from schemas.packs.characters import CharacterMind


def consider(turn: TurnContext, mind: CharacterMind) -> None:
    """Look back, if it is time to."""
    reflecting.consider(turn, mind)
    reviewing.consider(turn, mind)


def requested(
    turn: TurnContext, mind: CharacterMind | None, control: ReflectionRequested
) -> None:
    """Look back because somebody wants it, or refuse it with the reason."""
    token = control.token
    how = mind.autonomous if mind is not None else None
    if how is None:
        problem: str | None = "the agent is no autonomous character"
    else:
        problem = _problem(turn, how, control.of)
    if how is None or problem is not None:
        detail = problem or ""
        turn.emit(ControlRefused(control=token, reason="unfit", detail=detail))
        return
    turn.emit(ControlApplied(control=token, detail=control.of))
    by = reflecting.reflect if control.of == "reflection" else reviewing.review
    by(turn, how, "asked")


def _problem(turn: TurnContext, how: Autonomous, of: Retrospect) -> str | None:
    character = turn.state.character
    if not how.remembers:
        return f"a character of tier {how.tier} has no memory"
    if of in character.asked:
        return "its model has not answered yet"
    if of == "review":
        if turn.settings.model is None:
            return "without a model nobody can tell which decisions were good"
        acts = reviewing.shown(how, character.autonomy)
    else:
        acts = retrospects.unreflected(character.autonomy)
    return None if acts else "nothing was done since"


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
