"""The layers of a character that ask a model: what they are told and may choose, and when."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from schemas.messages.characters import Horizon
from schemas.packs import conditions
from schemas.values.base import Name, Part, Seconds, Token, Unit

_NEVER_CHOSEN = ("wander", "idle", "rest")
"""What no model may choose, nor anything that begins with `seek_`: reflexes do that."""


class PromptLine(Part):
    """A line of a prompt: what a field of the body tells, under a label."""

    label: str = Field(min_length=1, max_length=80)
    field: Name
    in_words: bool = False
    """Whether a number from 0 to 1 is told in words, such as a trait of character."""


class Tool(Part):
    """Something that a layer's model may choose to do."""

    name: Token
    when: str = ""
    """What must hold of the body for it to be offered; empty: it always is."""

    @field_validator("name")
    @classmethod
    def _may_be_chosen(cls, name: str) -> str:
        if name in _NEVER_CHOSEN or name.startswith("seek_"):
            message = "{name} is a reflex's, and never a model's choice"
            raise PydanticCustomError("reserved", message, {"name": name})
        return name

    @field_validator("when")
    @classmethod
    def _can_be_read(cls, when: str) -> str:
        if when:
            conditions.parse(when)
        return when


Extraversion = Annotated[float, Field(ge=0.0, le=1.0)]


class LayerModel(Part):
    """The model of one layer of a character, in place of the settings' own."""

    name: Name
    """As litellm knows it; where it is reached and its key are the settings'."""
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    max_tokens: int | None = Field(default=None, ge=1, le=100_000)
    deadline_s: Seconds | None = None


class Talker(Part):
    """The layer that talks, and says what the character is after.

    It is asked as often as the character is sociable; the first rule that fits counts.
    """

    enabled: bool = True
    extraversion: Name = "extraversion"
    """The field of the body that tells how sociable the character is, 0 to 1."""
    social: Token = "social_depth"
    """The need for company."""
    conversation: Name = "in_conversation"
    """The field that tells whether it is in a conversation."""
    high_extraversion: Extraversion = 0.6
    low_extraversion: Extraversion = 0.4
    conversation_s: Seconds = 10.0
    lonely_s: Seconds = 15.0
    lonely_below: Unit = 0.3
    extrovert_s: Seconds = 30.0
    moderate_s: Seconds = 60.0
    introvert_s: Seconds = 120.0
    conversation_priority: float = 8.0
    """How urgent a question to the model is in a conversation; 5 if lonely, else 3."""
    who: str = Field(default="", max_length=2_000)
    """Who the character is, for the model; `{name}` is the agent's."""
    lines: tuple[PromptLine, ...] = Field(default=(), max_length=32)
    """What it is told of the moment: what it sees, the weather, the place, who is near."""
    tools: tuple[Tool, ...] = Field(default=(), max_length=32)
    """What it may do besides speaking and setting aims; nothing that is work."""
    memories: Annotated[int, Field(ge=0, le=20)] = 0
    """Of how many of its latest memories it is told; they are made by `tactics.remember`."""
    words: Annotated[int, Field(ge=0, le=5)] = 0
    """Of how many of the latest things that it said and thought it is told."""
    horizons: dict[Horizon, Annotated[float, Field(gt=0.0, le=3_650.0)]] = Field(
        default_factory=dict
    )
    """After how many days what it is after is given up: 7 of its own, 14 in the medium term,
    30 of a group in the source design; of a kind that is not named never."""
    model: LayerModel | None = None
    """Its model; None: the settings'."""
    channel: Token = "talk"
    """Where what it says goes, unless there is a place."""
    place: Token | None = None
    """The agent that owns the conversations there: it is told what the character says."""
    likelihood: bool = True
    """Whether a draw decides if what is heard is answered; False: the model alone does."""
    lapses_s: Seconds = 30.0
    """How long after the place's last word the character is in no conversation any more."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, told: object) -> object:
        return _renamed(told, _OF_TALKER)


_TierName = Literal["full", "reduced", "autonomic"]

_TIERS = cast(tuple[_TierName, ...], get_args(_TierName))


class Tier(Part):
    """How much an executor thinks."""

    idle_s: Seconds | None = None
    """It is asked after so many idle seconds without a plan; None: not for that."""
    periodic_s: Seconds = 300.0
    """It is asked after so many seconds in any case."""
    on_complete: bool = True
    """Whether it is asked once something is over."""
    only_spoken_to: bool = False
    """Whether it is asked only while somebody speaks to the character."""


class Executor(Part):
    """The layer that plans what to build, make and bring; the queue works that off."""

    enabled: bool = True
    complete_s: Seconds = 5.0
    """It is asked so many seconds after something is over."""
    idle_s: Seconds = 10.0
    """It is asked after so many seconds with nothing done and nothing planned."""
    periodic_s: Seconds = 300.0
    tier: _TierName = "full"
    tier_field: Name = "tier"
    """The field of the body that tells another tier."""
    tiers: dict[_TierName, Tier] = Field(default_factory=dict)
    """In place of the usual ones."""
    spoken_to: Name = "spoken_to"
    """The field of the body that tells whether somebody speaks to the character."""
    busy: str = ""
    """When it is not asked, as a condition: `in_conversation = true`."""
    urgent: str = ""
    """When a question is most urgent, as a condition: in combat, fleeing."""
    who: str = Field(default="", max_length=2_000)
    """Who the character is, for the model; `{name}` is the agent's."""
    lines: tuple[PromptLine, ...] = Field(default=(), max_length=32)
    """What else it is told: unconscious urges; nothing of costs or conversations."""
    model: LayerModel | None = None
    """Its model; None: the settings'."""
    stockpile: Name = "stockpile"
    """The field of the body that tells what lies in store, amounts by name."""
    tools: tuple[Tool, ...] = Field(default=(), max_length=64)
    """What it may do; nothing social."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, told: object) -> object:
        return _renamed(told, _OF_EXECUTOR)

    @field_validator("busy", "urgent")
    @classmethod
    def _can_be_read(cls, when: str) -> str:
        if when:
            conditions.parse(when)
        return when

    def tier_of(self, fields: Mapping[str, object]) -> tuple[_TierName, Tier]:
        """Return the tier in force, and what it says."""
        told = fields.get(self.tier_field)
        name = next((each for each in _TIERS if each == told), self.tier)
        usual = {
            "full": Tier(idle_s=self.idle_s, periodic_s=self.periodic_s),
            "reduced": Tier(periodic_s=1_800.0),
            "autonomic": Tier(periodic_s=self.periodic_s, only_spoken_to=True),
        }
        return name, self.tiers.get(name, usual[name])


_OF_TALKER: Mapping[str, str] = {
    "enableTalker": "enabled",
    "highExtraversionThreshold": "high_extraversion",
    "lowExtraversionThreshold": "low_extraversion",
    "extrovertTalkCadenceSec": "extrovert_s",
    "introvertTalkCadenceSec": "introvert_s",
    "conversationPriority": "conversation_priority",
}
"""The source design's names of settings, which a pack may use as well."""

_OF_EXECUTOR: Mapping[str, str] = {
    "enableExecutor": "enabled",
    "taskCompleteCadenceSec": "complete_s",
    "idleThinkDelaySec": "idle_s",
    "periodicThinkSec": "periodic_s",
}


def _renamed(told: object, names: Mapping[str, str]) -> object:
    if not isinstance(told, Mapping):
        return told
    fields: Mapping[Any, Any] = told
    # What this returns is no JSON any more, of which a strict reading takes no lists.
    return {names.get(name, name): _as_tuple(fields[name]) for name in fields}


def _as_tuple(told: object) -> object:
    return tuple(told) if isinstance(told, list) else told
