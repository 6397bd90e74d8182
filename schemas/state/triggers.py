"""What a heuristic's fire waits for: the outcomes that its pack expects of the event."""

from datetime import datetime

from msgspec import Struct


class Expectation(Struct, frozen=True, kw_only=True):
    """A pack's outcome pattern, armed for a fire."""

    pattern: str
    is_success: bool
    due: datetime


class Trigger(Struct, frozen=True, kw_only=True):
    """What a fire needs of its event, for a fire that comes later than the event."""

    at: datetime
    domain: str
    entities: tuple[str, ...]
    expectations: tuple[Expectation, ...]
    """The outcome patterns it would have armed, had it fired at once."""
