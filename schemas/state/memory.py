"""What an agent remembers of people and things: facts, profiles, and what was said.

Bounded by `schemas.state.limits`; empty, and the same object, for every agent without any.
"""

from datetime import datetime

from msgspec import Struct

from schemas.state import limits
from schemas.values.bounded_map import Bounded


class Fact(Struct, frozen=True, kw_only=True, gc=False):
    """Something that was stated, and holds until it is corrected or forgotten."""

    id: str
    """Of the input or note that stated it."""
    subject: str
    relation: str
    object: str
    person: str | None
    """Whom it concerns; None: everybody may be told."""
    by: str
    """Who stated it."""
    at: datetime


class Profile(Struct, frozen=True, kw_only=True, gc=False):
    """How one person is addressed; empty where nobody said."""

    name: str = ""
    address: str = ""
    language: str = ""


class Grounds(Struct, frozen=True, kw_only=True, gc=False):
    """What led to something that was said, to be told when somebody asks why."""

    path: str
    about: str = ""
    """How the event began, in its own words; empty if nobody knows any more."""
    heuristic_id: str | None = None
    similarity: float | None = None
    confidence: float | None = None
    """The heuristic's, or the success that the model predicted."""
    model: str = ""
    sort: str = ""
    """What sort of occasion it was, where nothing had happened: `reminder`."""
    others: int = 0
    """How many more events of the kind it answered."""


class Silent(Struct, frozen=True, kw_only=True, gc=False):
    """Something that was not said, to be told when somebody asks why."""

    decision_id: str
    at: datetime
    reason: str
    about: str = ""
    """How the event began, in its own words; empty if nobody knows any more."""
    value: float | None = None
    threshold: float | None = None
    """Those of the gate that closed, where it has any."""
    whom: str = ""
    """Who might have been told; empty: everybody."""
    is_threat: bool = False
    """Whether it was of a threat, which is told of at the first moment."""


class Utterance(Struct, frozen=True, kw_only=True, gc=False):
    """Something that was said in a conversation, cut to `limits.UTTERANCE` characters."""

    decision_id: str
    """The decision that said it, or that these words led to."""
    at: datetime
    text: str
    grounds: Grounds | None = None
    """Why the companion said it; None: a person did."""
    is_question: bool = False
    """Whether the companion asked it, and so awaits an answer."""


class Happened(Struct, frozen=True, kw_only=True, gc=False):
    """An event that was considered, its text cut to `limits.EVENT_TEXT` characters."""

    at: datetime
    text: str
    person: str | None
    """Whom it concerned; None: everybody may be told."""


_FACTS: tuple[Fact, ...] = ()
_PROFILES: Bounded[str, Profile] = Bounded(limits.PROFILES)
_SAID: Bounded[str, tuple[Utterance, ...]] = Bounded(limits.TALKERS)
_SILENT: Bounded[str, Silent] = Bounded(limits.TALKERS)

_EVENTS: Bounded[str, tuple[Happened, ...]] = Bounded(limits.EVENT_SOURCES)


class Memory(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is remembered."""

    facts: tuple[Fact, ...] = _FACTS
    """The one stated last at the end."""
    profiles: Bounded[str, Profile] = _PROFILES
    """By person."""
    said: Bounded[str, tuple[Utterance, ...]] = _SAID
    """By person, each with the latest at the end; what the companion said to everybody
    stands under no name."""
    silent: Bounded[str, Silent] = _SILENT
    """By person, the last thing that was not said; under no name what concerned nobody in
    particular."""
    missed: tuple[Silent, ...] = ()
    """What mattered and ended unsaid, the latest at the end, until somebody asks for it."""
    events: Bounded[str, tuple[Happened, ...]] = _EVENTS
    """By source, its latest events, the last at the end; people's own words are in `said`."""


NOTHING = Memory()
"""That of an agent which remembers none of it."""
