"""The goal of being safe in the dark: two cells of solid stone, closed from inside.

In this game a player can wall off only the cell it faces, and turning toward open ground
walks onto it. So it digs two cells deep, steps back once, which turns it to the entrance,
and closes that.
"""

from collections.abc import Mapping

from packs.survival.sensor.ends import Goal, failed, succeeded
from packs.survival.sensor.routes import Action, around, pocket, walk
from packs.survival.sensor.world import WALKABLE, WAYS, Cell, Observation, Way


def shelter(see: Observation) -> Goal:
    """Dig two cells into solid stone and close the way in behind."""
    if not see.inventory["wood_pickaxe"]:
        return failed("no pickaxe to dig a shelter with")
    site = _site(see)
    if site is None:
        return failed("no solid stone in reach to shelter in")
    entry, way, back = site
    while see.cell != entry:
        action = walk(see, entry)
        if action is None:
            return failed("no way to the stone")
        see = yield action
    # Turn, dig, step in, dig, step on, step back (which turns to the entrance), close.
    for action in (way, "do", way, "do", way, back, "place_stone"):
        see = yield action
    if sheltered(see):
        return succeeded("shut in by stone on every side")
    return failed("the shelter has a gap")


def sheltered(see: Observation) -> bool:
    """Tell whether the player stands in a closed room of at most two cells."""
    # Three cells are enough to know that the room is too large.
    return len(pocket(see, 3)) <= 2


def _site(see: Observation) -> tuple[Cell, Action, Action] | None:
    """Return the nearest place to stand, the way to dig, and the way back; None if none."""
    sites = [
        (abs(x - see.cell[0]) + abs(y - see.cell[1]), entry, way)
        for x, y in sorted(see.chart.find("stone"))
        for way in WAYS
        if _solid(see, entry := (x - WAYS[way][0], y - WAYS[way][1]), way)
    ]
    # Nearest first, so the path search mostly runs once.
    for _, entry, way in sorted(sites):
        if see.cell == entry or walk(see, entry) is not None:
            return entry, f"move_{way}", f"move_{_OPPOSITE[way]}"
    return None


def _solid(see: Observation, entry: Cell, way: Way) -> bool:
    """Tell whether two cells of stone, walled all round, lie ahead of open ground."""
    dx, dy = WAYS[way]
    first = entry[0] + dx, entry[1] + dy
    second = first[0] + dx, first[1] + dy
    walls = [
        cell
        for cell in (*around(first), *around(second))
        if cell not in (entry, first, second)
    ]
    return (
        see.chart.at(entry) in WALKABLE
        and see.chart.at(first) == see.chart.at(second) == "stone"
        and all(see.chart.at(wall) not in _OPEN for wall in walls)
    )


# What would leave a gap: ground to walk on, lava, and what was never seen.
_OPEN = (*WALKABLE, "lava", None)
_OPPOSITE: Mapping[Way, Way] = {
    "left": "right",
    "right": "left",
    "up": "down",
    "down": "up",
}
