"""The `mind` of a pack: what makes an agent a character with a body and layers.

A character has needs and acts on them without a model (its reflexes), beside the layers that
ask one. What a world knows of it (needs, behaviours, the table of reflexes) is data here.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from schemas.packs import conditions
from schemas.packs.autonomous import Autonomous
from schemas.packs.layers import Executor, Talker
from schemas.packs.tactics import Tactics
from schemas.values.base import Name, Part, Seconds, Token
from schemas.values.reasons import Absence

_Tiles = Annotated[float, Field(gt=0.0, le=1e6)]
Count = Annotated[int, Field(ge=1, le=1_000)]


class Place(Part):
    """How far one hears there and how conversations go; the numbers are the source design's."""

    said: Token = "said"
    """The type of event that tells what somebody says: its text; `agent`, `tokens`,
    `turn` and `goodbye` among its fields."""
    position: Token = "position"
    """That tells where somebody is: `agent`, `x`, `y`, `extraversion`."""
    left: Token = "left"
    """That tells that somebody leaves a conversation: `agent`."""
    gone: Token = "gone"
    """That tells that somebody is not there any more, or dead: `agent`."""
    hearing: _Tiles = 15.0
    """As far as that one hears; further from the middle of a conversation one leaves it."""
    tokens_per_s: Annotated[float, Field(gt=0.0, le=1_000.0)] = 2.0
    ahead_s: Annotated[float, Field(ge=0.0, le=60.0)] = 1.0
    """How long before the end of a speech its hearers are asked what they say to it."""
    at_once: Count = 4
    """How many of them, the likeliest to answer first (departure B32)."""
    silence_s: Seconds = 10.0
    """After how long without a word a conversation is over."""
    lines: Annotated[int, Field(ge=1, le=20)] = 5
    """How many of the latest lines somebody is told who comes to it."""
    longest: Count = 40
    """How many speeches a conversation has at most: none lasts for ever."""
    crowd: Annotated[int, Field(ge=2, le=100)] = 4
    """From how many members on a conversation draws extroverts, and drives introverts off."""
    crowd_force: Annotated[float, Field(ge=0.0, le=100.0)] = 0.3
    channel: Token = "talk"
    """Where it tells the world who says what, when they begin."""


_Coordinate = Annotated[float, Field(ge=-1e6, le=1e6)]
_Extent = Annotated[float, Field(gt=0.0, le=1e6)]


class _Spot(Part):
    """Something that stands there: a house, a river, a counter."""

    name: Name
    x: _Coordinate
    y: _Coordinate
    """Its corner nearest to 0, 0."""
    width: _Extent = 1.0
    height: _Extent = 1.0


class Map(Part):
    """Which fields of a body's report tell where it is and how things are there.

    Dots lead into objects, and into lists by number: `position.0`, `position.-1` the last.
    """

    x: Name = "x"
    y: Name = "y"
    place: Name = "place"
    """What the place is called where it is."""
    weather: Name = "weather"
    hour: Name = "hour"
    """The hour of the day, 0 to 24."""
    size: tuple[_Extent, _Extent] | None = None
    """How far it goes from 0, 0; None: as far as somebody was."""
    is_upward: bool = False
    """Whether y grows upwards."""
    spots: tuple[_Spot, ...] = Field(default=(), max_length=64)


IDLE_S = "idle_s"
"""The name under which conditions find for how many seconds nothing was done."""

SCRIPTED = "scripted"
"""The name under which conditions find that a character has no model, or one that failed."""

PRIORITIES = "priorities"
"""The name under which conditions find how much each kind of work matters, if it is weighed."""

Layer = Literal["reflex", "queue", "talker", "executor", "place"]
"""Those that decide, in the order in which they are asked."""

Mode = Literal["split", "single", "scripted"]
"""Which models a character asks: one each for its talker and its executor, one for both at
once, or none, so that its reflexes and its queue do all."""

_Priority = Annotated[float, Field(ge=0.0, le=1_000.0)]
"""How much an action matters: 100 and more survival, from 80 danger, from 50 tasks, from 20
moderate, else low."""


class Need(Part):
    """Something that a character needs, kept as satisfaction: 0 not at all, 1 entirely.

    The fields of an event may have another scale: they are converted here, at the edge.
    """

    field: Name
    """The field of a body's report that tells it; dots lead into objects."""
    rate: Name | None = None
    """The field that tells how fast it changes, a second, in the same scale; without one
    it stays as it was reported."""
    unmet: float = 0.0
    """What the field says of a need that is not met at all."""
    met: float = 1.0
    """What it says of one that is met entirely."""

    @model_validator(mode="after")
    def _is_a_scale(self) -> Self:
        if self.unmet == self.met:
            raise PydanticCustomError("scale", "`unmet` and `met` are one number")
        return self

    def satisfaction(self, told: float) -> float:
        """Return what a field says as satisfaction, within 0 and 1."""
        return min(max((told - self.unmet) / (self.met - self.unmet), 0.0), 1.0)

    def speed(self, told: float) -> float:
        """Return how fast the satisfaction changes a second."""
        return told / (self.met - self.unmet)


class Behaviour(Part):
    """Something that a character does until the world says that it is over."""

    priority: _Priority = 10.0
    """As upstream has it for what is not in its table."""
    interruptible: bool = True
    """Whether anything may take its place."""
    interrupts: bool = True
    """Whether it may take the place of what matters less."""
    lasts_s: Seconds = 300.0
    """After so many seconds without a word from the world it is taken to be over."""


NO_TABLE = Behaviour.model_construct()
"""Of a behaviour that the pack does not declare, or a newer one does not know any more."""


class Reflex(Part):
    """A rule that acts without a model."""

    name: Token
    when: str
    """What must hold of the body: needs by name, fields of its reports, `idle_s`."""
    behaviour: Token
    target: str | None = Field(default=None, max_length=200)
    priority: _Priority | None = None
    """In place of the behaviour's own."""

    @field_validator("when")
    @classmethod
    def _can_be_read(cls, when: str) -> str:
        conditions.parse(when)
        return when


class Think(Part):
    """When a character thinks besides at events: a fixed grid of its clock."""

    interval_s: Annotated[float, Field(ge=0.05, le=3_600.0)] = 1.0
    phase_s: Annotated[float, Field(ge=0.0, le=3_600.0)] = 0.0
    """By how much the grid is moved, so that characters do not all think at once."""


class Backoff(Part):
    """How long a reflex is held back whose action failed, so that it does not try on and on.

    Each failure in a row doubles the time; a success ends it.
    """

    first_s: Seconds = 1.0
    most_s: Seconds = 60.0


class CharacterMind(Part):
    """What makes an agent a character."""

    layers: tuple[Layer, ...] = Field(default=(), max_length=4)
    """Those that decide; none if the character is `autonomous`."""
    mode: Mode = "split"
    channel: Token = "act"
    """Where its actions go."""
    think: Think = Think.model_construct()
    needs: dict[Token, Need] = Field(default_factory=dict, max_length=32)
    absent: dict[Absence, str] = Field(default_factory=dict)
    """When it does not decide, as conditions on its body: `dead: health <= 0`."""
    behaviours: dict[Token, Behaviour] = Field(default_factory=dict, max_length=256)
    reflexes: tuple[Reflex, ...] = Field(default=(), max_length=256)
    """The highest priority that holds wins; of equal ones the first."""
    backoff: Backoff = Backoff.model_construct()
    tactics: Tactics | None = None
    """How it works off what it plans."""
    talker: Talker | None = None
    executor: Executor | None = None
    place: Place | None = None
    """It is no somebody but somewhere: it owns the conversations of others."""
    kinds: dict[Token, tuple[Token, ...]] = Field(default_factory=dict, max_length=32)
    """The kinds of work that priorities weigh, each with its behaviours: of what is queued
    and what is to be built the more important kind goes first, and conditions know
    `priorities.<kind>`. Empty: priorities are told to models alone."""
    synonyms: dict[str, Token] = Field(default_factory=dict, max_length=256)
    """What models call tools, by the tools' names: `stockpile: gather`."""
    autonomous: Autonomous | None = None
    """How it decides by itself what to do next, in the place of layers."""
    map: Map | None = None
    """Where it is to be drawn; None: by its fields `x` and `y`, or the `position` of one
    that is autonomous."""

    @field_validator("absent")
    @classmethod
    def _can_be_read(cls, absent: dict[Absence, str]) -> dict[Absence, str]:
        for when in absent.values():
            conditions.parse(when)
        return absent

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = [each.name for each in self.reflexes]
        if len(set(names)) < len(names):
            raise PydanticCustomError("duplicate", "two reflexes have one name")
        if IDLE_S in self.needs:
            message = "no need may be called {name}: it is how long nothing was done"
            raise PydanticCustomError("reserved", message, {"name": IDLE_S})
        unknown = [
            each.behaviour
            for each in self.reflexes
            if each.behaviour not in self.behaviours
        ]
        if self.executor is not None and self.tactics is None:
            message = "nobody works off what the executor plans without the layer queue"
            raise PydanticCustomError("layer", message)
        if bool(self.layers) == (self.autonomous is not None):
            raise PydanticCustomError(
                "layer", "a character has either `layers` or is `autonomous`"
            )
        for layer, part in self._parts():
            if (layer in self.layers) != (part is not None):
                message = "the layer {layer} needs its part, and the part the layer"
                raise PydanticCustomError("layer", message, {"layer": layer})
        if self.mode == "single" and not self.has_both:
            message = "one model speaks and plans only with a talker and an executor"
            raise PydanticCustomError("layer", message)
        if self.place is not None and len(self.layers) > 1:
            raise PydanticCustomError("layer", "a place has no other layer")
        if unknown:
            message = "a reflex names the behaviour {name}, which is not declared"
            raise PydanticCustomError("unknown", message, {"name": unknown[0]})
        return self

    @property
    def drawn(self) -> Map:
        """The map, or the usual one."""
        if self.map is not None or self.autonomous is None:
            return self.map or Map()
        position = self.autonomous.position
        # Engines tell a height between the two.
        return Map(x=f"{position}.0", y=f"{position}.-1")

    def _parts(self) -> tuple[tuple[Layer, Part | None], ...]:
        """Return the parts of layers that need one."""
        return (
            ("queue", self.tactics),
            ("talker", self.talker),
            ("executor", self.executor),
            ("place", self.place),
        )

    @property
    def has_both(self) -> bool:
        """Whether it has a talker and an executor, which one model may be at once."""
        return self.talker is not None and self.executor is not None

    def kind_of(self, behaviour: str) -> str | None:
        """Return of which kind of work a behaviour is; None: of none that is weighed."""
        return next(
            (each for each in self.kinds if behaviour in self.kinds[each]), None
        )

    def priority(self, reflex: Reflex) -> float:
        """Return how much a reflex matters: its own priority, else its behaviour's."""
        own = self.behaviours[reflex.behaviour].priority
        return own if reflex.priority is None else reflex.priority
