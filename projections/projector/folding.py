"""From the log to changes: groups in logical order, folded, and what each changes.

The states of the partitions live here, in memory; a start goes on from a state that was
kept, if there is one, else it folds the log from its first message. It writes nothing.
"""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec import structs

from projections.folds.partition import evolve
from projections.rows.changes import Change
from projections.rows.changes_of_group import changes_of
from projections.rows.folded_group import Folded
from projections.store.positions import Position
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Input, Output
from schemas.messages.decisions import Decided
from schemas.messages.notes import Quarantined
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from streams.groups import Group, groups
from streams.log import ReadableLog

GROUPS_AT_ONCE = 32
"""How many groups are folded before others get their turn: a few milliseconds."""


class AidsSource(Protocol):
    """Brings what the folds need besides the log: vectors and packs."""

    async def for_inputs(
        self, inputs: Sequence[Input], shed: Sequence[bool] = ()
    ) -> Sequence[Aids]:
        """Return the aids of inputs, one for each; nothing is embedded for those `shed`."""
        ...


Begin = Callable[[int, int], Awaitable[tuple[PartitionState, int]]]
"""Finds a state of a partition at or before an input, and the sequence of the last output
folded into it; whatever packs the state refers to are at hand then."""


async def from_the_first(partition: int, written: int) -> tuple[PartitionState, int]:
    """Begin with nothing known, whatever is written."""
    return PartitionState(), 0


@dataclass(frozen=True, slots=True)
class Projected:
    """One group's part in the read models."""

    partition: int
    position: Position
    """Where the partition stands with it."""
    changes: Sequence[Change]


class Folding:
    """The fold of a log, partition by partition, as far as it was asked for."""

    def __init__(
        self, log: ReadableLog, aids: AidsSource, begin: Begin = from_the_first
    ) -> None:
        """Fold nothing yet."""
        self._log = log
        self._aids = aids
        self._begin = begin
        self._epoch = str(log.epoch)
        self._states: dict[int, PartitionState] = {}
        self._last_outputs: dict[int, int] = {}

    def position(self, partition: int) -> int:
        """Return the sequence of the last input folded, 0 for none."""
        return self._state(partition).position

    def last_output(self, partition: int) -> int:
        """Return the sequence of the last output folded, 0 for none."""
        return self._last_outputs.get(partition, 0)

    async def advance(
        self, partition: int, *, written: int = 0, until: int | None = None
    ) -> AsyncIterator[Sequence[Projected]]:
        """Fold what is whole and new, and yield it a few groups at a time.

        Up to the input `written` the tables have it: it is folded, and not yielded.

        Raises:
            LogUnavailable: the broker does not answer; calling again goes on from there.
            LogDamaged, UnreadableOutputError: the log cannot be folded.
            MissingPackError: a pack in force has no blob any more.
        """
        if partition not in self._states:
            begun = await self._begin(partition, written)
            self._states[partition], self._last_outputs[partition] = begun
        few: list[Group] = []
        async for group in groups(
            self._log, partition, self.position(partition), until
        ):
            few.append(group)
            if len(few) == GROUPS_AT_ONCE:
                if made := await self._fold(partition, few, written):
                    yield made
                few = []
                await asyncio.sleep(0)
        if few and (made := await self._fold(partition, few, written)):
            yield made

    async def _fold(
        self, partition: int, few: Sequence[Group], written: int
    ) -> Sequence[Projected]:
        inputs = [read_input(group.input) for group in few]
        answers = [tuple(map(read_output, group.outputs)) for group in few]
        shed = [_was_shed(outputs) for outputs in answers]
        brought = await self._aids.for_inputs(inputs, shed)
        made: list[Projected] = []
        for input_, outputs, aids in zip(inputs, answers, brought, strict=True):
            aids = _as_recorded(aids, outputs)
            before = self._state(partition)
            after = evolve(before, input_, outputs, aids)
            if input_.sequence > written:
                changes = changes_of(Folded(before, input_, outputs, after, aids))
                at = Position(input_.sequence, self._epoch, input_.id)
                made.append(Projected(partition, at, changes))
            self._states[partition] = after
            self._last_outputs[partition] = outputs[-1].record.sequence
        return made

    def _state(self, partition: int) -> PartitionState:
        return self._states.get(partition, _NOTHING)


_NOTHING = PartitionState()


def _was_shed(outputs: Sequence[Output]) -> bool:
    """Tell whether an input was too many, so that nothing was worked out for it."""
    first = outputs[0].message
    return isinstance(first, Quarantined) and first.reason == "rate"


def _as_recorded(aids: Aids, outputs: Sequence[Output]) -> Aids:
    """Return the aids with the vector that was decided with, where it was recorded."""
    for output in outputs:
        if isinstance(output.message, Decided) and output.message.embedding:
            return structs.replace(aids, vector=b64decode(output.message.embedding))
    return aids
