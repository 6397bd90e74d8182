"""Crafter behind a small typed interface: actions in, observations out, life after life.

The same seed and actions make the same world in any process, which the game alone does not
ensure. It moves creatures in the order of a set, that is of memory addresses: here they
keep the order of insertion. And it draws the noise of the night from the world's random
numbers each time it renders: here nothing is rendered. Still, a replay reads the recording
and never simulates the game again.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import crafter  # type: ignore[import-untyped]  # the game ships no types
from crafter import constants

Cell = tuple[int, int]
"""Columns to the east and rows to the south, from the north-west corner."""

SIZE = 64
"""The world is a square of so many cells a side."""

VIEW: Cell = (4, 3)
"""How far the player sees to each side: columns, rows."""

_MARGIN = 2
"""How many cells beyond the view a creature is followed once noticed, so that one at the
edge does not appear and vanish with every step."""

VITALS = ("health", "food", "drink", "energy")
WALKABLE = ("grass", "sand", "path")
HOSTILE = ("zombie", "skeleton")

Way = Literal["left", "right", "up", "down"]
WAYS: Mapping[Way, Cell] = {
    "left": (-1, 0),
    "right": (1, 0),
    "up": (0, -1),
    "down": (0, 1),
}


@dataclass(frozen=True, slots=True)
class Chart:
    """The map of what the player has seen in this life."""

    cells: bytes
    """One byte a cell, column by column; 0 where nothing was seen."""

    def at(self, cell: Cell) -> str | None:
        """Return what covers a cell; None if it is unseen or lies outside the world."""
        x, y = cell
        if not (0 <= x < SIZE and 0 <= y < SIZE):
            return None
        return _MATERIALS[self.cells[x * SIZE + y]]

    def find(self, material: str) -> frozenset[Cell]:
        """Return every cell known to be covered with `material`."""
        wanted = _MATERIALS.index(material)
        return frozenset(
            divmod(place, SIZE)
            for place, kind in enumerate(self.cells)
            if kind == wanted
        )


@dataclass(frozen=True, slots=True)
class Creature:
    """A living thing that the player notices, or an arrow in flight."""

    number: int
    """The same thing keeps its number for the whole life."""
    kind: str
    cell: Cell
    dx: int
    """Cells to the east of the player."""
    dy: int
    """Cells to the south of the player."""

    @property
    def distance(self) -> int:
        """Steps from the player to it."""
        return abs(self.dx) + abs(self.dy)


@dataclass(frozen=True, slots=True)
class Observation:
    """What the player knows at one moment."""

    step: int
    """Steps since the session began, over all lives."""
    life: int
    """Counts from 1."""
    alive: bool
    sleeping: bool
    daylight: float
    """0 night to 1 noon."""
    vitals: Mapping[str, int]
    """Each of `VITALS`, 0 to 9."""
    inventory: Mapping[str, int]
    achievements: Mapping[str, int]
    """How often each was reached in this life."""
    cell: Cell
    facing: Cell
    chart: Chart
    creatures: tuple[Creature, ...]

    @property
    def front(self) -> Cell:
        """The cell that the player faces."""
        return self.cell[0] + self.facing[0], self.cell[1] + self.facing[1]

    def nearest(self, *kinds: str) -> Creature | None:
        """Return the closest creature of some kinds."""
        found = [creature for creature in self.creatures if creature.kind in kinds]
        return min(found, key=lambda each: (each.distance, each.number), default=None)


class World:
    """A game that is being played."""

    def __init__(self, seed: int) -> None:
        self._env = _Unpainted(seed=seed)
        self._step = 0
        self._life = 0
        self.begin_life()

    def begin_life(self) -> None:
        """Start over in a new land."""
        self._env.reset()
        self._life += 1
        self._seen = bytearray(SIZE * SIZE)
        self._numbers: dict[object, int] = {}
        self._noticed: dict[int, bool] = {}
        self._look()

    def step(self, action: str) -> None:
        """Let one second pass, in which the player does `action`."""
        self._step += 1
        self._env.step(constants.actions.index(action))
        self._look()

    def observe(self) -> Observation:
        """Return what the player knows now."""
        player = self._env._player
        counts = {name: int(count) for name, count in player.inventory.items()}
        return Observation(
            step=self._step,
            life=self._life,
            alive=counts["health"] > 0,
            sleeping=bool(player.sleeping),
            daylight=float(self._env._world.daylight),
            vitals={name: counts.pop(name) for name in VITALS},
            inventory=counts,
            achievements={k: int(v) for k, v in player.achievements.items()},
            cell=_cell(player.pos),
            facing=_cell(player.facing),
            chart=Chart(bytes(self._seen)),
            creatures=self._creatures,
        )

    def _look(self) -> None:
        self._draw_chart()
        here = self._env._player
        noticed = []
        for thing in self._env._world.objects:
            if thing is not here:
                noticed += self._notice(thing, _cell(here.pos))
        self._noticed = {creature.number: True for creature in noticed}
        self._creatures = tuple(noticed)

    def _draw_chart(self) -> None:
        # The game holds the whole map; only what is in view is copied.
        ground = self._env._world._mat_map
        x, y = _cell(self._env._player.pos)
        top, bottom = max(0, y - VIEW[1]), min(SIZE, y + VIEW[1] + 1)
        for column in range(max(0, x - VIEW[0]), min(SIZE, x + VIEW[0] + 1)):
            seen = ground[column, top:bottom].tobytes()
            self._seen[column * SIZE + top : column * SIZE + bottom] = seen

    def _notice(self, thing: Any, here: Cell) -> list[Creature]:
        cell = _cell(thing.pos)
        dx, dy = cell[0] - here[0], cell[1] - here[1]
        # By the object and not its id(), which another could get once this one is gone.
        number = self._numbers.setdefault(thing, len(self._numbers) + 1)
        margin = _MARGIN if number in self._noticed else 0
        if abs(dx) > VIEW[0] + margin or abs(dy) > VIEW[1] + margin:
            return []
        kind = type(thing).__name__.lower()
        ripe = kind == "plant" and thing.ripe
        return [Creature(number, "ripe_plant" if ripe else kind, cell, dx, dy)]


class _Unpainted(crafter.Env):  # type: ignore[misc]  # its base has no types
    """The game without rendering, its creatures in the order of insertion."""

    def reset(self) -> None:
        # The game makes its sets anew within `reset`, right before it fills them: the only
        # moment to put others in their place is between the two.
        original = self._world.reset

        def reset_in_order(seed: int | None = None) -> None:
            original(seed)
            self._world._chunks = defaultdict(_InOrder)

        self._world.reset = reset_in_order
        super().reset()
        self._world.reset = original

    def _obs(self) -> None:
        return None


class _InOrder(dict[object, None]):
    """The part of a set's interface that the game uses, in the order of insertion."""

    def add(self, thing: object) -> None:
        self[thing] = None

    def remove(self, thing: object) -> None:
        del self[thing]


def _cell(pair: Any) -> Cell:
    return int(pair[0]), int(pair[1])


# By the game's own numbers, which count from 1; 0 is a cell that was never seen.
_MATERIALS: tuple[str | None, ...] = (None, *constants.materials)
