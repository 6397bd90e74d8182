"""What a place knows: who is where, and who talks with whom."""

from datetime import datetime

from immutables import Map
from msgspec import Struct

from schemas.messages.conversations import Conversation
from schemas.values.bounded_map import EMPTY


class Present(Struct, frozen=True, kw_only=True, gc=False):
    """Somebody who is there."""

    x: float
    y: float
    """In tiles."""
    extraversion: float = 0.5
    at: datetime


class PlaceState(Struct, frozen=True, kw_only=True):
    """Everything of one place."""

    present: Map[str, Present] = EMPTY
    """By agent."""
    conversations: tuple[Conversation, ...] = ()
    """Oldest first."""


NOWHERE = PlaceState()
"""Of an agent that is no place."""
