"""What the executive holds of an agent: restraints, people, context, what was said.

Empty, and the same object for every agent that uses none of it, so that it costs nothing
there. All of it is bounded by `schemas.state.limits`.
"""

from datetime import datetime
from typing import Any, Literal

from immutables import Map
from msgspec import Struct, field

from schemas.messages.decisions import HeldAnswer, HeldHeuristic
from schemas.state import limits
from schemas.state.memory import NOTHING, Memory
from schemas.state.triggers import Trigger
from schemas.values.bounded_map import Bounded
from schemas.values.reasons import ResponseType, Timing
from schemas.values.recurrence import Repeat
from schemas.values.vectors import Vector

EVERYBODY = ""
"""The key of what concerns everybody, where maps are by person."""


class UserState(Struct, frozen=True, kw_only=True):
    """What a person is doing, as was last said of each."""

    at: datetime
    """When something of it last changed, in the agent's time."""
    busy: bool = False
    typing: bool = False
    in_menu: bool = False
    asleep: bool = False
    away: bool = False
    activity: str = ""
    focus: str = ""
    focus_vector: Vector = b""
    sentiment: float | None = None
    typing_until: datetime | None = None
    busy_until: datetime | None = None
    """When the one lapses, and busy or in a menu; None: not by itself."""


class ActiveContext(Struct, frozen=True, kw_only=True):
    """What the companion takes part in."""

    name: str
    by: str
    at: datetime


class Lent(Struct, frozen=True, kw_only=True):
    """What is another for a while, and what it is afterwards."""

    person: str
    """Whose profile it is; `EVERYBODY`: it is the context."""
    by: str
    since: datetime
    until: datetime
    was: tuple[str, ...]
    """Of a profile name, address and language; of the context its name and by whom it was,
    or nothing."""


class Restraint(Struct, frozen=True, kw_only=True):
    """Quiet or mute, as somebody asked for it."""

    id: str
    """Of the input or note that made it."""
    person: str
    """Whom it spares; `EVERYBODY` if nobody was named."""
    mode: Literal["quiet", "mute"]
    by: str
    """Who asked for it."""
    since: datetime
    until: datetime | None
    """None: until taken back."""


class Modulation(Struct, frozen=True, kw_only=True):
    """What matters more or less than usual, as somebody asked for it."""

    id: str
    """Of the input or note that made it."""
    change: Literal["suppress", "heighten", "habituate", "threshold", "focus"]
    person: str
    """For whom; `EVERYBODY` if nobody was named."""
    by: str
    """Who asked for it."""
    amount: float
    since: datetime
    until: datetime | None
    """None: until cleared."""
    about: str = ""
    """The topic in words; empty: any."""
    vector: Vector = b""
    """Of the topic."""
    source: str | None = None
    type: str | None = None
    once: bool = False


class Saying(Struct, frozen=True, kw_only=True, gc=False):
    """A response that was given, for cooldowns and for what was already said."""

    decision_id: str
    at: datetime
    response_type: ResponseType
    domain: str
    heuristic_id: str | None = None
    person: str | None = None
    vector: Vector = b""
    """Of the event that it answered."""
    sort: str = ""
    """The event's `<source>.<type>`; empty if it is not known any more."""
    cools: bool = True
    """Whether others wait for a cooldown after it."""


class Matter(Struct, frozen=True, kw_only=True, gc=False):
    """Something that goes on, of which something was said or is about to be."""

    sort: str
    """The events' `<source>.<type>`."""
    name: tuple[tuple[str, str], ...]
    """Which one: what the events are about, else their fields that are words, by hashes."""
    status: str
    """How it stood then, as a hash: once it stands otherwise, it is over."""
    words: str
    """In which words without numbers it was told, as a hash: others are news."""
    decision_id: str
    at: datetime
    """When it was said; until then, when it was decided to."""
    times: int = 1
    """How often it was, since it was last another."""


class Ignored(Struct, frozen=True, kw_only=True):
    """Events of a sort whose answers nobody heeded lately."""

    kept: float
    """Which share of their salience counted then."""
    at: datetime


class Spent(Struct, frozen=True, kw_only=True):
    """What asking models took lately, as far as there is a budget."""

    calls: tuple[datetime, ...] = ()
    """When models were asked in the last minute."""
    day: str = ""
    """The day in the settings' time zone, as `2026-05-04`."""
    tokens: int = 0
    """Read and written on that day."""
    estimated: int = 0
    """How many of them at least no server counted."""
    cost: float = 0.0
    """In US dollars, on that day."""


_BY_SORT: Bounded[str, Ignored] = Bounded(limits.SORTS_IGNORED)


class Peace(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is said less, or not at all: as somebody asked for it, or heeded nothing."""

    restraints: tuple[Restraint, ...] = ()
    """Mutes, the one that began first before others; those that lapsed go by and by."""
    modulations: tuple[Modulation, ...] = ()
    """What matters more or less, in the same order."""
    ignored: Bounded[str, Ignored] = _BY_SORT
    """By `<source>.<type>` of events."""


class _Sayings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was said lately."""

    said: tuple[Saying, ...] = ()
    """The latest responses, oldest first."""
    matters: tuple[Matter, ...] = ()
    """What was said of and still goes on, as far as is known, the latest at the end."""


class Override(Struct, frozen=True, kw_only=True):
    """A trait that somebody moved."""

    amount: float
    until: datetime | None
    """None: until taken back."""
    since: datetime | None = None
    by: str = ""
    """Who wanted it."""


class Mood(Struct, frozen=True, kw_only=True):
    """How the companion feels by what happened lately, as of a time."""

    valence: float
    """From -1 bad to 1 good."""
    arousal: float
    """From 0 calm to 1 stirred."""
    at: datetime


class Sign(Struct, frozen=True, kw_only=True):
    """Something that tells in which context the companion is."""

    at: datetime
    value: float
    cause: str
    """The event or the fire that it is of."""


_BY_PERSON: Bounded[str, Any] = Bounded(limits.PEOPLE_PRESENT)


class Personality(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What moves the traits away from those of the settings' template."""

    template: str | None = None
    """The one that was selected; None: that of the settings."""
    overrides: Bounded[str, Map[str, Override]] = _BY_PERSON
    """By person, or `EVERYBODY`, and by trait."""
    mood: Mood | None = None
    threat: Sign | None = None
    """The latest threat that counts, and so on."""
    opportunity: Sign | None = None
    failures: tuple[Sign, ...] = ()
    """The latest failed outcomes, oldest first."""
    sentiments: Bounded[str, Sign] = _BY_PERSON
    """How each person felt last, or `EVERYBODY`."""
    began_in: str = ""
    """The session, of a clock that its events set, that `began_at` is of."""
    began_at: datetime | None = None
    """Its first decision by that clock; when others began the session itself tells."""


_UNMOVED = Personality()
"""That of an agent whose traits nothing moves."""


class Waiting(Struct, frozen=True, kw_only=True):
    """An answer that is ready and waits for its time."""

    decision_id: str
    ask_id: str
    timing: Timing
    due: datetime
    answer: HeldAnswer
    heuristic: HeldHeuristic | None
    vector: Vector
    """Of the event."""
    trigger: Trigger | None
    """What the heuristic's fire waits for, once it is said."""
    heard: str = ""
    """How the event began, where conversations are remembered."""


class Reminder(Struct, frozen=True, kw_only=True):
    """Something to say at a time, as somebody asked for it."""

    id: str
    text: str
    due: datetime
    person: str | None
    """For whom; None: for everybody."""
    by: str
    """Who asked for it."""
    urgent: bool = False
    purpose: Literal["reminder", "milestone"] = "reminder"
    clock: str = ""
    """The clock that `due` is an instant of: the broker's (""), or a session's own."""
    repeat: Repeat | None = None
    """When it comes again; None: once it was said, it is over."""


class Aloud(Struct, frozen=True, kw_only=True, gc=False):
    """Words that were said, to know them again where a microphone hears them."""

    at: datetime
    text: str
    """Cut to `limits.ALOUD_TEXT` characters."""


class Opportunity(Struct, frozen=True, kw_only=True):
    """When the companion may next speak of its own accord, for one purpose."""

    purpose: str
    count: int
    """How often it was drawn."""
    due: datetime | None
    """None: not before somebody is there."""
    chance: float
    """The probability at each second that it was drawn by."""
    about: str = ""
    """The sort of events that it would be about, if it is about one."""
    taken_at: datetime | None = None
    """When it was last taken, where it is about something."""


class Unasked(Struct, frozen=True, kw_only=True, gc=False):
    """A remark that nobody asked for."""

    decision_id: str
    at: datetime
    words: str
    """The digest of its words."""


class Pattern(Struct, frozen=True, kw_only=True, gc=False):
    """How often events of a sort came lately, in windows of equal length."""

    begun: datetime
    """When the present window began."""
    at: datetime
    """When the last of them came."""
    count: int
    """How many came in the present window."""
    before: int = 0
    """How many came in the window before it."""


_PATTERNS: Bounded[str, Pattern] = Bounded(limits.PATTERNS)


class SpokenResponse(Struct, frozen=True, kw_only=True):
    """A response that is being spoken, or is to be."""

    ask_id: str
    decision_id: str
    asked_at: datetime
    begun_at: datetime | None = None
    """None: not yet."""
    is_alert: bool = False


class Unsaid(Struct, frozen=True, kw_only=True):
    """A response that was cut off: the rest of it was not heard."""

    decision_id: str
    at: datetime
    reason: Literal["urgent", "asked", "stopped"]
    after_ms: float
    """How much of it was heard."""


Known = bool | int | float | str
"""What a named fact may be."""

_KNOWN: Bounded[str, Known] = Bounded(limits.KNOWN_FACTS)
_SKILLS: Bounded[str, bool] = Bounded(limits.SKILLS)


class _Presence(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who is there, and what they are doing."""

    people: Map[str, UserState] = field(default_factory=Map)
    """By person; `EVERYBODY` if nobody was named."""
    heard_at: datetime | None = None
    """When a person last said something."""


class _Speech(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is spoken, and what was."""

    asked: tuple[SpokenResponse, ...] = ()
    """What is being spoken or is to be, the first asked for first."""
    unsaid: tuple[Unsaid, ...] = ()
    """What was cut off, oldest first."""
    aloud: tuple[Aloud, ...] = ()
    """What was said last, whoever it was for, the latest at the end."""
    doubtful: int = 0
    """How many words in a row may have been its own voice, heard by a microphone."""


class _Reminders(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be said at a time."""

    awaited: tuple[Reminder, ...] = ()
    """In order of being set; each has a timer while its clock is in force."""
    said: tuple[Reminder, ...] = ()
    """Those that were said lately, the latest at the end: they can be snoozed."""


class _Initiative(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the companion may say unasked, and what it said."""

    counters: Bounded[str, int] = Bounded(limits.COUNTERS)
    """How many events came of each kind that milestones are declared of."""
    patterns: Bounded[str, Pattern] = _PATTERNS
    """By `<source>.<type>` of events, where observations are on."""
    opportunities: tuple[Opportunity, ...] = ()
    """The one drawn last at the end; each that is due some time has a timer."""
    unasked: tuple[Unasked, ...] = ()
    """What was said unasked lately, the latest at the end; reminders and milestones are not."""


class Executive(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The executive's part of an agent's state."""

    context: ActiveContext | None = None
    personality: Personality = _UNMOVED
    sayings: _Sayings = _Sayings()
    peace: Peace = Peace()
    presence: _Presence = _Presence()
    speech: _Speech = _Speech()
    reminders: _Reminders = _Reminders()
    initiative: _Initiative = _Initiative()
    waiting: tuple[Waiting, ...] = ()
    """Answers that wait for their time, the first held first."""
    spent: Spent = Spent()
    skills: Bounded[str, bool] = _SKILLS
    """Those that somebody loaded or unloaded, by name."""
    memory: Memory = NOTHING
    known: Bounded[str, Known] = _KNOWN
    """Named facts, such as `user.location`, that packs' skills provide."""
    lent: tuple[Lent, ...] = ()
    """What ends by itself of context and profiles."""
    granted: Map[str, tuple[str, ...]] = field(default_factory=Map)
    """Whom each sensor may name; one that is not here is believed."""


IDLE = Executive()
"""That of an agent which uses nothing of it."""
