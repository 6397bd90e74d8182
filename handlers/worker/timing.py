"""When the worker did what with an input: for traces and metrics, never for the mind."""

from msgspec import Struct


class Times(Struct, frozen=True, kw_only=True):
    """The times of one input's steps, in nanoseconds since 1970."""

    picked_up_ns: int
    """It was read from the broker, in a batch."""
    started_ns: int
    """The mind started on it."""
    decided_ns: int
    """Its group was made."""
    committed_ns: int = 0
    """The write of its group was acknowledged."""
