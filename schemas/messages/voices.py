"""As whom the companion decides: its personality at an occasion, and what moves it."""

from typing import Literal

from schemas.values.base import MessagePart, Name, Unit
from schemas.values.personality import Trait


class ContextInForce(MessagePart, frozen=True, kw_only=True):
    """A context that moves the traits, and why it holds."""

    name: Name
    by: Literal["threat", "opportunity", "failures", "sentiment", "switched"]
    value: float | None = None
    """The threat, the opportunity or the sentiment; how many outcomes failed."""
    cause: str | None = None
    """The event or the fire that showed it last; who switched."""


class Voice(MessagePart, frozen=True, kw_only=True):
    """As whom the companion decides: its personality here and now."""

    template: Name | None = None
    """None: no template, the usual traits."""
    digest: Name | None = None
    """Of what a model is told of it; None: nothing, as nobody chose a personality."""
    traits: dict[Trait, Unit]
    """The effective ones: template, contexts, overrides, mood and rapport together."""
    contexts: tuple[ContextInForce, ...] | None = None
    valence: float | None = None
    """The mood, from -1 bad to 1 good; None: nothing moved it yet."""
    arousal: Unit | None = None
    rapport: Unit | None = None
    """With the person addressed; None: neutral, as with a stranger."""
