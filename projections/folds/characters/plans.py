"""Fold what a character is after, what it plans, and how far it is with it.

What the world reports of a step advances the queue; a reflex that comes between changes
nothing of it, so the character resumes where it was.
"""

from datetime import datetime

from msgspec.structs import replace

from projections.folds.fold_context import Origin
from schemas.messages.characters import AimsSet, PlannedBuild, PlanSet, PlanTask
from schemas.packs.tactics import Tactics
from schemas.state import limits
from schemas.state.agent import AgentState
from schemas.state.character import Character, Doing, Finished, KeptThought, Plan
from schemas.values.bounded_map import EMPTY

QUEUE = "queue"
"""The layer that works off a plan."""

_ORDER = ("high", "normal", "low")
"""In which order builds are begun."""

_SUCCEEDED = "succeeded"
_TIMED_OUT = "timed out"


def applied(state: AgentState, control: PlanSet, origin: Origin) -> AgentState:
    """Return the state of a character that plans what the control says."""
    character = settled(state.character, origin.at)
    plan, task = character.plan, character.plan.task
    if control.tasks is not None:
        plan = replace(plan, tasks=control.tasks, index=0)
    if control.builds is not None:
        plan = replace(plan, builds=_sorted(control.builds))
    waits = plan.waits if control.waits is None else control.waits
    plan = replace(plan, waits=waits and bool(plan.tasks))
    doing = character.doing
    if doing is not None and not _still_planned(doing, task, plan):
        character = replace(character, doing=None, idle_since=origin.at)
    return replace(state, character=replace(character, plan=plan))


def aimed(state: AgentState, control: AimsSet, origin: Origin) -> AgentState:
    """Return the state in which a character is after what the control says."""
    before = state.character
    aims = before.aims if control.aims is None else control.aims
    priorities = before.priorities
    if control.priorities is not None:
        priorities = EMPTY.update(
            {name: control.priorities[name] for name in sorted(control.priorities)}
        )
    changed = aims != before.aims or priorities != before.priorities
    character = replace(
        before,
        aims=aims,
        priorities=priorities,
        aimed_at=origin.at if changed else before.aimed_at,
    )
    return replace(state, character=character)


def own(before: AgentState, after: AgentState) -> AgentState:
    """Return the state in which a change is the executor's own, which asks it nothing."""
    if after.character is before.character:
        return after
    aimed_at = before.character.aimed_at
    return replace(after, character=replace(after.character, aimed_at=aimed_at))


def settled(character: Character, now: datetime) -> Character:
    """Return the character without a step of its plan that nobody ended in its time."""
    doing = character.doing
    if doing is None or doing.layer != QUEUE or now < doing.until:
        return character
    return ended(character, None, _TIMED_OUT, None, doing.until)


def ended(
    character: Character,
    tactics: Tactics | None,
    outcome: str,
    amount: int | None,
    at: datetime,
) -> Character:
    """Return the character after the step of its plan that it was at.

    `amount` is how much the world says it brought; None: it says nothing of that.
    """
    doing, plan = character.doing, character.plan
    assert doing is not None, "something ended"
    got = doing.amount if amount is None else amount
    if doing.build is not None:
        plan = _built(plan, doing, outcome, at)
    elif plan.task is not None:
        plan = _worked(plan, plan.task, tactics, doing, outcome, got, at)
    return replace(character, doing=None, idle_since=at, plan=plan)


def remembered(character: Character, text: str, at: datetime) -> Character:
    """Return the character that keeps something in mind, as the next entry of its queue."""
    kept = [each for each in character.memories if each.text != text]
    memories = (*kept, KeptThought(text=text, at=at))[-limits.MEMORIES :]
    plan, task = character.plan, character.plan.task
    if task is not None:
        plan = _next(plan, task, _SUCCEEDED, at)
    return replace(character, plan=plan, memories=memories)


def talked(character: Character, at: datetime) -> Character:
    """Return the character after a conversation."""
    return replace(character, plan=_noted(character.plan, "talk", _SUCCEEDED, at))


def _still_planned(doing: Doing, task: PlanTask | None, plan: Plan) -> bool:
    if doing.layer != QUEUE:
        return True
    if doing.build is not None:
        return any(each.building == doing.build for each in plan.builds)
    return task is not None and plan.task == task


def _sorted(builds: tuple[PlannedBuild, ...]) -> tuple[PlannedBuild, ...]:
    return tuple(sorted(builds, key=lambda each: _ORDER.index(each.priority)))


def _built(plan: Plan, doing: Doing, outcome: str, at: datetime) -> Plan:
    """Return the plan after a step towards a planned build."""
    builds = list(plan.builds)
    place = next(
        (n for n, each in enumerate(builds) if each.building == doing.build), None
    )
    if place is None:
        return plan
    build = builds[place]
    if outcome != _SUCCEEDED:
        builds[place] = replace(build, failures=build.failures + 1)
        return replace(plan, builds=tuple(builds))
    if not doing.is_last:
        builds[place] = replace(build, failures=0)
        return replace(plan, builds=tuple(builds))
    del builds[place]
    plan = replace(plan, builds=tuple(builds))
    return _noted(plan, f"{doing.behaviour} {build.building}", outcome, at)


def _worked(
    plan: Plan,
    task: PlanTask,
    tactics: Tactics | None,
    doing: Doing,
    outcome: str,
    got: int,
    at: datetime,
) -> Plan:
    """Return the plan after a step of the entry of the queue that it is at."""
    if outcome != _SUCCEEDED:
        return _next(plan, task, outcome, at)
    deposit = tactics.deposit if tactics is not None else None
    if doing.behaviour == task.type:
        if task.amount is None:
            plan = _without(plan, task.target) if doing.is_last else plan
            return _next(plan, task, outcome, at)
        if got <= 0:
            return _next(plan, task, "brought nothing", at)
        carries = tactics is not None and task.type == tactics.gather and deposit
        carried = task.carried + got if carries else 0
        task = replace(task, done=task.done + got, carried=carried)
    elif doing.behaviour == deposit:
        task = replace(task, carried=0)
    if task.amount is not None and task.done >= task.amount and not task.carried:
        return _next(plan, task, outcome, at)
    return _with(plan, task)


def _without(plan: Plan, building: str | None) -> Plan:
    """Return the plan without the first planned build of what was built by the queue."""
    for place, each in enumerate(plan.builds):
        if each.building == building:
            builds = (*plan.builds[:place], *plan.builds[place + 1 :])
            return replace(plan, builds=builds)
    return plan


def _next(plan: Plan, task: PlanTask, outcome: str, at: datetime) -> Plan:
    """Return the plan once an entry is over: it comes again, or the next one does."""
    plan = _noted(plan, described(task), outcome, at)
    if outcome == _SUCCEEDED and task.times > 1:
        again = {"times": task.times - 1, "done": 0, "carried": 0}
        return _with(plan, replace(task, **again))
    if plan.index + 1 < len(plan.tasks):
        return replace(plan, index=plan.index + 1)
    return replace(plan, tasks=(), index=0, waits=False)


def _with(plan: Plan, task: PlanTask) -> Plan:
    tasks = (*plan.tasks[: plan.index], task, *plan.tasks[plan.index + 1 :])
    return replace(plan, tasks=tasks)


def _noted(plan: Plan, what: str, outcome: str, at: datetime) -> Plan:
    over = Finished(what=what, outcome=outcome, at=at)
    finished = (*plan.finished, over)[-limits.FINISHED :]
    return replace(plan, finished=finished, completed_at=at)


def described(task: PlanTask) -> str:
    """Return an entry of a queue in words: `gather 500 wood`."""
    amount = str(task.amount) if task.amount is not None else None
    return " ".join(filter(None, (task.type, amount, task.target)))
