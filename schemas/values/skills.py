"""Skills: how words change by character and context, and what the companion knows there.

A skill is data: shipped with the program, or of a pack. A personality template, the fourth
kind that the executive knows, has a model of its own (`schemas.values.personality`).
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from schemas.values.base import Name, Part, Token
from schemas.values.personality import Trait
from schemas.values.reasons import ResponseType

Kind = Literal["style", "domain", "capability"]
"""`style`: other words by a trait's band; `domain`: what is known in a context;
`capability`: an ability that is off until a person enables it."""

_Band = Annotated[int, Field(ge=0, le=4)]
"""A fifth of a trait: 0 lowest to 4 highest."""

Template = Annotated[str, Field(min_length=1, max_length=2_000)]
"""A text with `{field}` for an event's field and `{text}` for the words up to here."""

_Binding = Annotated[
    str, StringConstraints(pattern=r"^([\w-]{1,64}(\.[\w-]{1,64})?)?$")
]
"""A context, such as `gaming`, or one with a domain, such as `gaming.minecraft`."""

PLACE = re.compile(r"\{([A-Za-z_][\w.-]*)\}")
"""A place in a template."""

TEXT = "text"
"""The place of the words up to here."""


class SkillLine(Part):
    """Words for events of one sort; of several texts one is drawn."""

    when: str | None = None
    """What must hold of the event's type and fields, as in a heuristic."""
    types: tuple[ResponseType, ...] = Field(default=(), max_length=8)
    """The types of response that it is for; none: for all."""
    bands: tuple[_Band, ...] = Field(default=(), max_length=5)
    """The bands of the skill's trait in which it is said; none: in all."""
    texts: tuple[Template, ...] = Field(min_length=1, max_length=32)


class WordTable(Part):
    """Words that others take the place of."""

    bands: tuple[_Band, ...] = Field(default=(), max_length=5)
    """The bands of the skill's trait in which it counts; none: in all."""
    words: dict[
        Annotated[str, Field(min_length=1, max_length=100)],
        Annotated[str, Field(max_length=100)],
    ] = Field(min_length=1, max_length=256)
    """Whole words, whatever their case, and what is said instead."""


class Source(Part):
    """Where a named fact comes from: the latest value of an event's field."""

    type: Token
    """The event's, of the pack's own domain."""
    field: Name


class Skill(Part):
    """A skill's manifest."""

    name: Token
    version: Name = "1"
    kind: Kind
    description: str = Field(default="", max_length=500)
    context_binding: _Binding = ""
    """For a domain: the context in which it is loaded, `<context>` or `<context>.<domain>`;
    empty: in each."""
    capabilities: tuple[Token, ...] = Field(default=(), max_length=64)
    """What it can do, for those who choose."""
    provides: dict[Name, Source] = Field(default_factory=dict, max_length=64)
    """Named facts that its pack's events fill, such as `user.location`."""
    requires: tuple[Name, ...] = Field(default=(), max_length=64)
    """Named facts without which it has nothing to say, whoever provides them."""
    knowledge: str = Field(default="", max_length=4_000)
    """What a model is told while it is loaded."""
    trait: Trait | None = None
    """For a style: the trait by whose bands its words are chosen."""
    lines: tuple[SkillLine, ...] = Field(default=(), max_length=256)
    """The first that fits an event is said."""
    tables: tuple[WordTable, ...] = Field(default=(), max_length=16)

    @model_validator(mode="after")
    def _is_of_its_kind(self) -> Self:
        if (self.kind == "style") != (self.trait is not None):
            message = "a style needs a trait, and only a style has one"
            raise PydanticCustomError("trait", message)
        if self.context_binding and self.kind != "domain":
            message = "only a domain is bound to a context"
            raise PydanticCustomError("binding", message)
        banded = [each.bands for each in self.lines]
        banded += [each.bands for each in self.tables]
        if self.kind != "style" and any(banded):
            message = "bands belong to a style"
            raise PydanticCustomError("bands", message)
        return self

    @property
    def context(self) -> str:
        """The context that it is bound to; empty if it is to none."""
        return self.context_binding.partition(".")[0]

    @property
    def domain(self) -> str:
        """The domain that it is bound to; empty if it is to none."""
        return self.context_binding.partition(".")[2]


Skills = Mapping[str, Skill]
"""By the name that they are loaded by: a shipped one's own, or `<pack>/<skill>`."""


def version_of(name: str, skill: Skill) -> str:
    """Return what is recorded of a skill that was used, such as `sarcasm@1`."""
    return f"{name}@{skill.version}"
