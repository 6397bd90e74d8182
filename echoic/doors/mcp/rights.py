"""What the callers of a server's tools may do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rights:
    """The rights of a caller, which no argument of a tool can widen."""

    agent: str | None = None
    """The only agent it may ask about; None: any."""
    actor: str | None = None
    """As whom it votes; None: it does not vote."""
    may_read: bool = True
