"""What an opportunity to speak unasked is: when it may be taken, and what is said then."""

from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

from handlers.mind.context import TurnContext
from handlers.mind.flows.initiate import Initiative
from schemas.state.agent import Timer
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.phrases import Phrases


class Opening(Struct, frozen=True):
    """An opportunity that is there."""

    first: datetime
    """The first second at which it may be taken."""
    about: str = ""
    """The sort of events that it is about, if it is about one."""


class Saying(Struct, frozen=True):
    """What one that is taken has to say."""

    timer: Timer
    text: str
    """One of its words."""
    about: str


class Kind(Struct, frozen=True):
    """One kind of opportunity."""

    purpose: str
    """Its name, which is also its arm and its decisions' type."""
    is_on: Callable[[ExecutiveSettings], bool]
    opening: Callable[[TurnContext, ExecutiveSettings, str], Opening | None]
    """Return it if it is there: about what is given, or what the input shows."""
    words: Callable[[TurnContext, str], tuple[str, ...]]
    """Return what may be said about something; nothing: it is never taken."""
    initiative: Callable[[TurnContext, Saying], Initiative]
    next_in_s: Callable[[ExecutiveSettings], float] | None = None
    """After how long there is the next one by itself; None: events must show it."""


def phrased(
    turn: TurnContext, of: Callable[[Phrases], tuple[str, ...]]
) -> tuple[str, ...]:
    """Return words of phrases: what packs know, else what the first language has."""
    own = turn.settings.executive.phrases
    of_packs = tuple(each for pack in turn.packs for each in pack.pack.phrases)
    return next((of(each) for each in (*of_packs, *own) if of(each)), ())
