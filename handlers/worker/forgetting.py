"""Forgetting a person: what the worker does at that input, beside answering it."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Protocol

from handlers.broker_wait import until_available
from handlers.mind.turn import Turn
from handlers.worker.listening import Timed
from schemas.codec.envelope import Input
from schemas.messages.controls import PersonForgotten
from schemas.messages.notes import ControlApplied
from schemas.ports.sealing import Caused
from schemas.values.record import Record


class Keys(Protocol):
    """The keys of a sealed log."""

    def sealed_outputs(
        self, cause: Caused, outputs: Sequence[Record]
    ) -> Sequence[Record]:
        """Seal outputs before their digests enter the chain."""
        ...

    async def forgotten(self, agent: str) -> None:
        """Go on without those keys of an agent that were destroyed."""
        ...


def partitions_of(timed: Sequence[Timed]) -> list[int]:
    """Return where people were forgotten by turns, which the states do not yet show."""
    return sorted({turn.input.partition for turn, _ in timed if _is_forgetting(turn)})


def _is_forgetting(turn: Turn) -> bool:
    return isinstance(turn.input.message, PersonForgotten) and any(
        isinstance(output.message, ControlApplied) for output in turn.outputs
    )


async def let_go(keys: Keys | None, inputs: Iterable[Input]) -> None:
    """Seal no further output under the keys of whom these inputs forget."""
    for each in inputs:
        if keys is not None and isinstance(each.message, PersonForgotten):
            await until_available(partial(keys.forgotten, each.agent))
