"""Who is told of what a worker does; nobody who listens may raise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from handlers.mind.turn import Turn
from handlers.worker.timing import Times

Timed = tuple[Turn, Times]

Observer = Callable[[Sequence[Timed]], None]
"""Is told of turns once the log holds them."""

Progress = Callable[[int, int, int], None]
"""Is told a partition that is folded, the last output folded, and the last there is."""


def tell_nobody(*_: object) -> None:
    """Listen to nothing."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who listens to a worker."""

    answered: Observer = tell_nobody
    folding: Progress = tell_nobody
