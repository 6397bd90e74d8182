"""Callbacks on what a worker does, for traces and progress; none may raise."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from handlers.mind.turn import Turn
from handlers.worker.timing import Times
from schemas.state.agent import PartitionState

Timed = tuple[Turn, Times]

Observer = Callable[[Sequence[Timed]], None]
"""Called with turns once the log holds them."""

_Failure = Callable[[Exception], None]
"""Called with an error that makes the worker fold its state again."""

Progress = Callable[[int, int, int], None]
"""Called with a partition being folded, its last folded output, and its last output."""


Recovered = Callable[[int, PartitionState], Awaitable[None]]
"""Called with a partition and its state at the log's end, before more of it is answered."""


def tell_nobody(*_: object) -> None:
    """Ignore the call: the default listener."""


async def _await_nobody(*_: object) -> None:
    """Ignore the call, likewise."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """The callbacks of one worker."""

    answered: Observer = tell_nobody
    failed: _Failure = tell_nobody
    folding: Progress = tell_nobody
    recovered: Recovered = _await_nobody
