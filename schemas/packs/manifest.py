"""Packs: a domain's data as a manifest, and as a blob in the object store.

A pack is data and never code. Its blob is canonical JSON, so the same pack has the same
digest wherever it was written.
"""

import hashlib
from typing import Annotated, Literal, Self

import orjson
from pydantic import (
    AfterValidator,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from schemas.messages.arms import Action
from schemas.messages.sensing import Dimension
from schemas.packs import conditions, word_patterns
from schemas.packs.characters import CharacterMind
from schemas.packs.constraints import Constraints
from schemas.packs.event_types import EventType, Resident
from schemas.packs.model_actions import ModelAction
from schemas.packs.templates import PredictionTemplate, SystemPrompt
from schemas.values.base import Name, Part, Seconds, Token, Unit, first_fault
from schemas.values.personality import (
    DETECTED,
    NO_TEMPLATE,
    Bias,
    ContextDeclared,
    PersonalityTemplate,
)
from schemas.values.phrases import Phrases
from schemas.values.reasons import ResponseType
from schemas.values.skills import Skill


def _readable(skill: Skill) -> Skill:
    for line in skill.lines:
        if line.when is not None:
            conditions.parse(line.when)
    return skill


_SkillOfPack = Annotated[Skill, AfterValidator(_readable)]
"""A skill as a manifest holds it."""


SCHEMA = 1
"""The version of the manifest format that this program writes and reads."""

CONFIDENCE_MIN, CONFIDENCE_MAX = 0.05, 0.95
"""The confidence that a heuristic may declare: nothing is certain before it was tried."""

Setting = Literal["game", "work", "home", "other"]
_Pattern = Annotated[str, Field(min_length=1, max_length=200)]


class PackError(ValueError):
    """Something is no pack, or does not fit together."""


class OutcomePattern(Part):
    """What to wait for after advice on an event, and whether it means success."""

    trigger_pattern: _Pattern
    """Words of the event that was answered."""
    outcome_pattern: _Pattern
    """Words of the event that shows how it turned out."""
    timeout_sec: Seconds = 120
    """After so many seconds nothing is learnt from it."""
    is_success: bool = True

    @field_validator("trigger_pattern", "outcome_pattern")
    @classmethod
    def _has_words(cls, pattern: str) -> str:
        if not word_patterns.has_words(pattern):
            raise PydanticCustomError("no_words", "a pattern needs at least one word")
        return pattern


class ExecutiveOfPack(Part):
    """What the model and the outcome stage must know of the domain."""

    domain_context: str = Field(default="", max_length=8_000)
    """For the model's system prompt: where it is, and what counts there."""
    system_prompt: SystemPrompt = ""
    """What a model is told that it is, on events of this domain; else by the settings."""
    prediction_prompt: PredictionTemplate = ""
    """How it is then asked for a separate prediction; else in the program's words."""
    outcome_patterns: tuple[OutcomePattern, ...] = Field(default=(), max_length=1_000)


class PackSalience(Part):
    """How much an event must matter here."""

    threshold: Unit | None = None
    """The effective salience that an event needs; else the settings' relevance."""
    weights: dict[Dimension, Annotated[float, Field(ge=0.0, le=10.0)]] = Field(
        default_factory=dict
    )
    """How much each dimension counts; 1 where nothing is said."""


class SessionOutcome(Part):
    """What becomes of a whole session, counted from this domain's events."""

    name: Token
    measure: Literal["duration", "count", "last"]
    """`duration`: the seconds of agent time until such an event, which ends a life;
    `count`: how many such events came; `last`: a field of the last of them."""
    type: Token
    """The event's."""
    field: Name | None = None
    """Which number of the event is meant by `last`."""
    better: Literal["higher", "lower"] = "higher"

    @model_validator(mode="after")
    def _has_a_field(self) -> Self:
        if (self.measure == "last") != (self.field is not None):
            message = "field belongs to measure last, and last needs it"
            raise PydanticCustomError("field", message)
        return self


class Response(Part):
    """What a heuristic says, and what it would have done."""

    type: ResponseType = "suggestion"
    text: str = Field(min_length=1, max_length=2_000)
    action: Action | None = None


class Heuristic(Part):
    """A situation and the answer to it."""

    name: Token
    """Its identity within the pack: another name is another heuristic."""
    condition: str = Field(min_length=1, max_length=1_000)
    """The situation in words; an event of like meaning matches."""
    when: str | None = None
    """What must hold of the event's type and fields besides."""
    action: Response
    confidence: float = Field(default=0.5, ge=CONFIDENCE_MIN, le=CONFIDENCE_MAX)
    """What its author trusts it with, before anything was learnt."""
    urgency: Unit = 0.0
    constraints: Constraints = Constraints.model_construct()
    """How far evidence may move that; they go before the pack's."""

    @field_validator("when")
    @classmethod
    def _can_be_read(cls, when: str | None) -> str | None:
        if when is not None:
            conditions.parse(when)
        return when


class Pack(Part):
    """A pack's manifest."""

    manifest_schema: Literal[1] = Field(alias="schema")
    """The version of the manifest format."""
    name: Token
    """Also the name of the domain."""
    version: Name
    setting: Setting = "other"
    """Decides how fast novelty recovers: game 60 s, work 180, home 300, other 120."""
    description: str = ""
    executive: ExecutiveOfPack = ExecutiveOfPack.model_construct()
    salience: PackSalience = PackSalience.model_construct()
    constraints: Constraints = Constraints.model_construct()
    """How far evidence may move the confidence in its heuristics."""
    biases: dict[str, Bias] = Field(default_factory=dict, max_length=32)
    """Adjustments for events of this domain, such as of `confidence_threshold`."""
    ttl_s: Seconds | None = None
    """After so many seconds an answer is stale; else the settings' ttl."""
    people: tuple[Resident, ...] = Field(
        default=(), max_length=64, exclude_if=().__eq__
    )
    """Who lives there. What is said on the usual channel is then taken to be heard by all
    who are there, and by nobody else."""
    events: tuple[EventType, ...] = Field(default=(), max_length=1_000)
    heuristics: tuple[Heuristic, ...] = Field(default=(), max_length=20_000)
    actions: tuple[ModelAction, ...] = Field(default=(), max_length=64)
    """What a model may do besides speaking."""
    session_outcomes: tuple[SessionOutcome, ...] = Field(default=(), max_length=32)
    """What counts over a whole session, besides what each decision comes to."""
    personalities: tuple[PersonalityTemplate, ...] = Field(default=(), max_length=64)
    """Templates of personality, each chosen as `<pack>/<name>`."""
    contexts: tuple[ContextDeclared, ...] = Field(default=(), max_length=64)
    """What the companion may take part in here, besides what it always may."""
    skills: tuple[_SkillOfPack, ...] = Field(default=(), max_length=64)
    """How words change here, each loaded as `<pack>/<name>`."""
    phrases: tuple[Phrases, ...] = Field(default=(), max_length=16)
    """What people say to have it quieter and the like, besides the settings' languages."""
    mind: CharacterMind | None = None
    """What makes an agent with this pack a character; without one it is a companion."""

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [heuristic.name for heuristic in self.heuristics]
        declared = [(event.type, event.source) for event in self.events]
        measured = [each.name for each in self.session_outcomes]
        acts = [each.type for each in self.actions]
        # Ids derive from names, so two heuristics of one name would share their evidence.
        if any(
            len(set(each)) < len(each) for each in (names, declared, measured, acts)
        ):
            message = "two heuristics, event types, actions or outcomes have one name"
            raise PydanticCustomError("duplicate", message)
        return self

    @model_validator(mode="after")
    def _characters_are_unique(self) -> Self:
        templates = [NO_TEMPLATE, *(each.name for each in self.personalities)]
        # A pack may say what is always there in its own way, but not what is detected.
        contexts = [*DETECTED, *(each.name for each in self.contexts)]
        skills = [each.name for each in self.skills]
        if any(len(set(each)) < len(each) for each in (templates, contexts, skills)):
            message = (
                "two personalities, contexts or skills have one name, or a reserved one"
            )
            raise PydanticCustomError("duplicate", message)
        return self


def to_blob(pack: Pack) -> bytes:
    """Return the canonical JSON of a pack: sorted keys, nothing that is a default."""
    # Without defaults, or a field that a newer program adds would
    # give every pack another digest.
    fields = pack.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)


def from_blob(blob: bytes) -> Pack:
    """Read a pack back from its blob.

    Raises:
        PackError: this is no pack, or one of a newer format.
    """
    try:
        # Strict: a blob was written by `to_blob`, so a number given as text means damage.
        pack = Pack.model_validate_json(blob, strict=True)
    except ValidationError as error:
        fault = first_fault(error, "the blob")
        raise PackError(f"no pack of schema {SCHEMA}: {fault}") from error
    _share_names_of_fields(pack)
    return pack


def _share_names_of_fields(pack: Pack) -> None:
    """Share equal sets of field names among the parts of all heuristics.

    pydantic keeps a set of the given fields for every model: 1.2 of a heuristic's 2.3 kB.
    Nothing here reads or changes these sets, so they can be shared.
    """
    known: dict[frozenset[str], set[str]] = {}
    for heuristic in pack.heuristics:
        action = heuristic.action
        for part in (heuristic, action, heuristic.constraints):
            if part is not None:
                given = part.model_fields_set
                same = known.setdefault(frozenset(given), given)
                # The models are frozen, and pydantic offers no way to set this.
                object.__setattr__(part, "__pydantic_fields_set__", same)


def blob_digest(blob: bytes) -> str:
    """Return the sha256 under which a blob is stored."""
    return hashlib.sha256(blob).hexdigest()
