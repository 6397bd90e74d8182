"""The sleep cycle: which decisions were made again, and with what result.

What a sleep would change are proposals; these messages record what it looked at.
"""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from schemas.messages.learning import Learning
from schemas.values.base import Name, Personal, written
from schemas.values.settings import ApplyPolicy

SleepCause = Literal["asked", "idle"]

SleepEnd = Literal["done", "no_model", "woken", "model_failed", "model_timeout"]
"""Why no further event was decided again; `woken`: somebody waited for the model."""


class SleepBegun(Learning, frozen=True, kw_only=True):
    """An agent sleeps: these decisions are made again one by one, and not acted on."""

    token: ClassVar[str] = "sleep_begun"

    sleep_id: Name
    cause: SleepCause
    apply: ApplyPolicy
    decisions: tuple[Name, ...]


class Reflected(Learning, frozen=True, kw_only=True):
    """A model's answer to a past event, without any heuristic shown to it."""

    token: ClassVar[str] = "reflected"

    sleep_id: Name
    decision_id: Name
    text: Personal
    done: Personal
    """What was said then; empty for silence."""
    similarity: float | None = None
    """The cosine of the two; None if it cannot be computed."""
    agrees: bool | None = None
    """Whether they say the same."""
    alike: tuple[Name, ...] = written(())
    """The heuristics of the domain that say what the model says."""


class SleepEnded(Learning, frozen=True, kw_only=True):
    """A sleep is over; its proposals were made before this."""

    token: ClassVar[str] = "sleep_ended"

    sleep_id: Name
    reason: SleepEnd
    detail: Annotated[Personal, Meta(max_length=2_000)] = written("")
    reflected: int
    agreed: int
    differed: int
    proposals: tuple[Name, ...] = written(())
    applied: tuple[Name, ...] = written(())
    """Those of them that were put in force at once."""
    refused: int = written(0)
    """How many candidates were none."""
