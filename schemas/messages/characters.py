"""What characters are after: the control by which their aims change."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from schemas.messages.controls import Control
from schemas.values.base import Part, Personal, Token, Unit

AIMS = 5
"""How many aims a character has at once."""

Horizon = Literal["personal", "medium_term", "group"]
"""For whom, and how far off: within 7 days, within 14, or a group's, within 30."""


class Aim(Part):
    """Something that a character wants to come about."""

    kind: Horizon = "personal"
    category: Literal["mastery", "creative", "social"] | None = None
    text: Annotated[Personal, Field(min_length=1, max_length=300)]


class AimsSet(Control):
    """A character is after something else than before."""

    token: ClassVar[str] = "aims_set"

    aims: Annotated[tuple[Aim, ...], Field(max_length=AIMS)] | None = None
    """All of its aims from here; None: as they were."""
    priorities: Annotated[dict[Token, Unit], Field(max_length=32)] | None = None
    """How much each kind of work matters, from 0 to 1; None: as it was."""
