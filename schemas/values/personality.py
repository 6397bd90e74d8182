"""Personality: seven traits, the templates that name them, and what moves them for a while.

A template is data: shipped with the program, or of a pack. The settings record the shipped
ones in full, so that a replay needs no file.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal, get_args

from pydantic import Field

from schemas.values.base import Name, Part, Signed, Token, Unit

Trait = Literal[
    "humor",
    "sarcasm",
    "formality",
    "proactive",
    "enthusiasm",
    "helpfulness",
    "verbosity",
]
"""The traits of a personality, each from 0 to 1."""

TRAITS: tuple[Trait, ...] = get_args(Trait)

USUAL_TRAITS: Mapping[Trait, float] = MappingProxyType(
    {each: 0.3 if each == "proactive" else 0.5 for each in TRAITS}
)
"""Without a template: the middle, but for a companion that rather waits (ADR-0014 §16.3)."""

NO_TEMPLATE = "none"
"""What is selected to have no template."""

MOST_BIAS = 0.1
"""The most that a bias may add to what it adjusts, up or down."""
Bias = Annotated[float, Field(ge=-MOST_BIAS, le=MOST_BIAS)]

_CHARACTER_LIMIT = 2_000

_Modifiers = dict[Trait, Signed]
"""What is added to each trait."""


class PersonalityTemplate(Part):
    """Who the companion is, before context, mood and people move its traits."""

    name: Token
    description: str = Field(default="", max_length=500)
    """For those who choose one."""
    traits: dict[Trait, Unit] = Field(default_factory=dict)
    """A trait that is not named is as without a template."""
    biases: dict[str, Bias] = Field(default_factory=dict, max_length=32)
    """Adjustments such as of `confidence_threshold`: the only ones while it is in force."""
    character: str = Field(default="", max_length=_CHARACTER_LIMIT)
    """What a model is told of it."""
    voice: Name | None = None
    """The name of the voice that speaks; as the speech channel knows it."""
    speed: float = Field(default=1.0, ge=0.5, le=2.0)
    """How fast it speaks; 1 as the voice does."""


class ContextDeclared(Part):
    """Something that the companion may take part in, and how it is there."""

    name: Token
    description: str = Field(default="", max_length=500)
    modifiers: _Modifiers = Field(default_factory=dict)
    """What is added to each trait there."""
    threshold: float = Field(default=0.0, ge=-0.5, le=0.5, exclude_if=(0.0).__eq__)
    """What is added there to what an event must matter to be answered."""


DETECTED: Mapping[str, Mapping[Trait, float]] = MappingProxyType(
    {
        "high_threat": {
            "proactive": 0.3,
            "sarcasm": -0.4,
            "verbosity": -0.3,
            "helpfulness": 0.2,
        },
        "opportunity": {"enthusiasm": 0.2, "humor": 0.1},
        "user_struggling": {"helpfulness": 0.3, "sarcasm": -0.5, "formality": -0.2},
    }
)
"""What each context adds that is found in events (ADR-0014 §6.3)."""

CONTEXTS: Mapping[str, ContextDeclared] = MappingProxyType(
    {
        each.name: each
        for each in (
            ContextDeclared.model_construct(
                name="gaming",
                description="a game is played",
                modifiers={"humor": 0.1, "formality": -0.1, "enthusiasm": 0.1},
            ),
            ContextDeclared.model_construct(
                name="work",
                description="somebody works",
                modifiers={"humor": -0.2, "sarcasm": -0.2, "verbosity": -0.1},
                threshold=0.1,
            ),
            ContextDeclared.model_construct(
                name="home", description="everyday life at home"
            ),
            ContextDeclared.model_construct(
                name="general", description="nothing in particular"
            ),
        )
    }
)
"""Those that everybody may switch to. Their modifiers and thresholds are ours: the seed
wants that work and games differ, and gives no numbers."""
