"""A wolf that comes once a day, after noon, and bites who is in the open."""

from dataclasses import dataclass

from packs.village.sensor.land import SIZE, Cell, distance
from schemas.values.ids import draw

_SCARES = 10
"""Within how many cells it frightens whoever sees it."""
_STAYS_S = 300.0
BITE = 0.25
"""By how much health falls."""

_EARLIEST_S, _LATEST_S = 14 * 3_600.0, 23 * 3_600.0


@dataclass(slots=True)
class Wolf:
    """Where it is; a step a second."""

    cell: Cell
    leaves: float

    def step(self, to: Cell) -> None:
        """Go one cell towards a prey."""
        dx, dy = to[0] - self.cell[0], to[1] - self.cell[1]
        if abs(dx) >= abs(dy) and dx:
            self.cell = self.cell[0] + (1 if dx > 0 else -1), self.cell[1]
        elif dy:
            self.cell = self.cell[0], self.cell[1] + (1 if dy > 0 else -1)

    def frightens(self, cell: Cell) -> bool:
        """Tell whether somebody in a cell fears it."""
        return distance(self.cell, cell) <= _SCARES


def comes_at(seed: str, day: int) -> float:
    """Return when it comes on a day, in seconds since the first midnight."""
    late = draw(seed, "wolf", str(day), "when")
    return day * 86_400.0 + _EARLIEST_S + round(late * (_LATEST_S - _EARLIEST_S))


def arriving(seed: str, at: float) -> Wolf:
    """Return the wolf as it comes out of the forest."""
    y = int(draw(seed, "wolf", str(int(at)), "where") * SIZE)
    return Wolf((SIZE - 1, y), at + _STAYS_S)
