"""The types of event that a pack declares."""

from typing import Literal

from pydantic import Field

from schemas.messages.sensing import Dimension
from schemas.values.base import Part, Seconds, Token, Unit

Meaning = Literal["user_state", "break", "context"]


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
