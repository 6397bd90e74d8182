"""What is known of a character: its body, and what it is doing.

Empty, and the same object, for every agent that is none.
"""

from datetime import datetime
from typing import Any

from immutables import Map
from msgspec import Struct

from schemas.messages.characters import Aim
from schemas.values.bounded_map import EMPTY


class Reading(Struct, frozen=True, kw_only=True, gc=False):
    """A quantity that changes evenly."""

    value: float
    at: datetime
    rate: float = 0.0
    """How much it changes a second."""

    def now(self, at: datetime) -> float:
        """Return its value at a time."""
        return self.value + self.rate * (at - self.at).total_seconds()


class Body(Struct, frozen=True, kw_only=True):
    """What the world last reported of a character's body."""

    needs: Map[str, Reading] = EMPTY
    """Satisfaction, 0 to 1, by need."""
    fields: Map[str, Any] = EMPTY
    """Its other fields as they were told, by name: JSON."""
    at: datetime | None = None
    """When the last report came."""


class Doing(Struct, frozen=True, kw_only=True):
    """What a character is doing."""

    decision_id: str
    behaviour: str
    priority: float
    since: datetime
    until: datetime
    """When it is taken to be over if the world says nothing."""


class LayerAsk(Struct, frozen=True, kw_only=True):
    """An answer of a model that a layer waits for."""

    ask_id: str
    decision_id: str
    event_id: str
    expires_at: datetime


class Character(Struct, frozen=True, kw_only=True):
    """Everything of one character."""

    body: Body = Body()
    doing: Doing | None = None
    """What it does; kept when that is over by its time, so as to tell since when it idles."""
    idle_since: datetime | None = None
    """Since when it does nothing; None: it does something, or never did."""
    due: datetime | None = None
    """When it thinks next of its own accord."""
    aims: tuple[Aim, ...] = ()
    priorities: Map[str, float] = EMPTY
    """How much each kind of work matters, 0 to 1."""
    asked: Map[str, LayerAsk] = EMPTY
    """What layers wait for, by layer."""
    called: Map[str, datetime] = EMPTY
    """When each layer's model was last asked."""


NOBODY = Character()
"""Of an agent that is no character."""
