"""The land: a square of cells with what grows on it, houses, fires and named places."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml import YAML

from schemas.values.ids import draw

Cell = tuple[int, int]

SIZE = 48
"""Cells a side; one is about a metre."""
SQUARE: Cell = (24, 24)
"""Where the fire burns and the stores are."""
_RIVER_X = 8
_LAKE_SIDE: Cell = (_RIVER_X, 12)


@dataclass(frozen=True, slots=True)
class Kind:
    """Something that is gathered: how much of it one place holds, and what it grows back."""

    places: int
    full: int
    regrows_s: float


KINDS: Mapping[str, Kind] = {
    "berries": Kind(places=24, full=12, regrows_s=1_200),
    "wood": Kind(places=40, full=20, regrows_s=7_200),
    "stone": Kind(places=16, full=60, regrows_s=86_400),
    "leaves": Kind(places=20, full=10, regrows_s=3_600),
    "plant_fiber": Kind(places=20, full=10, regrows_s=3_600),
}

_PACK = Path(__file__).parents[1] / "manifest.yaml"
# What things take is the pack's to say: its minds plan by the same numbers.
_TACTICS = YAML(typ="safe").load(_PACK)["mind"]["tactics"]
COSTS: Mapping[str, Mapping[str, int]] = {
    name: each["costs"] for name, each in _TACTICS["buildings"].items()
}
"""What buildings take."""
RECIPES: Mapping[str, Mapping[str, int]] = {
    name: each["takes"] for name, each in _TACTICS["recipes"].items()
}
"""What one of a recipe takes."""
HOMES = ("tent", "lean-to", "bed")
"""Buildings in which somebody without a bed may sleep from then on."""


@dataclass(slots=True)
class Source:
    """One place where something grows: how much of it was there at a time."""

    kind: str
    amount: int
    at: float = 0.0

    def now(self, at: float) -> int:
        """Return how much is there at a time."""
        kind = KINDS[self.kind]
        return min(self.amount + int((at - self.at) / kind.regrows_s), kind.full)

    def take(self, wanted: int, at: float) -> int:
        """Take what is wanted, or as much as there is; return how much that was."""
        here = self.now(at)
        taken = min(wanted, here)
        self.amount, self.at = here - taken, at
        return taken


@dataclass(slots=True)
class Land:
    """What stands where; it changes as villagers gather and build."""

    sources: dict[Cell, Source]
    houses: dict[Cell, str] = field(default_factory=dict)
    """Whose bed stands in each."""
    fires: list[Cell] = field(default_factory=lambda: [SQUARE])
    wells: list[Cell] = field(default_factory=lambda: [_LAKE_SIDE])
    buildings: list[tuple[str, Cell]] = field(default_factory=list)
    stores: dict[str, int] = field(default_factory=dict)
    """What lies in the village's stores, for all."""
    _by_distance: dict[tuple[str, Cell], list[Cell]] = field(default_factory=dict)
    """The places of a kind from a cell on, the nearest first; no place comes or goes."""

    def nearest(self, kind: str, to: Cell, at: float) -> Cell | None:
        """Return the nearest place where something of a kind is left."""
        by_distance = self._by_distance.get((kind, to))
        if by_distance is None:
            # Looked for far more often than anything stands elsewhere than before.
            cells = [cell for cell in self.sources if self.sources[cell].kind == kind]
            by_distance = sorted(cells, key=lambda cell: (distance(cell, to), cell))
            self._by_distance[kind, to] = by_distance
        left = (cell for cell in by_distance if self.sources[cell].now(at) > 0)
        return next(left, None)

    def water(self, to: Cell) -> Cell:
        """Return the nearest bank of the river, or a well."""
        banks = [(_RIVER_X, to[1]), *self.wells]
        return min(banks, key=lambda cell: (distance(cell, to), cell))

    def home_of(self, name: str) -> Cell | None:
        """Return where somebody's bed stands."""
        return next(
            (cell for cell, whose in self.houses.items() if whose == name), None
        )

    def place_name(self, cell: Cell) -> str:
        """Return what the villagers call a place."""
        if cell in self.houses:
            return f"{self.houses[cell].capitalize()}'s house"
        if cell[0] <= _RIVER_X + 2:
            return "the river"
        if distance(cell, SQUARE) <= 6:
            return "the square"
        return "the forest" if cell[0] > SIZE // 2 else "the meadow"


def made(seed: str, housed: Iterable[str]) -> Land:
    """Return the land of a seed, with a house for each of `housed` round the square."""
    land = Land({})
    for number, name in enumerate(housed):
        cell = (SQUARE[0] - 6 + 4 * (number % 4), SQUARE[1] - 4 + 8 * (number // 4))
        land.houses[cell] = name
    for kind, told in KINDS.items():
        for number in range(told.places):
            x = _RIVER_X + 3 + int(draw(seed, kind, str(number), "x") * (SIZE - 12))
            y = int(draw(seed, kind, str(number), "y") * SIZE)
            if (x, y) not in land.houses and (x, y) != SQUARE:
                land.sources[x, y] = Source(kind, told.full)
    return land


def distance(a: Cell, b: Cell) -> int:
    """Return how many steps it is from one cell to another."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def closest(cells: Iterable[Cell], to: Cell) -> Cell | None:
    """Return the nearest of some cells; of equally near ones the first in order."""
    return min(cells, key=lambda cell: (distance(cell, to), cell), default=None)


def within(cell: Cell) -> Cell:
    """Return a cell, moved onto the land if it lies beside it."""
    return min(max(cell[0], 0), SIZE - 1), min(max(cell[1], 0), SIZE - 1)
