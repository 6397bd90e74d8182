"""The `autonomous` part of a pack's `mind`: a character that decides by itself what to do next.

Its actions are a table; the list that a model is given, the check of what it answers and
the random policy all read that one table.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.messages.sensing import Fields
from schemas.values.base import Name, Part, Seconds, Token, Unit
from schemas.values.exact_math import total

ActionKind = Literal["wander", "look", "sit", "gesture", "game"]
"""What the random policy weighs; an action of no kind is never drawn."""

_ANY_STATE = "*"

Tier = Literal[0, 1, 2, 3]

UNREMEMBERING: Tier = 1
_WITH_MEMORY = 2
_IMPROVING = 3
"""The highest tier without memory; those from which on a character has memory, and
improves itself."""

_BASELINE: dict[ActionKind, float] = {
    "wander": 0.4,
    "look": 0.2,
    "sit": 0.15,
    "gesture": 0.15,
    "game": 0.1,
}
"""The source design's weights of its five kinds."""

WEIGHTS_OFF = 0.01
"""By how much weights may miss one before it is worth a warning."""


class ActionDeclared(Part):
    """An action of the world's, and what the character must know of it."""

    id: Token
    kind: ActionKind | None = None
    target: Literal["none", "optional", "needed"] = "none"
    tag: Token | None = None
    """The tag of objects near that it can be done with; None: any."""
    states: tuple[Token, ...] = Field(default=(), max_length=32)
    """The states of the body in which it may begin; empty: all."""
    by_command: bool = False
    """Whether only a command from outside makes the character do it."""
    nothing_in: tuple[str, ...] = Field(default=(), max_length=32)
    """The states in which it changes nothing, so that it proves nothing; `*`: all."""
    leaves: Token | None = None
    """What the character did lately once this is done, `walked` for example: part of the
    situation for as long as it is among the last three."""
    aliases: tuple[Name, ...] = Field(default=(), max_length=32)
    """What models call it besides."""
    lasts_s: Seconds = 60.0
    """After so many seconds without a word from the world it is taken to be over."""

    def is_possible(self, state: str) -> bool:
        """Tell whether it may begin in a state of the body."""
        return not self.states or state in self.states

    def changes_nothing(self, state: str) -> bool:
        """Tell whether doing it in a state of the body changes nothing."""
        return _ANY_STATE in self.nothing_in or state in self.nothing_in


class Interval(Part):
    """How long a character waits after an action before it decides again: evenly drawn."""

    least_s: Seconds = 30.0
    most_s: Seconds = 120.0

    @model_validator(mode="after")
    def _is_a_span(self) -> Self:
        if self.most_s < self.least_s:
            raise PydanticCustomError("interval", "`most_s` is less than `least_s`")
        return self


class Routines(Part):
    """When what worked in a situation is done again without a model."""

    rate_over: Unit = 0.7
    least_uses: Annotated[int, Field(ge=1, le=1_000)] = 3
    explored: Unit = 0.2
    """How often the model is asked all the same."""
    replaced_under: Unit = 0.5
    dropped_under: Unit = 0.3
    dropped_after: Annotated[int, Field(ge=1, le=1_000)] = 5


class Reflections(Part):
    """When a character looks back on what it did: at whichever comes first."""

    every: Annotated[int, Field(ge=1, le=100)] = 20
    """After so many actions."""
    importance: Annotated[float, Field(gt=0.0, le=100.0)] = 7.5
    """Once so much importance has come together."""


class Improvement(Part):
    """How often a character's model judges its decisions, and proposes to change it."""

    every: Annotated[int, Field(ge=1, le=1_000)] = 50
    """After so many decisions."""
    apply: Literal["by_hand", "held_out"] = "by_hand"
    """Which proposals are in force at once: none, or those that earlier actions, which the
    model was not told of, speak for."""


class Autonomous(Part):
    """What makes a character decide by itself what it does next."""

    tier: Tier = 0
    """0: at random; 1: a model is asked; 2: with memory, routines and a second try; 3: it
    reflects and improves itself, too."""
    actions: tuple[ActionDeclared, ...] = Field(min_length=1, max_length=256)
    weights: dict[ActionKind, Annotated[float, Field(ge=0.0, le=1e6)]] = Field(
        default_factory=lambda: dict(_BASELINE)
    )
    """How often each kind is drawn; if they do not add up to 1, in proportion."""
    interval: Interval = Interval.model_construct()
    state: Name = "fsm_state"
    """The field of the body that tells its state."""
    position: Name = "position"
    nearby: Name = "nearby_objects"
    """The field with the objects near, nearest first: names, or `{name, tag}`."""
    personality: Fields = Field(default_factory=dict)
    """What it is like: name, traits, preferences, what it knows of its world."""
    routines: Routines = Routines.model_construct()
    reflection: Reflections | None = None
    """None: it reflects on the third tier alone, and never without memory."""
    improvement: Improvement | None = None
    """None: it improves itself on the third tier alone, and never without memory."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        ids = [each.id.casefold() for each in self.actions]
        if len(set(ids)) < len(ids):
            raise PydanticCustomError("duplicate", "two actions have one id")
        if all(each.by_command for each in self.actions):
            raise PydanticCustomError("empty", "every action is only by command")
        return self

    @property
    def remembers(self) -> bool:
        """Whether it has memory."""
        return self.tier >= _WITH_MEMORY

    @property
    def reflects(self) -> Reflections | None:
        """When it reflects; None: never."""
        if not self.remembers:
            return None
        return self.reflection or (Reflections() if self.tier == _IMPROVING else None)

    @property
    def improves(self) -> Improvement | None:
        """How it improves itself; None: not at all."""
        if not self.remembers:
            return None
        return self.improvement or (Improvement() if self.tier == _IMPROVING else None)

    def action(self, id_: str) -> ActionDeclared | None:
        """Return the action of an id; None if there is none."""
        return next((each for each in self.actions if each.id == id_), None)

    def share(self, kind: ActionKind) -> float:
        """Return a kind's weight, all together 1; if none has any, wandering has it."""
        whole = total(self.weights[each] for each in sorted(self.weights))
        if whole <= 0.0:
            return 1.0 if kind == "wander" else 0.0
        return self.weights.get(kind, 0.0) / whole
