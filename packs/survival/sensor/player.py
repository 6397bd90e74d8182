"""The scripted player: a novice who wanders and gathers, and neglects its needs.

A pure policy over an observation and a seed. It neither drinks nor eats nor sleeps on
purpose, so that what advice achieves can be measured.
"""

from packs.survival.sensor.routes import Action, explore, use
from packs.survival.sensor.shelter import sheltered
from packs.survival.sensor.world import HOSTILE, WALKABLE, WAYS, Observation, Way
from schemas.values.ids import draw

_DARK = 0.3
"""Below this daylight it is night; whoever is shut in stays in."""


def wander(see: Observation, seed: str) -> Action:
    """Return what the player does of its own accord."""
    if see.sleeping or (see.daylight < _DARK and sheltered(see)):
        return "noop"
    return _strike_back(see) or _gather(see) or _stroll(see, seed)


def _strike_back(see: Observation) -> Action | None:
    struck = any(
        creature.cell == see.front and creature.kind in HOSTILE
        for creature in see.creatures
    )
    return "do" if struck else None


def _gather(see: Observation) -> Action | None:
    """Return the next action toward an item nearby of which there is not yet enough."""
    for item, ground, tool, enough in _WANTED:
        if see.inventory[item] >= enough or (tool and not see.inventory[tool]):
            continue
        close = {
            cell
            for cell in see.chart.find(ground)
            if abs(cell[0] - see.cell[0]) + abs(cell[1] - see.cell[1]) <= _CLOSE
        }
        action = use(see, close) if close else None
        if action is not None:
            return action
    return None


def _stroll(see: Observation, seed: str) -> Action:
    """Walk one way for a while, then another; explore where the way is blocked.

    The way is drawn anew every `_PATIENCE` steps.
    """
    # One draw for each stretch, keyed by its number: no state, and the same walk each time.
    turn = f"{see.life}/{see.step // _PATIENCE}"
    ways: list[Way] = sorted(WAYS)
    way = ways[int(draw(seed, "player", turn, "stroll") * len(ways))]
    ahead = see.cell[0] + WAYS[way][0], see.cell[1] + WAYS[way][1]
    blocked = any(creature.cell == ahead for creature in see.creatures)
    if see.chart.at(ahead) in WALKABLE and not blocked:
        return f"move_{way}"
    # Shut in at the end of the night: digging is the only way out.
    if sheltered(see):
        return "do" if see.inventory["wood_pickaxe"] else "noop"
    return explore(see) or "noop"


# In steps: how far away an item may lie, and how long one way is kept.
_CLOSE = 4
_PATIENCE = 14
_WANTED = (
    ("wood", "tree", None, 4),
    ("stone", "stone", "wood_pickaxe", 5),
    ("coal", "coal", "wood_pickaxe", 2),
    ("iron", "iron", "stone_pickaxe", 1),
)
"""Item, where it is found, the tool it takes, and how many are enough."""
