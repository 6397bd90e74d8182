"""Planning: what an executor's model answers, read into a plan.

Each action that was not offered, or cannot be, is skipped with the reason; the rest counts.
"""

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct
from pydantic import ValidationError

from handlers.mind.characters import replies
from handlers.mind.characters.executor import prompt
from handlers.mind.characters.queue import tactics
from schemas.messages.characters import TASKS, PlannedBuild, PlanTask
from schemas.packs.tactics import Tactics
from schemas.state.character import Plan
from schemas.values.base import first_fault
from schemas.values.unicode_text import quoted

ACTIONS = 40
"""So many actions of one answer are read."""

_WHAT = ("target", "recipe", "building", "item", "name", "place", "resource")
"""Names under which models tell what an action is on."""


class Wanted(Struct):
    """What an executor's model wants; made up while its answer is read."""

    tasks: list[PlanTask]
    builds: list[PlannedBuild]
    waits: bool
    priorities: Mapping[str, float] | None
    refused: list[str]
    """What of it was left out, and why."""
    read: int = 0
    """How many things it says, those that were left out included."""

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing of use."""
        return self.read <= len(self.refused)


class Means(Struct, frozen=True):
    """By what an answer is read."""

    tactics: Tactics
    offered: Collection[str]
    synonyms: Mapping[str, str]
    fields: Mapping[str, object]


def read(text: str, plan: Plan, means: Means) -> Wanted:
    """Read an executor's reply on top of what is planned already.

    Raises:
        Unreadable: there is no JSON object in it, or nothing of use.
    """
    told = replies.read_object(text)
    wanted = understood(told, told.get("action", told.get("actions")), plan, means)
    if wanted.is_empty and not replies.words(told, "thinking"):
        raise replies.nothing(told, wanted.refused)
    return wanted


def understood(
    told: Mapping[str, Any], action: object, plan: Plan, means: Means
) -> Wanted:
    """Return what a reply's object and its actions say, be it nothing of use."""
    wanted = Wanted(list(plan.left), list(plan.builds), plan.waits, None, [])
    wanted.priorities = replies.shares(told.get("priorities"), wanted.refused)
    actions = as_list(action)
    if len(actions) > ACTIONS:
        left = len(actions) - ACTIONS
        wanted.refused.append(f"{left} actions over {ACTIONS} were left out")
    for each in actions[:ACTIONS]:
        _read(each, wanted, means)
    wanted.read = len(actions) + (wanted.priorities is not None)
    return wanted


def as_list(told: object) -> list[object]:
    """Return the actions of a reply, which may name one, several or none."""
    if told is None:
        return []
    return told if isinstance(told, list) else [told]


def _read(told: object, wanted: Wanted, means: Means) -> None:
    fields: Mapping[str, Any] = told if isinstance(told, dict) else {"type": told}
    name = replies.tool(
        fields.get("type"), means.offered, means.synonyms, wanted.refused
    )
    match name:
        case None:
            return
        case prompt.PLAN_BUILD:
            _plan_build(fields, wanted, means)
        case replies.SET_PRIORITIES:
            told_of = fields.get("priorities")
            wanted.priorities = replies.shares(told_of, wanted.refused)
        case prompt.CANCEL_TASK:
            _cancel_task(wanted)
        case prompt.CANCEL_BUILD:
            _cancel_build(fields, wanted)
        case prompt.SLEEP:
            _sleep(wanted)
        case _:
            _queue(name, fields, wanted, means)


def _plan_build(fields: Mapping[str, Any], wanted: Wanted, means: Means) -> None:
    name = _what(fields) or ""
    planned = sum(each.building == name for each in wanted.builds)
    problem = tactics.problem(means.tactics, name, means.fields, planned)
    if problem is None and len(wanted.builds) >= TASKS:
        problem = f"{TASKS} are planned at most"
    if problem is not None:
        wanted.refused.append(f"{_shown(name)} is not planned: {problem}")
        return
    urgency = fields.get("priority")
    wanted.builds.append(
        PlannedBuild(
            building=name,
            priority=urgency if urgency in ("high", "low") else "normal",
            reason=replies.words(fields, "reason")[:300],
        )
    )


def _cancel_task(wanted: Wanted) -> None:
    if wanted.tasks:
        del wanted.tasks[0]
    else:
        wanted.refused.append("nothing is queued that could be cancelled")


def _cancel_build(fields: Mapping[str, Any], wanted: Wanted) -> None:
    name = _what(fields)
    for place, each in enumerate(wanted.builds):
        if each.building == name:
            del wanted.builds[place]
            return
    wanted.refused.append(f"{_shown(name)} is not planned")


def _sleep(wanted: Wanted) -> None:
    if wanted.tasks:
        wanted.waits = True
    else:
        wanted.refused.append("nothing is queued that it could wait for")


def _queue(name: str, fields: Mapping[str, Any], wanted: Wanted, means: Means) -> None:
    what = _what(fields)
    fault = _fault(name, what, fields, means)
    if fault is None and len(wanted.tasks) >= TASKS:
        fault = f"the queue holds {TASKS}"
    if fault is not None:
        wanted.refused.append(f"{name} {_shown(what)} is not queued: {fault}")
        return
    try:
        task = PlanTask(
            type=name,
            target=what,
            amount=_amount(name, fields, means.tactics),
            times=_first(fields, "times", "repeat", "repeats") or 1,
            text=_text(fields)[:1_000],
        ).checked()
    except ValidationError as error:
        fault = first_fault(error, "the action")
        wanted.refused.append(f"{name} {_shown(what)} is not queued: {fault}")
        return
    wanted.tasks.append(task)


def _fault(
    name: str, what: str | None, fields: Mapping[str, Any], means: Means
) -> str | None:
    """Return why an action cannot be queued; None if it can."""
    known = means.tactics
    if name == known.craft and what not in known.recipes:
        return "there is no such recipe"
    if name == known.build and what not in known.buildings:
        return "nobody knows how to build it"
    if name == known.gather:
        if what is None:
            return "it does not say what"
        if known.resources and what not in known.resources:
            return "there is nothing like it"
    if name == "go_to" and what is None:
        return "it does not say where"
    if name == "create_memory" and not _text(fields):
        return "it does not say of what"
    return None


def _amount(name: str, fields: Mapping[str, Any], known: Tactics) -> Any:
    told = _first(fields, "amount", "count", "quantity")
    if told is not None:
        return told
    return {known.craft: 1, known.gather: known.load}.get(name)


def _first(fields: Mapping[str, Any], *names: str) -> Any:
    return next((fields[each] for each in names if fields.get(each) is not None), None)


def _what(fields: Mapping[str, Any]) -> str | None:
    """Return what an action is on, as the first of the usual names tells it."""
    told = _first(fields, *_WHAT)
    return " ".join(told.split())[:200] or None if isinstance(told, str) else None


def _text(fields: Mapping[str, Any]) -> str:
    found = (
        replies.words(fields, each)
        for each in ("text", "memory", "content", "description")
    )
    return next(filter(None, found), "")


def _shown(name: object) -> str:
    return quoted(str(name if name is not None else "nothing")[:80])
