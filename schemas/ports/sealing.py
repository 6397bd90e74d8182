"""Sealing: how a driver keeps the personal fields of outputs from the log in clear.

The mind holds no key. What it is handed seals the outputs of a turn before their digests
enter the chain, which is over the bytes as the log stores them (ADR 0062).
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from schemas.values.record import Record


class Caused(Protocol):
    """The input that outputs answer, as far as sealing them depends on it."""

    @property
    def record(self) -> Record:
        """As the log holds it."""
        ...

    @property
    def agent(self) -> str:
        """The agent that it concerns."""
        ...


Seal = Callable[[Caused, Sequence[Record]], Sequence[Record]]
"""Returns outputs with what the log is to store of them; the same for the same ones."""
