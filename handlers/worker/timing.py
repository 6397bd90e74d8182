"""When the worker did what with an input: for traces and metrics, never for the mind."""

from collections.abc import Sequence
from time import time_ns

from msgspec import Struct

from schemas.ports.probe import Stage

Entered = tuple[Stage, int]
"""A stage of the mind, and when it began."""


class Times(Struct, frozen=True, kw_only=True):
    """The times of one input's steps, in nanoseconds since 1970."""

    picked_up_ns: int
    """It was read from the broker, in a batch."""
    started_ns: int
    """The mind started on it."""
    decided_ns: int
    """Its group was made."""
    writing_ns: int = 0
    """The write of its group began: one waits for the write before it."""
    committed_ns: int = 0
    """The write of its group was acknowledged."""
    entered: Sequence[Entered] = ()
    """The stages of its decision, in order; the mind may have begun more than once."""

    def of(self, stage: Stage) -> tuple[int, int] | None:
        """Return when a stage began and ended, at last; None if it was not entered."""
        found = None
        ends = [*[at_ns for _, at_ns in self.entered[1:]], self.decided_ns]
        for (entered, start_ns), end_ns in zip(self.entered, ends, strict=False):
            if entered == stage:
                found = start_ns, end_ns
        return found


class StageClock:
    """The worker's probe: notes when the mind enters its stages to answer one input."""

    __slots__ = ("_entered", "_started_ns")

    def __init__(self) -> None:
        """Start now."""
        self._entered: list[Entered] = []
        self._started_ns = time_ns()

    def enter(self, stage: Stage) -> None:
        """Note that a stage begins."""
        self._entered.append((stage, time_ns()))

    def times(self, picked_up_ns: int) -> Times:
        """Return the times of an input that is answered now."""
        return Times(
            picked_up_ns=picked_up_ns,
            started_ns=self._started_ns,
            decided_ns=time_ns(),
            entered=self._entered,
        )
