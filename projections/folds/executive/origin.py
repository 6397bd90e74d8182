"""Where a control of the executive comes from."""

from datetime import datetime

from msgspec import Struct

from schemas.ports.aids import Aids


class Origin(Struct, frozen=True):
    """Where a control comes from."""

    id: str
    """Of the input, or of the note that infers it: by it the change is undone."""
    at: datetime
    """The agent's time."""
    aids: Aids
