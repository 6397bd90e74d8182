"""Fold a control of the executive, whether somebody sent it or the mind inferred it."""

from datetime import datetime

from msgspec import Struct

from schemas.messages.executive import OfPerson
from schemas.ports.aids import Aids
from schemas.state.executive import Executive


class Origin(Struct, frozen=True):
    """Where a control comes from."""

    id: str
    """Of the input, or of the note that infers it: by it the change is undone."""
    at: datetime
    """The agent's time."""
    aids: Aids


def applied(executive: Executive, control: OfPerson, origin: Origin) -> Executive:
    """Return the executive's state after a control that was applied."""
    match control:
        case _:
            return executive
