"""Path finding: the next step over the known map toward a target.

Pure functions of an observation, by breadth-first search. The player steps only on ground
that it has seen to be firm, so it never walks into lava.
"""

from collections import deque
from collections.abc import Callable, Collection

from packs.survival.sensor.world import SIZE, WALKABLE, WAYS, Cell, Observation, Way

Action = str
"""One of the game's actions, for example `move_left`."""


def use(see: Observation, targets: Collection[Cell]) -> Action | None:
    """Return the next action toward using one of `targets`: a step, a turn, at last `do`.

    None means that no known way leads there.
    """
    if see.front in targets:
        return "do"
    return _first_step(
        see, lambda cell: _way_beside(cell, targets) is not None, targets
    )


def walk(see: Observation, goal: Cell) -> Action | None:
    """Return the next step toward standing on `goal`; None if no known way leads there."""
    return _first_step(see, lambda cell: cell == goal, ())


def explore(see: Observation) -> Action | None:
    """Return the next step toward the nearest edge of the map; None if there is none."""

    def borders_unknown(cell: Cell) -> bool:
        return any(
            see.chart.at(side) is None and _inside(side) for side in around(cell)
        )

    return _first_step(see, borders_unknown, ())


def pocket(see: Observation, most: int) -> frozenset[Cell]:
    """Return the cells that can be reached from here; the search ends beyond `most`."""
    reached = {see.cell: True}
    waiting = deque([see.cell])
    while waiting and len(reached) <= most:
        for side in around(waiting.popleft()):
            if side not in reached and see.chart.at(side) in WALKABLE:
                reached[side] = True
                waiting.append(side)
    return frozenset(reached)


def away(see: Observation, dangers: Collection[Cell]) -> Action | None:
    """Return the step that leads farthest from `dangers`; None if every side is shut."""
    occupied = {creature.cell for creature in see.creatures}
    open_ways = [
        (way, side)
        for way, side in zip(WAYS, around(see.cell), strict=True)
        if see.chart.at(side) in WALKABLE and side not in occupied
    ]

    def safety(choice: tuple[Way, Cell]) -> tuple[int, int]:
        _, side = choice
        # Of equally distant cells the more open one, so that the
        # player is not cornered next.
        exits = sum(see.chart.at(next_) in WALKABLE for next_ in around(side))
        return min(distance(side, danger) for danger in dangers), exits

    if not dangers or not open_ways:
        return None
    return f"move_{max(open_ways, key=safety)[0]}"


def around(cell: Cell) -> tuple[Cell, ...]:
    """Return the four cells beside a cell, in the order of `WAYS`."""
    return tuple((cell[0] + dx, cell[1] + dy) for dx, dy in WAYS.values())


def distance(one: Cell, other: Cell) -> int:
    """Return the Manhattan distance of two cells, in steps."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _first_step(
    see: Observation, arrived: Callable[[Cell], bool], targets: Collection[Cell]
) -> Action | None:
    """Search breadth-first, straight ahead first, and return the first step of the path."""
    occupied = {creature.cell for creature in see.creatures}
    if arrived(see.cell):
        # The player stands beside the target: a move toward it only turns the player to it.
        way = _way_beside(see.cell, targets)
        return f"move_{way}" if way else None
    # Straight ahead wins among equally short paths, so the player does not zigzag.
    ways = sorted(WAYS, key=lambda way: WAYS[way] != see.facing)
    # By cell: the first step of a shortest path to it; also the cells already visited.
    first: dict[Cell, Way | None] = {see.cell: None}
    waiting = deque([see.cell])
    while waiting:
        cell = waiting.popleft()
        for way in ways:
            side = cell[0] + WAYS[way][0], cell[1] + WAYS[way][1]
            if side in first or side in occupied:
                continue
            if see.chart.at(side) not in WALKABLE:
                continue
            first[side] = first[cell] or way
            if arrived(side):
                return f"move_{first[side]}"
            waiting.append(side)
    return None


def _way_beside(cell: Cell, targets: Collection[Cell]) -> Way | None:
    for way, side in zip(WAYS, around(cell), strict=True):
        if side in targets:
            return way
    return None


def _inside(cell: Cell) -> bool:
    return 0 <= cell[0] < SIZE and 0 <= cell[1] < SIZE
