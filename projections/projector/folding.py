"""Fold the log, group by group in logical order, into changes of the read models.

The partitions' states are held here in memory. A start goes on from a checkpoint if there
is one, else from the first message. Nothing is written here; `projector` does that.
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
from projections.store.places import Position
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Input, Output
from schemas.messages.controls import PersonForgotten
from schemas.messages.decisions import Decided
from schemas.messages.notes import ControlApplied, Quarantined
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from streams.groups import Group, groups
from streams.log import ReadableLog

GROUPS_AT_ONCE = 32
"""How many groups are folded before the event loop gets its turn: a few milliseconds."""


class AidsSource(Protocol):
    """The source of what the folds need besides the log: vectors and packs."""

    async def for_inputs(
        self, inputs: Sequence[Input], shed: Sequence[bool] = ()
    ) -> Sequence[Aids]:
        """Return the aids of each input; nothing is embedded for those marked in `shed`."""
        ...


Begin = Callable[[int, int], Awaitable[tuple[PartitionState, int]]]
"""Given a partition and the sequence of an input, returns a state at or before that input
and the sequence of the last output folded into it, with the state's packs loaded."""


async def from_the_first(partition: int, written: int) -> tuple[PartitionState, int]:
    """Begin with an empty state, whatever is written."""
    return PartitionState(), 0


@dataclass(frozen=True, slots=True)
class Projected:
    """One group's changes of the read models."""

    input: Input
    outputs: Sequence[Output]
    position: Position
    """The partition's position once they are written."""
    changes: Sequence[Change]

    @property
    def partition(self) -> int:
        """The partition of all of them."""
        return self.input.partition


class Folding:
    """The fold of a log, partition by partition, as far as `advance` has gone.

    One task at a time may advance a partition: its state is replaced group by group.
    """

    def __init__(
        self, log: ReadableLog, aids: AidsSource, begin: Begin = from_the_first
    ) -> None:
        """Prepare; nothing is read before `advance`."""
        self._log = log
        self._aids = aids
        self._begin = begin
        self._epoch = str(log.epoch)
        self._states: dict[int, PartitionState] = {}
        self._last_outputs: dict[int, int] = {}
        self._forgotten: dict[int, int] = {}
        """By partition, the input at which its state has to be folded again."""

    def position(self, partition: int) -> int:
        """Return the sequence of the last input folded, 0 for none."""
        return self._state(partition).position

    def last_output(self, partition: int) -> int:
        """Return the sequence of the last output folded, 0 for none."""
        return self._last_outputs.get(partition, 0)

    async def advance(
        self, partition: int, *, written: int = 0, until: int | None = None
    ) -> AsyncIterator[Sequence[Projected]]:
        """Fold every new whole group, and yield their changes a few groups at a time.

        Groups up to the input `written` are in the tables already: they are folded, since
        later ones depend on their state, and not yielded.

        Raises:
            LogUnavailable: the broker does not answer; calling again goes on from there.
            LogDamaged, UnreadableOutputError: the log cannot be folded.
            MissingPackError: a pack in force has no blob any more.
        """
        while True:
            async for made in self._advance(partition, written, until):
                yield made
                written = max(written, made[-1].position.sequence)
            forgotten = self._forgotten.pop(partition, None)
            if forgotten is None:
                return
            # What a person said is gone from the log, and is to go from the state as well.
            self._states.pop(partition, None)

    async def _advance(
        self, partition: int, written: int, until: int | None
    ) -> AsyncIterator[Sequence[Projected]]:
        """Fold new groups up to the first that forgets a person."""
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
                if partition in self._forgotten:
                    return
                # Folding is CPU alone; without this nothing else would run in between.
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
            # No row holds a chain but that of decisions, which is in their messages.
            after = evolve(before, input_, outputs, aids, is_chained=False)
            if input_.sequence > written:
                changes = changes_of(Folded(before, input_, outputs, after, aids))
                at = Position(input_.sequence, self._epoch, input_.id)
                made.append(Projected(input_, outputs, at, changes))
            # After each group, not each batch: a group that raises leaves those before it
            # folded, and the next call goes on behind them.
            self._states[partition] = after
            self._last_outputs[partition] = outputs[-1].record.sequence
            if input_.sequence > written and _is_forgetting(input_, outputs):
                self._forgotten[partition] = input_.sequence
                break
        return made

    def _state(self, partition: int) -> PartitionState:
        return self._states.get(partition, _NOTHING)


_NOTHING = PartitionState()


def _is_forgetting(input_: Input, outputs: Sequence[Output]) -> bool:
    is_applied = any(isinstance(each.message, ControlApplied) for each in outputs)
    return is_applied and isinstance(input_.message, PersonForgotten)


def _was_shed(outputs: Sequence[Output]) -> bool:
    """Tell whether an input exceeded its rate limit, so that no aids were computed."""
    first = outputs[0].message
    return isinstance(first, Quarantined) and first.reason == "rate"


def _as_recorded(aids: Aids, outputs: Sequence[Output]) -> Aids:
    """Return the aids with the event's vector as recorded in its decision, if it was.

    Another build of an embedder may give another vector; the recorded one decided.
    """
    for output in outputs:
        if isinstance(output.message, Decided) and output.message.embedding:
            return structs.replace(aids, vector=b64decode(output.message.embedding))
    return aids
