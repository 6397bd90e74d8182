"""Deciding what to do next: at random, by routine, or by asking a model.

An action ends, an interval passes, and the character decides again. A command from outside
goes before: it ends what the character does by itself, and nothing begins until it is over.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from handlers.mind.characters import asking as layers
from handlers.mind.characters import occasions, reflexes
from handlers.mind.characters.acting import deliver
from handlers.mind.characters.autonomous import asking, chance, habits, looking_back
from handlers.mind.context import TurnContext
from projections.folds.characters import autonomy, episodes, persona, situations
from projections.folds.characters.autonomy import LAYER
from schemas.messages.arms import Action
from schemas.messages.asks import WakeupSet
from schemas.messages.decisions import Candidate, Decided, Draw, LayerVerdict
from schemas.messages.sensing import Sensed
from schemas.packs.autonomous import Autonomous
from schemas.packs.characters import CharacterMind
from schemas.state.agent import Timer
from schemas.state.character import Character
from schemas.values.exact_math import round6
from schemas.values.reasons import Verdict

STRATEGY = "autonomous"

_TRIES = 2
"""After a failure: the model once more, then something random."""


def on_event(turn: TurnContext, event: Sensed, mind: CharacterMind) -> None:
    """Answer an event: a command ends what is done, a failure is decided on anew."""
    means = occasions.meaning(turn)
    after = autonomy.sensed(turn.state, mind, event, turn.now, means)
    common = occasions.of_event(turn, event) | _common(turn, mind)
    absent = reflexes.absence(mind, reflexes.fields_at(after, mind, turn.now))
    if absent is not None:
        occasions.silent(turn, common, absent)
    elif means == "command":
        _commanded(turn, common)
    elif _is_to_be_made_good(turn.state.character, after, mind):
        _decide(turn, mind, after, common, "it failed")
    else:
        why = "nothing to decide on"
        common["layers"] = (_verdict("nothing_due", why),)
        occasions.silent(turn, common, "nothing_due")
    if absent is None:
        looking_back.consider(turn, mind)
    wake(turn, mind)


def at_timer(turn: TurnContext, timer: Timer, mind: CharacterMind) -> None:
    """Decide at a time that was told before, unless something came between."""
    character = turn.state.character
    absent = reflexes.absence(mind, reflexes.fields_at(character, mind, turn.now))
    if absent is None and _is_due(turn, mind, character, turn.now):
        since = reflexes.idle_since(character, turn.now) or turn.now
        idle_s = round6((turn.now - since).total_seconds())
        character = episodes.settled(character, turn.now)
        common = occasions.of_timer(turn, timer) | _common(turn, mind)
        _decide(turn, mind, character, common, f"idle for {idle_s:g} s")
        looking_back.consider(turn, mind)
    wake(turn, mind)


def wake(turn: TurnContext, mind: CharacterMind) -> None:
    """Tell when the character decides next, if that has changed."""
    character = turn.state.character

    def is_due(tick: datetime, _: Mapping[str, object]) -> bool:
        return _is_due(turn, mind, character, tick)

    at = _due(turn, mind, character)
    further = [] if at is None else [max(at, turn.now)]
    due = reflexes.due(character, mind, turn.now, is_due, further)
    if due != character.due:
        turn.emit(WakeupSet(due_at=due))


def _is_due(
    turn: TurnContext, mind: CharacterMind, character: Character, at: datetime
) -> bool:
    if reflexes.doing_at(character, at) is not None:
        return False
    due = _due(turn, mind, character)
    return due is not None and due <= at


def _due(
    turn: TurnContext, mind: CharacterMind, character: Character
) -> datetime | None:
    """Return when the interval after what is done is over; None if nobody can tell yet."""
    how, doing = mind.autonomous, character.doing
    assert how is not None, "its mind is autonomous"
    since = doing.until if doing is not None else character.idle_since
    if since is None or LAYER in character.asked:
        return None
    span_s = how.interval.most_s - how.interval.least_s
    wait_s = how.interval.least_s + span_s * chance.value(turn, chance.INTERVAL)
    # In whole microseconds, as times are.
    return since + timedelta(seconds=round6(wait_s))


def _commanded(turn: TurnContext, common: dict[str, Any]) -> None:
    """Give way to a command; what a model says of before it is heard no more."""
    asked = turn.state.character.asked.get(LAYER)
    common["layers"] = (_verdict("not_asked", "a command from outside goes before"),)
    occasions.silent(turn, common, "nothing_due")
    if asked is not None:
        layers.drop(turn, asked, "cancelled", "a command from outside came")


def _is_to_be_made_good(
    before: Character, after: Character, mind: CharacterMind
) -> bool:
    """Tell whether an event reports a failure that is still to be decided on."""
    how, acts = mind.autonomous, after.autonomy.acts
    assert how is not None, "its mind is autonomous"
    if not how.remembers or LAYER in after.asked or not acts:
        return False
    is_new = acts is not before.autonomy.acts and acts[-1].outcome == "failed"
    return is_new and after.autonomy.retries < _TRIES


def _decide(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    common: dict[str, Any],
    why: str,
) -> None:
    """Decide what to do next; `character` is as it is after the event at hand."""
    how, model = mind.autonomous, turn.settings.model
    assert how is not None, "its mind is autonomous"
    retries = character.autonomy.retries if common.get("timer") is None else 0
    if how.tier == 0:
        _at_random(turn, mind, character, common, why)
    elif retries == _TRIES - 1:
        _at_random(turn, mind, character, common, f"{why} again, so something random")
    elif model is None:
        _at_random(turn, mind, character, common, f"{why}; no model is configured")
    else:
        arm = asking.arm(turn, mind)
        habit = None
        if how.remembers and common.get("timer") is not None:
            habit = habits.find(turn, how, character.autonomy, _here(how, character))
        if habit is not None and not habit.is_explored:
            _by_routine(turn, mind, habit, arm, common)
            return
        common |= habit.odds(arm, is_explored=True) if habit is not None else {}
        _ask(turn, mind, arm, common, why)


def _here(how: Autonomous, character: Character) -> situations.Surroundings:
    return situations.surroundings(how, character.body.fields)


def _at_random(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    common: dict[str, Any],
    why: str,
) -> None:
    how = mind.autonomous
    assert how is not None, "its mind is autonomous"
    here, acts = _here(how, character), character.autonomy.acts
    how = persona.in_force(how, character.autonomy)
    drawn, candidates = chance.drawn(turn, how, here, acts)
    common["candidates"], common["layer"] = candidates, LAYER
    if drawn is None:
        common["layers"] = (_verdict("nothing_due", f"{why}; nothing can be done"),)
        occasions.silent(turn, common, "no_candidate")
        return
    common["layers"] = (_verdict("acts", why, drawn.action.type),)
    common |= {"probability": drawn.probability, "draw": drawn.draw}
    _perform(turn, mind, drawn.action, drawn.arm, common)


def _by_routine(
    turn: TurnContext,
    mind: CharacterMind,
    habit: "habits.Habit",
    llm: str,
    common: dict[str, Any],
) -> None:
    common |= habit.odds(llm, is_explored=False)
    common["layer"] = LAYER
    common["layers"] = (_verdict("acts", habit.why, habit.situation),)
    _perform(turn, mind, habit.action, habit.arm, common)


def _ask(
    turn: TurnContext, mind: CharacterMind, arm: str, common: dict[str, Any], why: str
) -> None:
    """Ask the model; the decision ends with its answer."""
    only: tuple[Candidate, ...] = (Candidate(arm=arm, probability=1.0),)
    draw: Draw | None = None
    fields = {"candidates": only, "greedy_arm": arm, "draw": draw, **common}
    fields["layers"] = (_verdict("acts", why, "model"),)
    decision_id = turn.emit(
        Decided(
            **{**fields, "layer": LAYER},
            path="llm",
            arm=arm,
            final=False,
            timing="queued",
            expires_at=turn.now + timedelta(seconds=turn.settings.ttl_s),
        )
    )
    # Built from the state after the decision: it tells whether this is about a failure.
    turn.emit(asking.ask(turn, mind, decision_id))


def _common(turn: TurnContext, mind: CharacterMind) -> dict[str, Any]:
    return occasions.common(turn, mind, STRATEGY)


def _verdict(verdict: Verdict, why: str, rule: str | None = None) -> LayerVerdict:
    return LayerVerdict(layer=LAYER, verdict=verdict, rule=rule, why=why)


def _perform(
    turn: TurnContext,
    mind: CharacterMind,
    action: Action,
    arm: str,
    common: dict[str, Any],
) -> None:
    """Decide on an action without a model, and have the world perform it."""
    expires_at = turn.now + timedelta(seconds=turn.settings.ttl_s)
    decision_id = turn.emit(
        Decided(
            **{"greedy_arm": arm, **common},
            path="autonomous",
            arm=arm,
            final=True,
            text=action.type,
            action=action,
            expires_at=expires_at,
        )
    )
    deliver(
        turn, mind, action, decision_id, common["event_id"], "autonomous", expires_at
    )
