"""Executing: when the executor's model is asked, and what becomes of what it plans."""

from collections.abc import Mapping
from datetime import datetime

from handlers.mind.characters import asking, cadence, prompts, reflexes
from handlers.mind.characters.asking import LayerName, Question
from handlers.mind.characters.executor import planning, prompt
from handlers.mind.characters.executor.planning import Means, Wanted
from handlers.mind.characters.replies import Unreadable
from handlers.mind.context import TurnContext
from projections.folds.characters import plans
from schemas.messages.characters import PlanSet
from schemas.messages.decisions import LayerVerdict
from schemas.messages.results import ModelAnswered
from schemas.packs.characters import CharacterMind
from schemas.state.character import Character, LayerAsk, Plan

_Fields = Mapping[str, object]


def verdict(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    fields: _Fields,
    at: datetime,
) -> LayerVerdict | None:
    """Return what the executor comes to at a time; None if the character has none."""
    layer = mind.executor
    if layer is None:
        return None
    held_back = asking.held_back(turn, mind, "executor", character)
    if held_back is not None:
        return held_back
    occasion, why = cadence.executor_occasion(layer, character, fields, at)
    return LayerVerdict(
        layer="executor",
        verdict="acts" if occasion is not None else "nothing_due",
        rule=occasion,
        why=why,
    )


def times(
    turn: TurnContext, mind: CharacterMind, character: Character, fields: _Fields
) -> list[datetime]:
    """Return the times at which the executor may become due."""
    layer = mind.executor
    if layer is None:
        return []
    if asking.held_back(turn, mind, "executor", character) is not None:
        return []
    return cadence.executor_times(layer, character, fields, turn.now)


def question(
    turn: TurnContext,
    mind: CharacterMind,
    character: Character,
    fields: _Fields,
    granted: LayerAsk | None = None,
) -> Question:
    """Return what the executor's model is asked, for the reason for which it got its turn."""
    layer, known = mind.executor, mind.tactics
    assert layer is not None, "the verdict was to act"
    assert known is not None, "the pack has both or none"
    occasion, _ = cadence.executor_occasion(layer, character, fields, turn.now)
    reason = occasion if granted is None else granted.reason
    assert reason is not None, "the verdict was to act"
    character = plans.settled(character, turn.now)
    doing = reflexes.behaviour_at(character, turn.now)
    return Question(
        layer="executor",
        system=prompts.system(turn.input.agent, layer.who, prompt.FORM),
        prompt=prompt.moment(known, layer, character, fields, doing, reason),
        priority=cadence.executor_priority(layer, fields, reason),
        channel=mind.channel,
        model=layer.model,
        reason=reason,
    )


def answered(
    turn: TurnContext, mind: CharacterMind, asked: LayerAsk, result: ModelAnswered
) -> None:
    """Plan what the executor's model wants, as far as it was offered and can be."""
    layer, known = mind.executor, mind.tactics
    if layer is None or known is None:
        asking.drop(turn, asked, "cancelled", "it has no executor any more")
        return
    character = plans.settled(turn.state.character, turn.now)
    fields = reflexes.fields_at(character, mind, turn.now)
    offered = prompts.offered(layer.tools, fields)
    before = character.plan
    try:
        means = Means(known, offered, mind.synonyms, fields)
        wanted = planning.read(result.text, before, means)
    except Unreadable as error:
        asking.drop(turn, asked, error.drop, str(error))
        return
    asking.complete(turn, asked, result.model, "", None, tuple(wanted.refused))
    plan(turn, wanted, before, "executor")


def plan(turn: TurnContext, wanted: Wanted, before: Plan, by: LayerName) -> None:
    """Change what matters and what is planned, as a layer's model wants it."""
    told = wanted.priorities
    asking.prioritise(turn, dict(told) if told is not None else None, by)
    tasks, builds = tuple(wanted.tasks), tuple(wanted.builds)
    control = PlanSet(
        tasks=tasks if tasks != before.left else None,
        builds=builds if builds != before.builds else None,
        waits=wanted.waits if wanted.waits != before.waits else None,
    )
    if control != PlanSet():
        asking.infer_or_refuse(turn, control, by)
