"""What characters are after and plan to do: the controls by which these change."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from schemas.messages.controls import Control
from schemas.messages.learning import Retrospect
from schemas.values.base import (
    MessagePart,
    Moment,
    Name,
    Personal,
    Token,
    Unit,
    written,
)

AIMS = 5
"""How many aims a character has at once."""

TASKS = 20
"""How many entries a character's queue has, and how many builds it plans, at once."""

Horizon = Literal["personal", "medium_term", "group"]
"""For whom, and how far off: within 7 days, within 14, or a group's, within 30."""


class Aim(MessagePart, frozen=True, kw_only=True):
    """Something that a character wants to come about."""

    kind: Horizon = written("personal")
    category: Literal["mastery", "creative", "social"] | None = None
    text: Annotated[Personal, Meta(min_length=1, max_length=300)]
    until: Moment | None = None
    """When it is given up; None: not by itself."""

    def is_like(self, other: "Aim") -> bool:
        """Tell whether it is the same thing that is wanted, whenever it is given up."""
        return (self.kind, self.text) == (other.kind, other.text)


class AimsSet(Control, frozen=True, kw_only=True):
    """A character is after something else than before."""

    token: ClassVar[str] = "aims_set"

    aims: Annotated[tuple[Aim, ...], Meta(max_length=AIMS)] | None = None
    """All of its aims from here; None: as they were."""
    priorities: Annotated[dict[Token, Unit], Meta(max_length=32)] | None = None
    """How much each kind of work matters, from 0 to 1; None: as it was."""


class PlanTask(MessagePart, frozen=True, kw_only=True):
    """An entry of a character's queue."""

    type: Token
    """What is to be done, as the world calls it."""
    target: Annotated[str, Meta(max_length=200)] | None = None
    amount: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """How much of it; None: once is enough."""
    times: Annotated[int, Meta(ge=1, le=1_000)] = written(1)
    """How often, all of it."""
    text: Annotated[Personal, Meta(max_length=1_000)] = written("")
    """What it is about, in words: a memory for example."""
    done: Annotated[int, Meta(ge=0)] = written(0)
    """How much of the amount is."""
    carried: Annotated[int, Meta(ge=0)] = written(0)
    """How much was gathered and is not put down yet."""


_BuildPriority = Literal["high", "normal", "low"]


class PlannedBuild(MessagePart, frozen=True, kw_only=True):
    """Something that a character means to build, when it has what that takes."""

    building: Token
    priority: _BuildPriority = written("normal")
    reason: Annotated[Personal, Meta(max_length=300)] = written("")
    failures: Annotated[int, Meta(ge=0)] = written(0)
    """How often in a row a step towards it failed."""


class PlanSet(Control, frozen=True, kw_only=True):
    """A character is to do something else than before."""

    token: ClassVar[str] = "plan_set"

    tasks: Annotated[tuple[PlanTask, ...], Meta(max_length=TASKS)] | None = None
    """All of its queue from here, in order; None: as it was."""
    builds: Annotated[tuple[PlannedBuild, ...], Meta(max_length=TASKS)] | None = None
    """All that it means to build; None: as it was."""
    waits: bool | None = None
    """Whether its executor is not asked until the queue is done; None: as it was."""


class ReflectionRequested(Control, frozen=True, kw_only=True):
    """An autonomous character is to look back on what it did, whenever it would by itself."""

    token: ClassVar[str] = "reflection_requested"

    of: Retrospect = written("reflection")
    by: Name = written("user")
