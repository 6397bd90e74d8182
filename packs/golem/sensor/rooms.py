"""The café: three rooms in a row, what stands in them, and who else uses it.

Positions are metres: x to the east, y to the north.
"""

from dataclasses import dataclass
from math import hypot

from schemas.values.ids import draw

Point = tuple[float, float]

_SIZE: Point = (48.0, 12.0)
_SIGHT_M = 8.0
"""How far off things are near."""
WANDERS_M = 5.0
"""How far a way without an aim leads at most (upstream)."""
_ROOMS = ("cafe", "arcade", "garden")

_GUESTS_S = 300.0
"""How long somebody else stays."""
_TAKEN = {"chair": 0.3, "bench": 0.2, "slot_chair": 0.2, "arcade": 0.25, "claw": 0.25}
"""How likely somebody else is there, by tag."""
_REPAIR_S = 3_600.0
_BROKEN = {"arcade": 0.1, "claw": 0.15}


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that stands there."""

    name: str
    tag: str
    at: Point


THINGS = (
    Thing("chair_1", "chair", (4.0, 3.0)),
    Thing("chair_2", "chair", (6.0, 3.0)),
    Thing("chair_3", "chair", (4.0, 8.0)),
    Thing("chair_4", "chair", (6.0, 8.0)),
    Thing("menu_board", "menu", (10.0, 11.0)),
    Thing("counter", "counter", (12.0, 10.0)),
    Thing("claw_machine", "claw", (17.0, 6.0)),
    Thing("arcade_1", "arcade", (22.0, 2.0)),
    Thing("arcade_2", "arcade", (26.0, 2.0)),
    Thing("slot_chair_1", "slot_chair", (28.0, 9.0)),
    Thing("bench_01", "bench", (35.0, 6.0)),
    Thing("bench_02", "bench", (40.0, 3.0)),
    Thing("garden_bench", "bench", (44.0, 9.0)),
)
START: Point = (8.0, 6.0)


def apart(one: Point, other: Point) -> float:
    """Return the distance of two points."""
    return hypot(one[0] - other[0], one[1] - other[1])


def room(at: Point) -> str:
    """Return the room in which a point is."""
    return _ROOMS[min(int(at[0] / _SIZE[0] * len(_ROOMS)), len(_ROOMS) - 1)]


def near(at: Point) -> list[Thing]:
    """Return what is near, nearest first."""
    seen = [each for each in THINGS if apart(each.at, at) <= _SIGHT_M]
    return sorted(seen, key=lambda each: (apart(each.at, at), each.name))


def named(name: str) -> Thing | None:
    """Return what is called so, else the first whose name holds it, in any case."""
    asked = name.casefold()
    whole = [each for each in THINGS if each.name == asked]
    found = whole or [each for each in THINGS if asked and asked in each.name]
    return found[0] if found else None


def within(x: float, y: float) -> Point:
    """Return the nearest point that is not outside."""
    return min(max(x, 0.0), _SIZE[0]), min(max(y, 0.0), _SIZE[1])


def hindrance(seed: str, thing: Thing, at: float) -> str | None:
    """Return why something cannot be used at a time; None if it can."""
    if _drawn(seed, thing, at, _REPAIR_S) < _BROKEN.get(thing.tag, 0.0):
        return f"{thing.name} is out of order"
    if _drawn(seed, thing, at, _GUESTS_S) < _TAKEN.get(thing.tag, 0.0):
        return f"{thing.name} is taken"
    return None


def _drawn(seed: str, thing: Thing, at: float, span_s: float) -> float:
    return draw(seed, thing.name, str(int(at // span_s)), f"hindered {span_s:g}")
