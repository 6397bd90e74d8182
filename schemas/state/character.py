"""What is known of a character: its body, and what it is doing.

Empty, and the same object, for every agent that is none.
"""

from datetime import datetime
from typing import Any

from immutables import Map
from msgspec import Struct

from schemas.messages.characters import Aim, PlannedBuild, PlanTask
from schemas.messages.conversations import Conversation, SpokenLine
from schemas.state.autonomy import UNDECIDED, Autonomy
from schemas.values.bounded_map import EMPTY


class Present(Struct, frozen=True, kw_only=True, gc=False):
    """Somebody who is there."""

    x: float
    y: float
    """In tiles."""
    extraversion: float = 0.5
    at: datetime


class _PlaceState(Struct, frozen=True, kw_only=True):
    """Everything of one place."""

    present: Map[str, Present] = EMPTY
    """By agent."""
    conversations: tuple[Conversation, ...] = ()
    """Oldest first."""


_NOWHERE = _PlaceState()
"""Of an agent that is no place."""


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
    layer: str = "reflex"
    """Which layer began it."""
    build: str | None = None
    """The planned build that it is for; None: an entry of the queue, or neither."""
    amount: int = 0
    """How much of something it is to bring."""
    is_last: bool = False
    """Whether it is what all else was for: the building itself."""


class Finished(Struct, frozen=True, kw_only=True):
    """Something of a plan that is over."""

    what: str
    outcome: str
    at: datetime


class Plan(Struct, frozen=True, kw_only=True):
    """What a character means to do, without asking anybody again."""

    tasks: tuple[PlanTask, ...] = ()
    index: int = 0
    """Which of them is next, or being done."""
    builds: tuple[PlannedBuild, ...] = ()
    waits: bool = False
    """Whether the executor is not asked until the tasks are done."""
    finished: tuple[Finished, ...] = ()
    """The latest, oldest first."""
    completed_at: datetime | None = None
    """When the latest was over."""

    @property
    def task(self) -> PlanTask | None:
        """The entry that is next, or being done."""
        return self.tasks[self.index] if self.index < len(self.tasks) else None

    @property
    def left(self) -> tuple[PlanTask, ...]:
        """The entries that are not over."""
        return self.tasks[self.index :]


NO_PLAN = Plan()


class LastHeard(Struct, frozen=True, kw_only=True):
    """What a character heard last in a conversation."""

    conversation: str
    turn: int
    """The number of the speech in it."""
    speaker: str
    text: str
    distance: float
    lines: tuple[SpokenLine, ...] = ()
    """What was said before, if it came to it."""
    is_asked: bool = False
    """Whether it was asked what it says to it, and its model was not yet."""
    is_last: bool = False
    at: datetime
    until: datetime
    """When it is in the conversation no more, if it hears nothing further."""


class KeptThought(Struct, frozen=True, kw_only=True):
    """Something that a character meant to keep in mind."""

    text: str
    at: datetime


class RememberedWords(Struct, frozen=True, kw_only=True):
    """What a character said at a time, and thought; either may be empty."""

    said: str
    thought: str


class Failing(Struct, frozen=True, kw_only=True):
    """Something that a reflex does, and that failed when it was done last."""

    count: int
    """How often in a row."""
    until: datetime
    """When it may be done again."""


class LayerAsk(Struct, frozen=True, kw_only=True):
    """An answer of a model that a layer waits for."""

    ask_id: str
    decision_id: str
    event_id: str
    expires_at: datetime
    answers: tuple[str, int] | None = None
    """The conversation, and the speech in it, that is answered."""
    is_turn: bool = False
    """Whether it is its turn that it waits for; its model is asked after that."""
    is_again: bool = False
    """Whether it is the one further ask, after an answer that could not be read."""
    reason: str = ""
    """Why a character looks back."""


class Character(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    failing: Map[str, Failing] = EMPTY
    """What failed when a reflex did it last, by behaviour."""
    failed: Map[str, str] = EMPTY
    """Why a layer's model gave nothing when it was last asked, by layer: it is scripted
    until one does."""
    called: Map[str, datetime] = EMPTY
    """When each layer's model was last asked."""
    plan: Plan = NO_PLAN
    aimed_at: datetime | None = None
    """When its aims or priorities last changed by anybody but its executor."""
    since: datetime | None = None
    """When its body was first reported."""
    place: _PlaceState = _NOWHERE
    heard: LastHeard | None = None
    """In a conversation; None: it is in none."""
    memories: tuple[KeptThought, ...] = ()
    """The latest, oldest first."""
    words: tuple[RememberedWords, ...] = ()
    """The latest, oldest first; none unless its talker is told of them."""
    autonomy: Autonomy = UNDECIDED
    """Of one that is autonomous."""


NOBODY = Character()
"""Of an agent that is no character."""
