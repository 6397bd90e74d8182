"""The executor's prompt: what the character wants, has in store and plans.

It holds no costs of buildings, no single steps and nothing of conversations: those are other
layers' (source design, "Executor prompt"). All that the world or a model told is fenced.
"""

from collections.abc import Mapping, Sequence

from handlers.mind.characters import prompts
from schemas.packs import conditions
from schemas.packs.layers import Executor
from schemas.packs.tactics import Tactics
from schemas.state.character import Character
from schemas.values.exact_math import clamp
from schemas.values.prompt_fencing import fenced, shown

PLAN_BUILD = "plan_build"
CANCEL_TASK = "cancel_current_task"
CANCEL_BUILD = "cancel_planned_build"
SLEEP = "sleep_until_queue_complete"
"""Tools that change a plan; every other one becomes an entry of the queue."""

_ITEMS = 64
"""So many things of a store are told."""

_WHY: Mapping[str, str] = {
    "goals_changed": "what you are after has changed",
    "task_complete": "something is done",
    "idle": "you have nothing to do and plan nothing",
    "periodic": "some time has passed",
}

ACTIONS = (
    'An action is {"type": one of the tools} with what it needs: "building", "priority"'
    ' ("high", "normal" or "low") and "reason" of plan_build; "priorities" of'
    ' set_priorities; "recipe" and "amount" of craft; "target", "amount" and "times" of'
    ' gather; "building" of cancel_planned_build; "text" of create_memory; else "target".'
    " You plan; what that takes is brought and built by itself."
)
"""How actions are written, whoever is asked for them."""

FORM = (
    'Answer with one JSON object: {"thinking": why, in a sentence, "action": one action or a'
    ' list of them, "priorities": {kind of work: 0 to 1} or null}. '
) + ACTIONS


def moment(
    tactics: Tactics,
    layer: Executor,
    character: Character,
    fields: Mapping[str, object],
    doing: str | None,
    reason: str,
) -> str:
    """Return what the executor is told of the moment."""
    parts = [
        why(reason),
        *known(tactics, layer, character, fields, doing),
        f"Tools: {', '.join(prompts.offered(layer.tools, fields)) or 'none'}",
    ]
    return "\n\n".join(filter(None, parts))


def why(reason: str) -> str:
    """Return why it is asked, in words."""
    return f"You are asked as {_WHY.get(reason, reason)}."


def known(
    tactics: Tactics,
    layer: Executor,
    character: Character,
    fields: Mapping[str, object],
    doing: str | None,
) -> list[str]:
    """Return what the character wants, has and plans, in parts of which some are empty."""
    plan = character.plan
    builds = [
        f"- {each.building}, {each.priority} {fenced(each.reason, 300)}".rstrip()
        if each.reason
        else f"- {each.building}, {each.priority}"
        for each in plan.builds
    ]
    finished = [f"- {fenced(each.what, 300)}: {each.outcome}" for each in plan.finished]
    return [
        prompts.part(
            "Current goals", [f"- {fenced(each.text, 400)}" for each in character.aims]
        ),
        _priorities(character),
        prompts.part("What moves you", prompts.told(layer.lines, fields)),
        f"Available buildings: {', '.join(sorted(tactics.buildings)) or 'none'}",
        f"Available recipes: {', '.join(_recipes(tactics)) or 'none'}",
        prompts.part("Village stockpile", _stored(layer, fields)),
        prompts.part("Planned builds", builds or ["(none)"]),
        prompts.part("Done lately", finished),
        f"You are doing: {doing or 'nothing'}; {len(plan.left)} entries are in your queue",
    ]


def _priorities(character: Character) -> str:
    priorities = character.priorities
    told = [f"{name}: {round(priorities[name] * 100)}" for name in sorted(priorities)]
    return f"Priorities: {', '.join(told)}" if told else ""


def _recipes(tactics: Tactics) -> list[str]:
    """Return what can be made, and of what; not of how much."""
    recipes = tactics.recipes
    return [
        f"{name} (from {', '.join(sorted(recipes[name].takes))})"
        for name in sorted(recipes)
    ]


def _stored(layer: Executor, fields: Mapping[str, object]) -> Sequence[str]:
    known, told = conditions.field_value(layer.stockpile, fields)
    if not known or not isinstance(told, Mapping):
        return ()
    return [
        f"- {shown(str(item), 80)}: {int(clamp(amount, 0, 1e9))}"
        for item in sorted(told)[:_ITEMS]
        if isinstance(amount := told[item], int | float)
        and not isinstance(amount, bool)
    ]
