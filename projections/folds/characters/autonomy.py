"""Fold what an autonomous character decides, does, and hears of what it did."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from msgspec.structs import replace

from projections.folds.characters import body, episodes, situations
from projections.folds.fold_context import FoldContext
from schemas.messages.arms import RANDOM, ROUTINE, Action
from schemas.messages.decisions import ActionChoice, Candidate, Completed, Decided
from schemas.messages.sensing import Sensed
from schemas.packs.autonomous import Autonomous
from schemas.packs.characters import CharacterMind
from schemas.state import limits
from schemas.state.agent import AgentState
from schemas.state.autonomy import Act, Chooser
from schemas.state.character import Character, Doing
from schemas.values.exact_math import round6

LAYER: Literal["autonomous"] = "autonomous"
"""What stands as the layer in its decisions, and as the purpose of its asks."""

_CHOSEN = ActionChoice(arm=LAYER, probability=1.0)
"""Of what was chosen without a model."""


def sensed(
    state: AgentState,
    mind: CharacterMind,
    event: Sensed,
    now: datetime,
    means: str | None,
) -> Character:
    """Return the character once an event came; `means` is what the pack says it tells."""
    how = mind.autonomous
    assert how is not None, "its mind is autonomous"
    before = episodes.settled(state.character, now)
    character = body.sensed(state, mind, event, now, means)
    character = replace(character, autonomy=before.autonomy)
    if means == "command":
        return episodes.cancelled(character)
    if event.outcome is None:
        return character
    # One that comes after its time finds the action settled, and changes nothing.
    replied = body.replied(state, event)
    error = event.fields.get("error")
    told = error if isinstance(error, str) else event.text
    return episodes.reported(character, how, replied, event.outcome, told)


def decided(state: AgentState, context: FoldContext, message: Decided) -> AgentState:
    """Return the state after a decision of an autonomous character."""
    mind = body.mind_of(context.packs)
    if mind is None or mind.autonomous is None:
        return state
    how, now, id_ = mind.autonomous, context.now, context.output_id
    character, event = episodes.settled(state.character, now), context.input.message
    is_of_event = isinstance(event, Sensed) and message.event_id == context.input.id
    if isinstance(event, Sensed) and is_of_event:
        declared = context.appearance.domain.event_type
        means = declared.means if declared is not None else None
        character = sensed(state, mind, event, now, means)
        if means == "command":
            character = _commanded(character, how, id_, event, now)
    if message.layer == LAYER:
        before = character.autonomy
        retries = before.retries + 1 if is_of_event else 0
        autonomy = replace(before, count=before.count + 1, retries=retries)
        # Until an action begins it waits from here on, so that a lost answer costs one turn.
        character = replace(character, autonomy=autonomy, doing=None, idle_since=now)
        if message.final and message.action is not None:
            act = _act(character, how, id_, message.arm, message.action, now)
            act = _weighed(act, how, message.candidates)
            character = episodes.begun(character, how, act, now)
    return replace(state, character=character)


def completed(
    state: AgentState, context: FoldContext, message: Completed
) -> AgentState:
    """Return the state in which the action begins that the model, or chance after it, chose."""
    mind = body.mind_of(context.packs)
    choice, action = message.choice, message.action
    if mind is None or mind.autonomous is None or choice is None or action is None:
        return state
    how, now = mind.autonomous, context.now
    character, id_ = state.character, message.decision_id
    act = _act(character, how, id_, choice.arm, action, now, choice)
    act = _weighed(act, how, choice.candidates or ())
    begun = episodes.begun(character, how, act, now)
    return replace(state, character=begun)


def _commanded(
    character: Character, how: Autonomous, id_: str, event: Sensed, now: datetime
) -> Character:
    """Return the character that does what a command from outside says, until that is over."""
    named = event.fields.get("action")
    name = named if isinstance(named, str) else "command"
    declared = how.action(name) or episodes.OF_A_NEWER_PACK
    until = now + timedelta(seconds=declared.lasts_s)
    doing = Doing(
        decision_id=id_, behaviour=name[:80], priority=0.0, since=now, until=until
    )
    return replace(character, doing=doing, idle_since=None)


def _act(
    character: Character,
    how: Autonomous,
    id_: str,
    arm: str,
    action: Action,
    now: datetime,
    choice: ActionChoice = _CHOSEN,
) -> Act:
    here = situations.surroundings(how, character.body.fields)
    declared = how.action(action.type) or episodes.OF_A_NEWER_PACK
    return Act(
        decision_id=id_,
        at=now,
        action=action.type,
        target=action.target,
        by=_by(arm),
        situation=situations.fingerprint(how, here, character.autonomy.acts),
        thought=(choice.thought or "")[: limits.THOUGHT],
        reasoning=(choice.reasoning or "")[: limits.THOUGHT],
        position=here.position,
        is_empty=declared.changes_nothing(here.state),
    )


def _weighed(act: Act, how: Autonomous, candidates: Sequence[Candidate]) -> Act:
    """Return an action with the odds by which its kind was drawn, if a review needs them."""
    if how.improves is None or act.by != "random":
        return act
    odds: dict[str, float] = {}
    for each in candidates:
        declared = how.action(each.arm.removeprefix(RANDOM))
        if each.eligible and declared is not None and declared.kind is not None:
            odds[declared.kind] = odds.get(declared.kind, 0.0) + each.probability
    weighed = tuple((kind, round6(odds[kind])) for kind in sorted(odds))
    return replace(act, weighed=weighed)


def _by(arm: str) -> Chooser:
    if arm.startswith(RANDOM):
        return "random"
    return "routine" if arm.startswith(ROUTINE) else "model"
