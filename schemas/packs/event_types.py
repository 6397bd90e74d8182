"""The types of event that a pack declares."""

from typing import Literal

from pydantic import Field, field_validator

from schemas.messages.sensing import Dimension, Sensed
from schemas.packs import conditions
from schemas.packs.templates import EventText
from schemas.values.base import Name, Part, Seconds, Token, Unit

GUESTS = "guests"
"""The name of all people whom no pack declares."""

Meaning = Literal["user_state", "break", "context", "body", "command", "clock", "heard"]


def _is_none(value: object) -> bool:
    return value is None


class Resident(Part):
    """Somebody who is at home where the companion speaks."""

    name: Token
    channel: Token | None = None
    """The channel that this person alone reads, wherever they are, if there is one."""


class Milestone(Part):
    """A number of such events that is worth a word."""

    field: str | None = Field(default=None, max_length=200)
    """The field by whose values they are counted apart; else all of them."""
    counts: tuple[int, ...] = Field(min_length=1, max_length=64)
    """At which numbers, for example 1, 10 and 100."""
    text: str = Field(min_length=1, max_length=500)
    """What is said, with `{count}` and `{value}`, that of the field."""


class _SalienceWhen(Part):
    """What an event means under a condition."""

    when: str = Field(min_length=1, max_length=2_000)
    """Over its type, its fields and named facts."""
    salience: dict[Dimension, Unit] = Field(min_length=1)

    @field_validator("when")
    @classmethod
    def _can_be_read(cls, when: str) -> str:
        conditions.parse(when)
        return when


class EventType(Part):
    """A type of event that belongs to this domain."""

    type: Token
    source: Token | None = None
    """The only sensor it is declared for; else any."""
    description: str = ""
    salience: dict[Dimension, Unit] = Field(default_factory=dict)
    """What such an event means where its sensor gives no hint."""
    salience_when: tuple[_SalienceWhen, ...] = Field(
        default=(), max_length=16, exclude_if=().__eq__
    )
    """What it means besides under conditions; of those that hold the first goes first."""
    ttl_s: Seconds | None = None
    """After so many seconds an answer to it is stale; else the pack's."""
    tau_s: Seconds | None = None
    """How fast its novelty recovers, in seconds; else the setting's. After three times as
    long the same is worth another word."""
    channel: Token | None = None
    """Where answers to it go; else the settings' channel."""
    called: tuple[Name, ...] = Field(default=(), max_length=16, exclude_if=().__eq__)
    """What people call it who want to hear more of it, or no more: `laundry`."""
    about: tuple[Name, ...] | None = Field(
        default=None, max_length=8, exclude_if=_is_none
    )
    """The fields that tell which thing it is of; with none of them all such events are of one.
    Else what its sensor says it is about does, or its fields that are words."""
    state: Name | None = Field(default=None, exclude_if=_is_none)
    """The field that tells how what it is about stands: with another value it is news. Else
    its fields that are true or false do, and its words without numbers."""
    ends: tuple[Token, ...] = Field(default=(), max_length=16, exclude_if=().__eq__)
    """Types of its source that it ends: what they told of goes on no more."""
    ends_when: str = Field(default="", max_length=2_000, exclude_if="".__eq__)
    """A condition over its type and its fields under which it does; empty: always."""
    fields: dict[Name, Literal["number"]] = Field(
        default_factory=dict, max_length=64, exclude_if={}.__eq__
    )
    """Which of its fields are numbers, also where its sensor sends them as text: "20.5" is
    then 20.5 for every condition, and "unavailable" stays a text, of which no comparison
    with a number is true."""
    text: EventText = Field(default="", exclude_if="".__eq__)
    """What it says where a device sent fields and no words, with `{celsius}` for the value of
    that field, as in skills; one that lacks such a field is told plainly, which is what
    `{text}` stands for."""
    means: Meaning | None = None
    """What its fields tell besides: what a person is doing (`busy`, `typing`, `in_menu`,
    `asleep`, `away`, `activity`, `focus`, `sentiment`), a natural break (`signal`), or what
    the companion takes part in (`context`); of a character: what its body is like, and what
    it sees and hears (`body`), what somebody ordered (`command`), that its world's time
    has come so far (`clock`), or that somebody spoke to it (`heard`: the text, and the
    fields `speaker` and `distance` if there are any)."""
    observation: str | None = Field(
        default=None, min_length=1, max_length=500, exclude_if=_is_none
    )
    """What may be remarked when such events come often, with `{count}`."""
    hidden_from: str | None = Field(default=None, max_length=200, exclude_if=_is_none)
    """The field that names from whom answers are hidden: a person, or `guests`, who are
    all but the pack's `people`."""
    milestones: tuple[Milestone, ...] = Field(
        default=(), max_length=16, exclude_if=().__eq__
    )
    """Numbers of such events that are worth a word."""

    @field_validator("ends_when")
    @classmethod
    def _can_be_read(cls, when: str) -> str:
        conditions.read(when)
        return when

    def ended_by(self, event: Sensed) -> frozenset[str]:
        """Return the sorts of event that such an event ends, as `<source>.<type>`."""
        when = conditions.read(self.ends_when) if self.ends else None
        if when and not conditions.holds(when, event.type, event.source, event.fields):
            return frozenset()
        return frozenset(f"{event.source}.{each}" for each in self.ends)

    def hides(self, event: Sensed) -> tuple[str, ...]:
        """Return from whom answers to such an event are hidden, as it names them."""
        named = event.fields.get(self.hidden_from or "")
        return (named,) if isinstance(named, str) and named else ()
