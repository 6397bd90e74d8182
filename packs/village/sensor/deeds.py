"""Deeds: what a villager does about an action, and why it may not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from packs.village.sensor import climate
from packs.village.sensor.land import (
    COSTS,
    HOMES,
    KINDS,
    RECIPES,
    SQUARE,
    Cell,
    Land,
    closest,
    distance,
    within,
)
from packs.village.sensor.villager import LOAD, Deed, Villager
from packs.village.sensor.wolf import Wolf
from schemas.messages.arms import Action
from schemas.values.ids import draw
from schemas.values.reasons import ReportedOutcome

HEARING = 15
"""How many cells a voice carries."""
RUN = 2.0
"""Cells a second of somebody who runs."""

_BERRY = 0.1
_BITE_S = 5
_DRINKS_S = 0.05
_WAKES_BELOW = 0.1
_DONE: tuple[ReportedOutcome, str] = ("succeeded", "")


class Refused(Exception):
    """The world does not allow it; the text says why."""


@dataclass(slots=True)
class Scene:
    """Everything that a deed may look at and change."""

    seed: str
    land: Land
    people: dict[str, Villager]
    wolf: Wolf | None = None
    meets_until: float = -1.0
    """Until when a meeting goes on at the square."""

    def awake_near(self, one: Villager, at: float, cells: int) -> list[Villager]:
        """Return who else is awake and alive within some cells."""
        here = one.where(at)
        return [
            each
            for each in self.people.values()
            if each is not one and each.died is None and not each.is_asleep
            and distance(each.where(at), here) <= cells
        ]  # fmt: skip


def deed_of(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    """Return how an action is done.

    Raises:
        Refused: it cannot be done.
    """
    do = DEEDS.get(action.type)
    if do is None:
        raise Refused(f"nobody here knows how to {action.type}")
    return do(scene, one, action, at)


def stay(goal: Cell, seconds: float, **more: object) -> Deed:
    """Return the deed of going somewhere and staying for some seconds."""
    return Deed(goal, lambda _: seconds, lambda _: _DONE, **more)  # type: ignore[arg-type]  # a deed's own


def _eat(scene: Scene, one: Villager, _: Action, at: float) -> Deed:
    here = one.where(at)
    goal = here if one.has("berries") else scene.land.nearest("berries", here, at)
    if goal is None:
        raise Refused("there are no berries left")

    def begin(now: float) -> float:
        wanted = max(round((1 - one.level("hunger", now)) / _BERRY), 1)
        own = min(one.has("berries"), wanted)
        one.carries["berries"] = one.has("berries") - own
        bush = scene.land.sources.get(goal)
        found = own or (bush.take(wanted, now) if bush is not None else 0)
        if not found:
            raise Refused("somebody has picked the berries")
        return float(found * _BITE_S)

    return Deed(goal, begin, lambda _: _DONE, rates={"hunger": _BERRY / _BITE_S})


def _drink(scene: Scene, one: Villager, _: Action, at: float) -> Deed:
    def begin(now: float) -> float:
        return max((1 - one.level("thirst", now)) / _DRINKS_S, 1.0)

    bank = scene.land.water(one.where(at))
    return Deed(bank, begin, lambda _: _DONE, rates={"thirst": _DRINKS_S})


def _sleep(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    forced = action.type == "forced_sleep"
    goal = (
        one.where(at) if forced else one.bed or closest(scene.land.fires, one.where(at))
    )

    def begin(now: float) -> float:
        rested = now + (1 - one.level("energy", now)) * 27_000
        if climate.is_dark(now) and not forced:
            day = now // climate.DAY_S + (climate.hour(now) >= 12)
            rested = max(rested, day * climate.DAY_S + 5.5 * climate.HOUR_S)
        return max(min(rested - now, _until_pangs(one, now, forced=forced)), 60.0)

    def finish(now: float) -> tuple[ReportedOutcome, str]:
        if one.level("energy", now) > 0.9 or not climate.is_dark(now):
            return _DONE
        return "failed", "woken by hunger or thirst"

    return Deed(goal or one.where(at), begin, finish, asleep=True)


def _until_pangs(one: Villager, now: float, *, forced: bool) -> float:
    """Return after how many seconds of sleep hunger or thirst wakes somebody."""
    if forced:
        return climate.DAY_S
    hungry = (one.level("hunger", now) - _WAKES_BELOW) * 72_000
    thirsty = (one.level("thirst", now) - _WAKES_BELOW) * 60_000
    return max(min(hungry, thirsty), 0.0)


def _warm_up(scene: Scene, one: Villager, _: Action, at: float) -> Deed:
    return stay(closest(scene.land.fires, one.where(at)) or SQUARE, 1_800)


def _cool_down(scene: Scene, one: Villager, _: Action, at: float) -> Deed:
    return stay(scene.land.water(one.where(at)), 1_200)


def _shelter(scene: Scene, one: Villager, _: Action, at: float) -> Deed:
    house = one.bed or closest(scene.land.houses, one.where(at))
    if house is None:
        raise Refused("there is no house")
    return stay(house, 900)


def _flee(scene: Scene, one: Villager, _: Action, at: float) -> Deed:
    here, wolf = one.where(at), scene.wolf
    if wolf is None:
        raise Refused("there is nothing to flee from")
    away = [(1 if a >= b else -1) * 15 for a, b in zip(here, wolf.cell, strict=True)]
    return stay(within((here[0] + away[0], here[1] + away[1])), 5, speed=RUN)


def _flee_home(scene: Scene, one: Villager, _: Action, at: float) -> Deed:
    if one.bed is None:
        raise Refused(f"{one.name} has no house")
    return stay(one.bed, 300, speed=RUN)


def _wander(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    here, far = one.where(at), 20 if action.type == "explore" else 8
    x, y = (
        round((draw(scene.seed, one.name, f"{at:.3f}", side) * 2 - 1) * far)
        for side in "xy"
    )
    return stay(within((here[0] + x, here[1] + y)), 30)


def _rest(scene: Scene, one: Villager, _: Action, at: float) -> Deed:
    return stay(one.where(at), 300)


def gather(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    """Return the deed of bringing some of a kind.

    Raises:
        Refused: there is none, or nothing more can be carried.
    """
    kind = action.target or "wood"
    if kind not in KINDS:
        raise Refused(f"there is no {kind} to gather")
    told = str(action.params.get("object"))
    named = (cell for cell in scene.land.sources if f"{cell[0]},{cell[1]}" == told)
    goal = next(named, None) or scene.land.nearest(kind, one.where(at), at)
    if goal is None or scene.land.sources[goal].kind != kind:
        raise Refused(f"there is no {kind} left")
    wanted = min(_number(action.params, "amount", 10), 10, LOAD - _load(one))
    if wanted <= 0:
        raise Refused("inventory full")

    def finish(now: float) -> tuple[ReportedOutcome, str]:
        taken = scene.land.sources[goal].take(wanted, now)
        one.amount = taken
        _add(one.carries, {kind: taken})
        return _DONE if taken else ("failed", f"somebody has taken the {kind}")

    return Deed(goal, lambda _: wanted * 5.0, finish)


def _deposit(scene: Scene, one: Villager, _: Action, at: float) -> Deed:
    if not _load(one):
        raise Refused("there is nothing to deposit")

    def finish(now: float) -> tuple[ReportedOutcome, str]:
        _add(scene.land.stores, one.carries)
        one.carries.clear()
        return _DONE

    return Deed(SQUARE, lambda _: 5.0, finish)


def _craft(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    recipe = str(action.params.get("recipe", action.target))
    amount = max(_number(action.params, "amount", 1), 1)
    costs = {thing: n * amount for thing, n in RECIPES.get(recipe, {}).items()}
    if not costs:
        raise Refused(f"nobody knows the recipe {recipe}")

    def begin(_: float) -> float:
        _pay(scene.land, one, costs)
        return amount * 10.0

    def finish(_: float) -> tuple[ReportedOutcome, str]:
        _add(scene.land.stores, {recipe: amount})
        return _DONE

    return Deed(SQUARE, begin, finish)


def _build(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    name = str(action.params.get("building", action.target))
    if name not in COSTS:
        raise Refused(f"nobody can build {name}")
    taken = {cell for _, cell in scene.land.buildings} | set(scene.land.houses)
    spots = (
        (SQUARE[0] + x, SQUARE[1] + y)
        for x in range(-9, 10, 2) for y in range(-9, 10, 2) if x or y
    )  # fmt: skip
    goal = closest((each for each in spots if each not in taken), SQUARE)
    if goal is None:
        raise Refused("there is no room left on the square")

    def begin(_: float) -> float:
        _pay(scene.land, one, COSTS[name])
        return 120.0

    def finish(_: float) -> tuple[ReportedOutcome, str]:
        _stands(scene.land, one, name, goal)
        return _DONE

    return Deed(goal, begin, finish)


def _stands(land: Land, one: Villager, name: str, cell: Cell) -> None:
    land.buildings.append((name, cell))
    if name == "campfire":
        land.fires.append(cell)
    elif name == "well":
        land.wells.append(cell)
    elif name in HOMES and one.bed is None:
        one.bed = cell
        land.houses[cell] = one.name


def _follow(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    whom = neighbour(scene, one, action, at)
    return stay(whom.where(at), 10)


def neighbour(scene: Scene, one: Villager, action: Action, at: float) -> Villager:
    """Return who is meant; whoever is near, if nobody is named.

    Raises:
        Refused: nobody of that name is near.
    """
    name = (action.target or "").strip().casefold()
    near = scene.awake_near(one, at, HEARING)
    found = next((each for each in near if each.name == name or not name), None)
    if found is None:
        raise Refused(f"{action.target or 'nobody'} is not near")
    return found


def answers(scene: Scene, one: Villager, action: Action, at: float) -> None:
    """See whether somebody can be talked to.

    Raises:
        Refused: nobody of that name is near.
    """
    neighbour(scene, one, action, at)


def _pay(land: Land, one: Villager, costs: Mapping[str, int]) -> None:
    """Take what something costs from what is carried, and then from the stores."""
    missing = [
        f"{need - have} {thing}"
        for thing, need in costs.items()
        if (have := one.has(thing) + land.stores.get(thing, 0)) < need
    ]
    if missing:
        raise Refused(f"missing {', '.join(missing)}")
    for thing, need in costs.items():
        own = min(one.has(thing), need)
        _add(one.carries, {thing: -own})
        _add(land.stores, {thing: own - need})


def _add(to: dict[str, int], things: Mapping[str, int]) -> None:
    for thing, number in things.items():
        to[thing] = to.get(thing, 0) + number


def _load(one: Villager) -> int:
    return sum(one.carries.values())


def _number(params: Mapping[str, object], name: str, otherwise: int) -> int:
    value = params.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return otherwise
    return int(min(max(value, -1e6), 1e6))


DEEDS: Mapping[str, Callable[[Scene, Villager, Action, float], Deed]] = {
    "seek_food": _eat,
    "seek_water": _drink,
    "seek_sleep": _sleep,
    "forced_sleep": _sleep,
    "seek_warmth": _warm_up,
    "seek_cooling": _cool_down,
    "seek_shelter": _shelter,
    "flee": _flee,
    "flee_to_home": _flee_home,
    "wander": _wander,
    "explore": _wander,
    "rest": _rest,
    "idle": _rest,
    "gather": gather,
    "deposit_items": _deposit,
    "craft": _craft,
    "build": _build,
    "follow_agent": _follow,
}
