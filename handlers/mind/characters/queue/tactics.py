"""Tactics: the next step towards what is planned, by what a world's things cost.

Of all that is missing the most is brought first, of equal ones the nearest; what can be made
of others is made, as soon as these are there.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from projections.folds.characters.plans import described
from schemas.messages.characters import PlannedBuild, PlanTask
from schemas.packs import conditions
from schemas.packs.tactics import Tactics
from schemas.values.exact_math import clamp, round6

_DEEP = 4
"""So many recipes deep a thing is made of others; beyond it is gathered."""

_FAR = 1e9

Fields = Mapping[str, object]


class Step(Struct, frozen=True, kw_only=True):
    """Something to do next, for a plan."""

    type: str
    target: str | None = None
    amount: int | None = None
    object: str | None = None
    """The nearest thing that has it, as the world calls it."""
    build: str | None = None
    """The planned build that it is for; None: an entry of the queue."""
    text: str = ""
    why: str


def for_task(tactics: Tactics, task: PlanTask, fields: Fields) -> Step:
    """Return the next step of an entry of the queue."""
    return _unless_full(tactics, _for_task(tactics, task, fields), fields)


def _for_task(tactics: Tactics, task: PlanTask, fields: Fields) -> Step:
    why = described(task)
    if task.type == tactics.gather:
        return _gathered(tactics, task, fields, why)
    if task.type == tactics.craft and task.target in tactics.recipes:
        left = max((task.amount or 1) - task.done, 1)
        return _made(tactics, task.target, left, _stock(tactics, fields), fields, why)
    if task.type == tactics.build and task.target in tactics.buildings:
        step = _missing(tactics, tactics.buildings[task.target].costs, fields, why)
        if step is not None:
            return step
    left_over = task.amount - task.done if task.amount is not None else None
    return Step(
        type=task.type, target=task.target, amount=left_over, text=task.text, why=why
    )


def for_build(tactics: Tactics, build: PlannedBuild, fields: Fields) -> Step:
    """Return the next step towards a planned build of a known type."""
    name = build.building
    why = f"{name}, {build.priority}"
    step = _missing(tactics, tactics.buildings[name].costs, fields, why)
    if step is None:
        why = f"nothing is missing: {why}"
        step = Step(type=tactics.build, target=name, why=why)
    return _unless_full(tactics, replace(step, build=name), fields)


def problem(
    tactics: Tactics, building: str, fields: Fields, planned: int = 0
) -> str | None:
    """Return why something is not built, with so many planned already; None if it may be."""
    known = tactics.buildings.get(building)
    if known is None:
        return "nobody knows how to build it"
    most = known.most(_count(fields, tactics.heads))
    stand = _count(_objects(fields, tactics.built), building) or 0
    if most is not None and stand + planned >= most:
        further = f" and {planned} are planned" if planned else ""
        return f"{stand} stand{further}, and {most} may"
    return None


def _stock(tactics: Tactics, fields: Fields) -> dict[str, int]:
    """Return how much there is of each thing, wherever it lies."""
    found: dict[str, int] = {}
    for name in tactics.stock:
        held = _objects(fields, name)
        for item in sorted(held):
            found[item] = found.get(item, 0) + (_count(held, item) or 0)
    return found


def _unless_full(tactics: Tactics, step: Step, fields: Fields) -> Step:
    """Return the step; if nothing more can be carried, that of putting down what is."""
    when, deposit = conditions.read(tactics.full), tactics.deposit
    if when is None or deposit is None or step.type != tactics.gather:
        return step
    if not conditions.holds(when, "", "", fields):
        return step
    why = f"nothing more can be carried: {step.why}"
    return Step(type=deposit, build=step.build, why=why)


def _gathered(tactics: Tactics, task: PlanTask, fields: Fields, why: str) -> Step:
    """Return the next step of bringing an amount together, a load at a time."""
    wanted = task.amount or tactics.load
    is_load = task.carried >= tactics.load or task.done >= wanted
    if tactics.deposit is not None and task.carried and is_load:
        return Step(type=tactics.deposit, target=task.target, why=f"a load: {why}")
    amount = min(wanted - task.done, tactics.load)
    return _gather(tactics, task.target, amount, fields, f"{task.done} so far: {why}")


def _missing(
    tactics: Tactics, costs: Mapping[str, int], fields: Fields, why: str
) -> Step | None:
    """Return the step towards what something costs; None if all of it is there."""
    return _towards(tactics, costs, _stock(tactics, fields), fields, why, _DEEP)


def _towards(
    tactics: Tactics,
    costs: Mapping[str, int],
    held: Mapping[str, int],
    fields: Fields,
    why: str,
    deep: int,
) -> Step | None:
    missing = {
        item: costs[item] - held.get(item, 0)
        for item in sorted(costs)
        if costs[item] > held.get(item, 0)
    }
    if not missing:
        return None
    item = min(
        missing, key=lambda each: (-missing[each], _nearest(tactics, each, fields)[0])
    )
    why = f"{missing[item]} {item} missing: {why}"
    if item in tactics.recipes and deep > 0:
        return _made(tactics, item, missing[item], held, fields, why, deep - 1)
    return _gather(tactics, item, min(missing[item], tactics.load), fields, why)


def _made(
    tactics: Tactics,
    item: str,
    amount: int,
    held: Mapping[str, int],
    fields: Fields,
    why: str,
    deep: int = _DEEP,
) -> Step:
    """Return the step towards making something: what it is made of comes first."""
    recipe = tactics.recipes[item]
    rounds = -(-amount // recipe.makes)
    costs = {each: recipe.takes[each] * rounds for each in recipe.takes}
    step = _towards(tactics, costs, held, fields, why, deep)
    if step is not None:
        return step
    return Step(type=tactics.craft, target=item, amount=amount, why=why)


def _gather(
    tactics: Tactics, item: str | None, amount: int, fields: Fields, why: str
) -> Step:
    _, found = _nearest(tactics, item, fields)
    return Step(
        type=tactics.gather, target=item, amount=amount, object=found or None, why=why
    )


def _nearest(tactics: Tactics, item: str | None, fields: Fields) -> tuple[float, str]:
    """Return how far the nearest that has something is, and which it is."""
    return min(_sources(tactics, item, fields), default=(_FAR, ""))


def _sources(
    tactics: Tactics, item: str | None, fields: Fields
) -> Iterator[tuple[float, str]]:
    known, told = conditions.field_value(tactics.near, fields)
    for each in told if known and isinstance(told, list) else ():
        if isinstance(each, Mapping) and each.get("item") == item:
            far = _number(each.get("distance"))
            yield _FAR if far is None else far, str(each.get("id") or "")[:200]


def _objects(fields: Fields, name: str) -> Mapping[str, object]:
    known, told = conditions.field_value(name, fields)
    return told if known and isinstance(told, Mapping) else {}


def _count(fields: Fields, name: str) -> int | None:
    known, told = conditions.field_value(name, fields)
    number = _number(told) if known else None
    return None if number is None else int(clamp(number, 0.0, 1e9))


def _number(told: object) -> float | None:
    # A bool is an int in Python.
    if isinstance(told, bool) or not isinstance(told, int | float):
        return None
    return round6(float(clamp(told, -_FAR, _FAR)))
