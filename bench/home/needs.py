"""The table of a day's needs and annoyances, as `packs/home/needs.yaml` has it."""

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field
from ruamel.yaml import YAML

from packs.home.sensor.situation import GUESTS, PEOPLE
from schemas.messages.sensing import Sensed
from schemas.packs import conditions
from schemas.values.base import Name, Part, Seconds

Reach = Literal["home", "awake", "free", "alone", "anywhere"]
Rule = Literal[
    "asleep",
    "empty",
    "quiet",
    "engaged",
    "repeated",
    "stale",
    "unwanted",
    "overheard",
    "absent",
    "own_doing",
    "needless",
]


class Topic(Part):
    """What something may be about."""

    events: str | None = None
    """A condition on an event."""
    words: tuple[str, ...] = ()
    """Patterns of whole words in what is said."""


class Need(Part):
    """Something that must be said."""

    name: Name
    why: str
    when: str
    """A condition on the event at which the need begins."""
    topic: str | None = None
    answers: bool = False
    """Whether only the answer to that very event counts."""
    mentions: str | None = None
    """The event's field of whose words what is said may hold instead."""
    at: str | None = None
    """The part of the event's truth that holds the second of the day it begins at."""
    to: str
    """A person, `@field` or `anybody`."""
    reach: Reach
    within_s: Seconds
    at_most_s: Seconds
    until: str | None = None
    """A condition on the event that ends the need."""


class Annoyance(Part):
    """Something that should not be said, or not then."""

    name: Name
    rule: Rule
    topic: tuple[str, ...] = ()
    """Only these topics; none: all."""
    except_: tuple[str, ...] = Field(default=(), alias="except")
    when: str | None = None
    """A condition on an event that is answered."""
    activities: tuple[str, ...] = ()
    within_s: float = 0.0
    after_s: float | None = None
    begun: str | None = None
    over: str | None = None


class Needs(Part):
    """The whole table."""

    table_schema: Literal[1] = Field(alias="schema")
    aloud: tuple[Name, ...]
    personal: dict[Name, Name]
    """By channel: the person who alone reads it."""
    topics: dict[Name, Topic]
    needs: tuple[Need, ...]
    annoyances: tuple[Annoyance, ...]


def load(file: Path) -> Needs:
    """Read a table.

    Raises:
        ValidationError: it is none.
    """
    data = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
    return Needs.model_validate(data)


def holds(when: str, event: Sensed) -> bool:
    """Tell whether a condition is true of an event; `truth` is its evaluation data."""
    fields = {**event.fields, "truth": event.evaluation_data}
    return conditions.holds(_parsed(when), event.type, event.source, fields)


def hidden_from(event: Sensed) -> tuple[str, ...]:
    """Return from whom an event says that it is hidden."""
    names = event.fields.get("hidden_from")
    return GUESTS if names == "guests" else tuple(n for n in PEOPLE if n == names)


_parsed = cache(conditions.parse)
