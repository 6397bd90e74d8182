"""Notes: outputs that answer an input when nothing else does."""

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from schemas.values.base import Kind, Message, Moment, Name, Personal, Unit, written
from schemas.values.reasons import Handling, Quarantine, Refusal


class Note(Message, frozen=True, kw_only=True):
    """A remark on one input."""

    kind: ClassVar[Kind] = "note"


class Quarantined(Note, frozen=True, kw_only=True):
    """The input could not be read or answered; its raw message stays in the log."""

    token: ClassVar[str] = "quarantined"

    reason: Quarantine
    detail: Annotated[Personal, Meta(max_length=2_000)]
    subject: str
    """Where the input stands."""


class TimerFailed(Note, frozen=True, kw_only=True):
    """A timer failed, and what it was for is no longer awaited."""

    token: ClassVar[str] = "timer_failed"

    timer_id: str
    """The fire, the ask or the sleep that it was about."""
    purpose: str
    detail: Annotated[Personal, Meta(max_length=2_000)]
    """The error's type and the function of ours that it came from."""


class ControlApplied(Note, frozen=True, kw_only=True):
    """The change is in force from here."""

    token: ClassVar[str] = "control_applied"

    control: Name
    detail: Personal = written("")


class ControlRefused(Note, frozen=True, kw_only=True):
    """The change is not made."""

    token: ClassVar[str] = "control_refused"

    control: Name
    reason: Refusal
    detail: Personal


class ControlInferred(Message, frozen=True, kw_only=True):
    """The mind made a control of what somebody said, or of what a rule of its own says.

    It is folded as the control that it carries, and its own id is what undoes it.
    """

    kind: ClassVar[Kind] = "note"
    token: ClassVar[str] = "control_inferred"

    control: Name
    """The control's token."""
    fields: dict[str, Any]
    """The control's body."""
    by: Literal["pattern", "rule", "model", "talker", "executor", "single"]
    source_id: Name
    """The input or the decision that it was inferred from."""
    before: Annotated[Personal, Meta(max_length=500)] = written("")
    """What was in force before, in words."""
    after: Annotated[Personal, Meta(max_length=500)] = written("")
    """What is in force from here, in words."""


class OpportunityDrawn(Note, frozen=True, kw_only=True):
    """It was drawn when the companion may next speak of its own accord, or that it may not."""

    token: ClassVar[str] = "opportunity_drawn"

    purpose: Name
    """What it may say then, for example `check_in`."""
    count: int
    """How often this was drawn; part of the draw's key."""
    due_at: Moment | None = None
    """None: not before somebody is there."""
    chance: Unit
    """The probability at each second from when it may be."""
    value: float | None = None
    """The draw, in [0, 1)."""
    about: str | None = None
    """What it would be about, if not anything: `<source>.<type>` of events."""


class Handled(Note, frozen=True, kw_only=True):
    """The input was accepted without further effect, for the reason given."""

    token: ClassVar[str] = "handled"

    reason: Handling
    detail: Personal = written("")
