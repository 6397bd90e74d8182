"""The types of event that a pack declares."""

from typing import Literal

from pydantic import Field

from schemas.messages.sensing import Dimension
from schemas.values.base import Part, Seconds, Token, Unit

Meaning = Literal["user_state", "break", "context"]


class Milestone(Part):
    """A number of such events that is worth a word."""

    field: str | None = Field(default=None, max_length=200)
    """The field by whose values they are counted apart; else all of them."""
    counts: tuple[int, ...] = Field(min_length=1, max_length=64)
    """At which numbers, for example 1, 10 and 100."""
    text: str = Field(min_length=1, max_length=500)
    """What is said, with `{count}` and `{value}`, that of the field."""


class EventType(Part):
    """A type of event that belongs to this domain."""

    type: Token
    source: Token | None = None
    """The only sensor it is declared for; else any."""
    description: str = ""
    salience: dict[Dimension, Unit] = Field(default_factory=dict)
    """What such an event means where its sensor gives no hint."""
    ttl_s: Seconds | None = None
    """After so many seconds an answer to it is stale; else the pack's."""
    tau_s: Seconds | None = None
    """How fast its novelty recovers, in seconds; else the setting's."""
    channel: Token | None = None
    """Where answers to it go; else the settings' channel."""
    means: Meaning | None = None
    """What its fields tell besides: what a person is doing (`busy`, `typing`, `in_menu`,
    `asleep`, `away`, `activity`, `focus`, `sentiment`), a natural break (`signal`), or what
    the companion takes part in (`context`)."""
    milestones: tuple[Milestone, ...] = Field(
        default=(), max_length=16, exclude_if=().__eq__
    )
    """Numbers of such events that are worth a word."""
