"""The goals that advice can ask for, each played over several seconds of the game.

A goal is a generator: it is sent observations, yields the next action, and returns how it
ended. It depends on nothing but what it is sent.
"""

from collections.abc import Callable, Mapping

from packs.survival.sensor.ends import End, Goal, failed, succeeded
from packs.survival.sensor.routes import away, explore, use
from packs.survival.sensor.shelter import shelter
from packs.survival.sensor.world import HOSTILE, WALKABLE, Cell, Observation

_FULL = 9
"""The most a vital or an item can count."""

_SAFE_DISTANCE = 7
"""So many steps from a hostile creature count as escaped."""


def drink(see: Observation) -> Goal:
    """Find water and drink until the thirst is gone."""
    while see.vitals["drink"] < _FULL:
        action = use(see, see.chart.find("water")) or explore(see)
        if action is None:
            return failed("there is no way to any water")
        see = yield action
    return succeeded("drank their fill")


def _hunt(see: Observation) -> Goal:
    """Find a cow, kill it and eat it."""
    food = see.vitals["food"]
    while see.vitals["food"] <= food:
        cow = see.nearest("cow")
        action = (use(see, {cow.cell}) if cow else None) or explore(see)
        if action is None:
            return failed("no cow can be reached")
        # Hunger goes on meanwhile: a meal shows as a rise over the lowest value so far.
        food = min(food, see.vitals["food"])
        see = yield action
    return succeeded("caught and ate a cow")


def _eat_plant(see: Observation) -> Goal:
    """Eat a plant that is ripe."""
    food = see.vitals["food"]
    while see.vitals["food"] <= food:
        plant = see.nearest("ripe_plant")
        action = use(see, {plant.cell}) if plant else None
        if action is None:
            return failed("no ripe plant can be reached")
        food = min(food, see.vitals["food"])
        see = yield action
    return succeeded("ate a ripe plant")


def sleep(see: Observation) -> Goal:
    """Lie down and sleep until some strength is back."""
    energy = see.vitals["energy"]
    if energy >= _FULL:
        return failed("not tired")
    see = yield "sleep"
    while see.sleeping and see.vitals["energy"] <= energy:
        see = yield "sleep"
    if see.vitals["energy"] > energy:
        return succeeded("slept and gained strength")
    return failed("woken before the sleep did any good")


def fight(see: Observation, kind: str) -> Goal:
    """Hunt down the nearest creature of a hostile kind."""
    victory = f"defeat_{kind}"
    # The game counts victories, and does not say which creature fell.
    wins = see.achievements.get(victory, 0)
    while see.achievements.get(victory, 0) == wins:
        enemy = see.nearest(kind)
        action = use(see, {enemy.cell}) if enemy else None
        if action is None:
            # Not failed: an enemy that got away says nothing against the advice,
            # and "cancelled" credits nobody.
            return End("cancelled", f"the {kind} is out of reach")
        see = yield action
    return succeeded(f"defeated the {kind}")


def retreat(see: Observation) -> Goal:
    """Run until every hostile creature is far away, unhurt."""
    health = see.vitals["health"]
    while near := _hostile_within(see, _SAFE_DISTANCE):
        action = away(see, near)
        if action is None:
            return failed("cornered")
        see = yield action
        if see.vitals["health"] < health:
            return failed("hurt on the run")
    return succeeded("got away")


def gather(see: Observation, item: str, count: int) -> Goal:
    """Collect an item until `count` more are in the bag."""
    # The game holds no more than 9 of an item: a larger wish could never be met.
    wanted = min(_FULL, see.inventory[item] + max(1, count))
    tool = _TOOLS.get(item)
    if tool is not None and not see.inventory[tool]:
        return failed(f"no {_plain(tool)} to collect {item} with")
    while see.inventory[item] < wanted:
        action = use(see, see.chart.find(_GROUNDS[item])) or explore(see)
        if action is None:
            return failed(f"no {item} can be reached")
        see = yield action
    return succeeded(f"collected {item}")


def place(see: Observation, thing: str) -> Goal:
    """Put a thing on the cell in front, stepping about until one is free."""
    achieved = f"place_{thing}"
    before = see.achievements[achieved]
    for _ in range(_TRIES):
        if _fits(see, thing):
            see = yield achieved
            break
        action = explore(see) or "noop"
        see = yield action
    if see.achievements[achieved] > before:
        return succeeded(f"placed a {thing}")
    return failed(f"could not place a {thing}, for want of material or room")


def make(see: Observation, tool: str) -> Goal:
    """Make a tool beside a table, placing the table first if none is known."""
    if not see.chart.find("table"):
        end = yield from place(see, "table")
        if end.outcome != "succeeded":
            return end
        # `place` keeps its last observation to itself; a step without
        # action shows the table on the map.
        see = yield "noop"
    while not _beside_table(see):
        action = use(see, see.chart.find("table"))
        if action is None:
            return failed("no way to the table")
        see = yield action
    before = see.inventory[tool]
    see = yield f"make_{tool}"
    if see.inventory[tool] > before:
        return succeeded(f"made a {_plain(tool)}")
    return failed(f"could not make a {_plain(tool)}, for want of material")


def begin(see: Observation, type_: str, target: str, count: int) -> Goal | None:
    """Return the goal for an advised action; None if the player knows no such action."""
    plain = _PLAIN.get((type_, target))
    if plain is not None:
        return plain(see)
    if type_ == "fight" and target in HOSTILE:
        return fight(see, target)
    if type_ == "gather" and target in _GROUNDS:
        return gather(see, target, count)
    if type_ == "place" and target in _PLACEABLE:
        return place(see, target)
    # Only tools have an underscore in their names; materials cannot be made.
    if type_ == "make" and target in see.inventory and "_" in target:
        return make(see, target)
    return None


def _hostile_within(see: Observation, steps: int) -> tuple[Cell, ...]:
    return tuple(
        creature.cell
        for creature in see.creatures
        if creature.kind in HOSTILE and creature.distance < steps
    )


def _fits(see: Observation, thing: str) -> bool:
    occupied = any(creature.cell == see.front for creature in see.creatures)
    return not occupied and see.chart.at(see.front) in _PLACEABLE[thing]


def _beside_table(see: Observation) -> bool:
    x, y = see.cell
    # The game lets a tool be made with a table within one cell, diagonals included.
    square = [(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    return any(see.chart.at(cell) == "table" for cell in square)


def _plain(token: str) -> str:
    return token.replace("_", " ")


_TRIES = 8
_GROUNDS = {
    "wood": "tree",
    "sapling": "grass",
    "stone": "stone",
    "coal": "coal",
    "iron": "iron",
    "diamond": "diamond",
}
_TOOLS = {
    "stone": "wood_pickaxe",
    "coal": "wood_pickaxe",
    "iron": "stone_pickaxe",
    "diamond": "iron_pickaxe",
}
_PLACEABLE = {
    "stone": (*WALKABLE, "water", "lava"),
    "table": WALKABLE,
    "furnace": WALKABLE,
    "plant": ("grass",),
}
_PLAIN: Mapping[tuple[str, str], Callable[[Observation], Goal]] = {
    ("seek", "water"): drink,
    ("hunt", "cow"): _hunt,
    ("eat", "plant"): _eat_plant,
    ("rest", "sleep"): sleep,
    ("retreat", "zombie"): retreat,
    ("retreat", "skeleton"): retreat,
    ("seek", "shelter"): shelter,
}
