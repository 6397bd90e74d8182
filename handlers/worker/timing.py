"""When the worker did what with an input; for those who watch it, never for the mind."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The stations of one input, in nanoseconds since 1970."""

    picked_up_ns: int
    """It came out of the broker, with others."""
    started_ns: int
    """The mind began with it."""
    decided_ns: int
    """Its group was made."""
    committed_ns: int = 0
    """The write of its group was acknowledged."""
