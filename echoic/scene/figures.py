"""A figure: one character as it is to be drawn, and what its body's reports tell of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from string import ascii_uppercase, digits
from typing import Literal

from schemas.packs.characters import CharacterMind, Map

_FAR = 1e6
"""No position is further off from 0: a place beyond is nonsense, and would hide all others."""

_WORDS = 200
"""How many characters of a place's or a weather's name are kept."""

_NAMELESS = "•"
"""The mark of those for whom no letter is left."""
_MARKS = ascii_uppercase + digits + ascii_uppercase.lower()

_INDEX = re.compile(r"-?[0-9]{1,3}")

Kind = Literal["does", "says", "ends", "fails", "plans", "talks", "is"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something that happened to a character, in words."""

    at: datetime
    who: str
    kind: Kind
    what: str
    layer: str = ""
    """Which layer of it decided; empty: none."""
    why: str = ""
    id: str = ""
    """The decision, for `echoic explain`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What somebody does."""

    id: str
    event_id: str
    what: str
    layer: str
    why: str
    since: datetime
    until: datetime
    """When it is over if nothing is heard of it."""


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody says, for as long as that takes."""

    text: str
    since: datetime
    until: datetime


@dataclass(slots=True)
class Figure:
    """One character; mutable, as it is redrawn with each message."""

    name: str
    mind: CharacterMind | None = None
    """What its pack makes of it; None: nobody knows yet."""
    x: float | None = None
    y: float | None = None
    """Where it is; None: nobody told."""
    place: str = ""
    weather: str = ""
    hour: float | None = None
    absent: str = ""
    """Why it does not decide: asleep, dead."""
    layer: str = ""
    """Which layer of it decided last."""
    deed: Deed | None = None
    said: Said | None = None
    talk: str | None = None
    """The conversation that it takes part in."""
    fields: dict[str, object] = field(default_factory=dict)
    reported: bool = False
    """Whether its body was reported since somebody last looked."""

    @property
    def map(self) -> Map:
        """Which of its fields tell where it is."""
        return self.mind.drawn if self.mind is not None else Map()

    def told(self, fields: Mapping[str, object]) -> None:
        """Take a report of its body, which holds what has changed."""
        self.fields.update(fields)
        self.reported = True
        known = self.map
        self.x, self.y = _place(known, self.fields)
        self.place = _word(_inner(known.place, self.fields))
        self.weather = _word(_inner(known.weather, self.fields))
        hour = _number(_inner(known.hour, self.fields))
        self.hour = hour if hour is not None and 0.0 <= hour <= 24.0 else None

    def doing(self, at: datetime) -> Deed | None:
        """Return what it does at a time."""
        return self.deed if self.deed is not None and at < self.deed.until else None

    def saying(self, at: datetime) -> str:
        """Return what it says at a time."""
        return self.said.text if self.said is not None and at < self.said.until else ""


def marked(names: Sequence[str]) -> dict[str, str]:
    """Return a mark for each name: its own first letter if that is free, else another."""
    found: dict[str, str] = {}
    free = dict.fromkeys(_MARKS)
    for name in names:
        letters = [each for each in name.upper() if each in free]
        mark = letters[0] if letters else next(iter(free), _NAMELESS)
        free.pop(mark, None)
        found[name] = mark
    return found


def lasts(mind: CharacterMind | None, action: str) -> timedelta:
    """Return how long an action lasts without a word from the world."""
    if mind is not None and mind.autonomous is not None:
        known = mind.autonomous.action(action)
        if known is not None:
            return timedelta(seconds=known.lasts_s)
    behaviour = mind.behaviours.get(action) if mind is not None else None
    return timedelta(seconds=behaviour.lasts_s if behaviour is not None else 300.0)


def _place(
    known: Map, fields: Mapping[str, object]
) -> tuple[float, float] | tuple[None, None]:
    x, y = (_number(_inner(path, fields)) for path in (known.x, known.y))
    return (None, None) if x is None or y is None else (x, y)


def _inner(path: str, fields: object) -> object:
    """Return what a path leads to; dots lead into objects, and into lists by number."""
    found: object = fields
    for name in path.split("."):
        if isinstance(found, Mapping):
            found = found.get(name)
        elif isinstance(found, list) and _INDEX.fullmatch(name):
            index = int(name)
            found = found[index] if -len(found) <= index < len(found) else None
        else:
            return None
    return found


def _number(told: object) -> float | None:
    # A bool is an int in Python, and no place.
    if isinstance(told, bool) or not isinstance(told, int | float):
        return None
    # Of what is no number at all (NaN) this is false, too.
    return float(told) if abs(told) <= _FAR else None


def _word(told: object) -> str:
    return told[:_WORDS] if isinstance(told, str) else ""
