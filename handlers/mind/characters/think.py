"""Thinking: a character's layers are asked in order, and the first that acts decides.

An occasion is an event, or a time at which its table of reflexes would act by itself. A time
at which nothing is due is none: the mind tells by `WakeupSet` when it thinks next.
"""

from typing import Any

from handlers.mind.characters import (
    acting,
    aims,
    asking,
    layers,
    modes,
    occasions,
    reflexes,
)
from handlers.mind.characters.acting import Deed
from handlers.mind.characters.asking import Question
from handlers.mind.characters.executor import executing
from handlers.mind.characters.place import deciding as place
from handlers.mind.characters.queue import work
from handlers.mind.characters.queue.work import Work
from handlers.mind.characters.reflexes import Finding
from handlers.mind.characters.single import one_model
from handlers.mind.characters.talker import talking
from handlers.mind.context import TurnContext
from projections.folds.characters import body
from schemas.messages.arms import REFLEX, SILENT, Action
from schemas.messages.asks import WakeupSet
from schemas.messages.decisions import Candidate, Decided
from schemas.messages.notes import Handled
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.messages.sensing import Sensed
from schemas.packs.characters import NO_TABLE, CharacterMind
from schemas.state.agent import Timer
from schemas.state.character import Character, LayerAsk


def on_event(turn: TurnContext, event: Sensed, mind: CharacterMind) -> None:
    """Decide on an event: what the character does after it, if it does anything new."""
    aims.give_up(turn)
    occasion, mind = occasions.of_event(turn, event), modes.under(turn, mind)
    if mind.place is not None:
        place.on_event(turn, event, mind.place, occasion | occasions.common(turn, mind))
        return
    means = occasions.meaning(turn)
    after = body.sensed(turn.state, mind, event, turn.now, means)
    _decide(turn, mind, after, occasion, is_event=True)


def run(turn: TurnContext, timer: Timer) -> None:
    """Run a due timer of a character: it thinks, or waits for a model no longer."""
    if timer.purpose == "layer":
        _give_up(turn, timer.id)
    else:
        _at_timer(turn, timer)


def _at_timer(turn: TurnContext, timer: Timer) -> None:
    """Decide at a time that was told by `WakeupSet`."""
    mind = modes.in_force(turn)
    if mind is None:
        # The pack that made it a character is gone.
        turn.emit(WakeupSet())
        return
    aims.give_up(turn)
    occasion = occasions.of_timer(turn, timer)
    if mind.place is not None:
        place.at_timer(turn, mind.place, occasion | occasions.common(turn, mind))
        return
    _decide(turn, mind, turn.state.character, occasion, is_event=False)


def heard(turn: TurnContext, result: ModelAnswered | ModelFailed) -> bool:
    """Hear a layer's model, and say whether the result was for one."""
    layer, asked = asking.layer_of(turn, result.ask_id), None
    if layer is not None:
        asked = turn.state.character.asked[layer]
    if asked is None:
        return False
    if asked.is_turn:
        # It is its turn that it waits for, and no model's answer.
        turn.emit(Handled(reason="unknown", detail=result.ask_id))
        return True
    _hear(turn, layer, asked, result)
    _wake_up(turn)
    return True


def _hear(
    turn: TurnContext,
    layer: str | None,
    asked: LayerAsk,
    result: ModelAnswered | ModelFailed,
) -> None:
    answer = asking.words_of(turn, asked, result)
    mind = modes.in_force(turn)
    if answer is None:
        return
    if mind is None:
        asking.drop(turn, asked, "cancelled", "it is no such character any more")
    elif layer == "talker":
        talking.answered(turn, mind, asked, answer)
    elif layer == "single":
        one_model.answered(turn, mind, asked, answer)
    else:
        executing.answered(turn, mind, asked, answer)


def _give_up(turn: TurnContext, ask_id: str) -> None:
    """End a layer's wait for its model."""
    asked = asking.waiting(turn, ask_id)
    assert asked is not None, "an ask and its timer come and go together"
    asking.give_up(turn, asked)
    _wake_up(turn)


def changed(turn: TurnContext) -> None:
    """Tell when the character thinks next, as somebody changed what it is after."""
    _wake_up(turn)


def _wake_up(turn: TurnContext) -> None:
    mind = modes.in_force(turn)
    if mind is not None:
        _wake(turn, mind)


def _decide(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    occasion: dict[str, Any],
    *,
    is_event: bool,
) -> None:
    fields = reflexes.fields_at(character, mind, turn.now)
    absent = reflexes.absence(mind, fields)
    common = occasion | occasions.common(turn, mind)
    if absent is not None:
        occasions.unless_idle(turn, common, absent, is_event=is_event)
        _wake(turn, mind)
        return
    looked = layers.look(turn, mind, character, fields, turn.now)
    common["layers"] = looked.records
    match looked.actor:
        case "reflex":
            acting.act(turn, mind, _reflex(mind, looked.found), common)
        case "queue":
            assert looked.works is not None, "it acts"
            acting.act(turn, mind, _step(mind, looked.works), common)
        case "talker":
            _ask(turn, talking.question(turn, mind, character, fields), common)
        case "executor":
            _ask(turn, executing.question(turn, mind, character, fields), common)
        case "single":
            _ask(turn, one_model.question(turn, mind, character, fields), common)
        case _:
            occasions.unless_idle(turn, common, "nothing_due", is_event=is_event)
    work.tidy(turn, mind, fields)
    _wake(turn, mind)


def _ask(turn: TurnContext, question: Question, common: dict[str, Any]) -> None:
    """Ask a layer's model what to say, or what to plan."""
    arm = asking.arm(turn, question)
    asked = asking.ask_or_wait(turn, question, turn.next_id)
    likely = question.likely
    silent = (Candidate(arm=SILENT, probability=1 - likely),) if likely < 1 else ()
    turn.emit(
        Decided(
            **common | {"probability": likely},
            draw=question.draw,
            path="llm",
            arm=arm,
            greedy_arm=arm,
            final=False,
            timing="queued",
            expires_at=asked.expires_at,
            candidates=(Candidate(arm=arm, probability=likely), *silent),
            layer=question.layer,
            prompt_digest=getattr(asked, "request_hash", None),
        )
    )
    turn.emit(asked)


def _reflex(mind: CharacterMind, found: Finding) -> Deed:
    best = found.best
    assert best is not None, "what acts is a reflex"
    return Deed(
        layer="reflex",
        arm=f"{REFLEX}{best.name}",
        action=Action(type=best.behaviour, target=best.target),
        priority=mind.priority(best),
        candidates=_candidates(found),
    )


def _step(mind: CharacterMind, works: Work) -> Deed:
    behaviour = mind.behaviours.get(works.action.type, NO_TABLE)
    return Deed(
        layer="queue",
        arm=works.arm,
        action=works.action,
        priority=behaviour.priority,
        candidates=(Candidate(arm=works.arm, probability=1.0),),
        is_inward=mind.tactics is not None
        and works.action.type == mind.tactics.remember,
    )


def _candidates(found: Finding) -> tuple[Candidate, ...]:
    """Return the reflexes that hold: the best is taken for certain, no draw is needed."""
    return tuple(
        Candidate(
            arm=f"{REFLEX}{each.name}", probability=1.0 if each is found.best else 0.0
        )
        for each in found.holding
    )


def _wake(turn: TurnContext, mind: CharacterMind) -> None:
    """Tell when the character thinks next of its own accord, if that has changed."""
    character = turn.state.character
    due = layers.next_time(turn, mind, character)
    if due != character.due:
        turn.emit(WakeupSet(due_at=due))
