"""A villager: its needs, which change evenly, and the one thing that it is doing."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from packs.village.sensor.land import Cell, within
from schemas.messages.arms import Action
from schemas.values.exact_math import clamp
from schemas.values.ids import draw
from schemas.values.reasons import ReportedOutcome

NEEDS = ("hunger", "thirst", "energy", "company", "health")
"""All as satisfaction, 0 to 1."""
TRAITS = (
    "openness",
    "conscientiousness",
    "extraversion",
    "agreeableness",
    "neuroticism",
)
PEOPLE: Mapping[str, tuple[float, ...]] = {
    "aria": (0.8, 0.5, 0.9, 0.6, 0.3),
    "bram": (0.4, 0.8, 0.2, 0.5, 0.4),
    "cora": (0.6, 0.6, 0.5, 0.8, 0.2),
    "dara": (0.9, 0.3, 0.7, 0.4, 0.6),
    "emil": (0.3, 0.7, 0.3, 0.7, 0.5),
    "luna": (0.7, 0.4, 0.6, 0.9, 0.7),
}
"""Who lives here, with their `TRAITS`: two are over .6, two under .4, two between."""
SKILLS: Mapping[str, Mapping[str, int]] = {
    "aria": {"building": 1, "research": 1},
    "bram": {"building": 1, "farming": 1},
    "cora": {"cooking": 1, "farming": 1},
    "dara": {"animal": 2, "combat": 1},
    "emil": {"building": 1, "combat": 1},
    "luna": {"animal": 2, "research": 1},
}
"""What each has learnt; strangers know how to build."""
URGES: Mapping[str, str] = {
    "aria": "to be where the others are",
    "bram": "to leave something that lasts",
    "cora": "to see everybody fed",
    "dara": "to find out what lies beyond the forest",
    "emil": "to be left in peace",
    "luna": "to be of use to somebody",
}
"""What moves each, without their knowing it."""
HOMELESS = ("emil",)
"""Who sleeps by the fire."""

AWAKE: Mapping[str, float] = {
    "hunger": -1 / 36_000, "thirst": -1 / 25_000, "energy": -1 / 79_200,
    "company": -1 / 40_000, "health": 1 / 28_800,
}  # fmt: skip
"""By how much each changes a second."""
ASLEEP: Mapping[str, float] = {
    "hunger": -1 / 72_000, "thirst": -1 / 60_000, "energy": 1 / 27_000, "company": 0.0,
}  # fmt: skip
STARVING = -1 / 14_400
"""Health, a second, without food or water, or in dangerous heat or cold."""
LOAD = 20
"""How many things somebody carries."""
_REMEMBERED = 64


@dataclass(slots=True)
class _Quantity:
    """A need: its level at a time, and how it changes from there."""

    level: float
    at: float
    rate: float = 0.0

    def now(self, at: float) -> float:
        """Return its level, 0 to 1."""
        return clamp(self.level + self.rate * (at - self.at), 0.0, 1.0)

    def change(self, at: float, *, by: float = 0.0, rate: float | None = None) -> None:
        """Move its level, or let it change otherwise from here."""
        self.level, self.at = clamp(self.now(at) + by, 0.0, 1.0), at
        self.rate = self.rate if rate is None else rate

    def reaches(self, limit: float) -> float | None:
        """Return when it is at a level; None if never."""
        return self.at + (limit - self.level) / self.rate if self.rate else None


@dataclass(frozen=True, slots=True)
class Deed:
    """How an action is done: where to, how fast, for how long, and what comes of it."""

    goal: Cell
    begin: Callable[[float], float]
    """Called on arrival: for how many seconds it is worked at; may refuse."""
    finish: Callable[[float], tuple[ReportedOutcome, str]]
    speed: float = 1.0
    rates: Mapping[str, float] = field(default_factory=dict)
    """How needs change while it is worked at."""
    asleep: bool = False


@dataclass(slots=True)
class Task:
    """A deed under way."""

    decision_id: str
    action: Action
    deed: Deed
    start: Cell
    began: float
    ends: float | None = None
    """Once it is worked at."""

    @property
    def turns(self) -> float:
        """When it is as far east or west as it goes."""
        return self.began + abs(self.deed.goal[0] - self.start[0]) / self.deed.speed

    @property
    def arrives(self) -> float:
        """When the work begins."""
        return self.turns + abs(self.deed.goal[1] - self.start[1]) / self.deed.speed

    def where(self, at: float) -> Cell:
        """Return where its doer is: first along one side of the land, then the other."""
        goal, start = self.deed.goal, self.start
        east = _moved(start[0], goal[0], (min(at, self.turns) - self.began), self.deed)
        south = _moved(start[1], goal[1], at - self.turns, self.deed)
        return east, south

    def pace(self, at: float) -> tuple[float, float]:
        """Return by how many cells a second its doer goes east and south."""
        goal, start, speed = self.deed.goal, self.start, self.deed.speed
        if at < self.turns:
            return (speed if goal[0] > start[0] else -speed), 0.0
        if at < self.arrives:
            return 0.0, (speed if goal[1] > start[1] else -speed)
        return 0.0, 0.0

    def next_at(self, at: float) -> float:
        """Return when something about it changes next."""
        if self.ends is not None:
            return self.ends
        return self.turns if at < self.turns else self.arrives


def _moved(start: int, goal: int, seconds: float, deed: Deed) -> int:
    # A billionth more, so that whole seconds at whole speeds are whole cells.
    steps = min(int(max(seconds, 0.0) * deed.speed + 1e-9), abs(goal - start))
    return start + (steps if goal > start else -steps)


@dataclass(slots=True)
class Villager:
    """Somebody who lives here; each is an agent of its own."""

    name: str
    traits: Mapping[str, float]
    cell: Cell
    bed: Cell | None
    bedtime_h: float
    needs: dict[str, _Quantity]
    task: Task | None = None
    carries: dict[str, int] = field(default_factory=dict)
    obeyed: deque[str] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    """Decisions that were obeyed: what is delivered twice is done once."""
    talked_at: float | None = None
    heard: str = ""
    """What was said to it last."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """What its mind was told last."""
    told_at: float = -1e9
    died: str | None = None
    amount: int | None = None
    """How much its last deed brought, until that is reported."""

    def where(self, at: float) -> Cell:
        """Return where it is."""
        return self.task.where(at) if self.task is not None else self.cell

    @property
    def is_asleep(self) -> bool:
        """Whether it sleeps."""
        task = self.task
        return task is not None and task.deed.asleep and task.ends is not None

    def level(self, need: str, at: float) -> float:
        """Return a need, 0 to 1."""
        return self.needs[need].now(at)

    def has(self, thing: str) -> int:
        """Return how many of something it carries."""
        return self.carries.get(thing, 0)


def born(seed: str, name: str, at: float, bed: Cell | None, cell: Cell) -> Villager:
    """Return a villager as the world begins."""
    traits = PEOPLE.get(name) or tuple(
        round(draw(seed, name, t, "trait"), 2) for t in TRAITS
    )
    levels = {
        "hunger": 0.7,
        "thirst": 0.75,
        "energy": 0.95,
        "company": 0.6,
        "health": 1.0,
    }
    needs = {
        each: _Quantity(round(levels[each] - 0.1 * draw(seed, name, each, "born"), 3)
                       if each != "health" else 1.0, at, AWAKE[each])
        for each in NEEDS
    }  # fmt: skip
    late = 21.5 + 1.5 * traits[2]
    return Villager(
        name, dict(zip(TRAITS, traits, strict=True)), within(cell), bed, late, needs
    )
