"""Walk a recording group by group, each with what was in force before and after it.

Everything in this package reads recordings through it; one group is held at a time, so
memory does not grow with a recording's length.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from functools import cached_property

from replay.recording import views
from replay.recording.source import Recording
from replay.recording.standing import CHANGES, InForce, brought
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Input, Output
from schemas.values.subjects import SHARED_AGENT, parse
from streams.groups import Group

_CHANGES = frozenset(change.token for change in CHANGES)


@dataclass(frozen=True)
class GroupInContext:
    """One group of the agent, or of what it shares."""

    group: Group
    before: InForce
    """What was in force at the input, packs and all."""
    after: InForce
    """What is in force once it is answered; the same unless a control changed it."""

    @property
    def sequence(self) -> int:
        """The input's place in the log."""
        return self.group.input.sequence

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """What sort of output each is, in order."""
        return tuple(map(views.token_of, self.group.outputs))

    @cached_property
    def input(self) -> Input:
        """The input, read."""
        return read_input(self.group.input)

    def outputs(self, wanted: frozenset[str]) -> tuple[Output, ...]:
        """Return the outputs of some sorts, read, in order."""
        return tuple(
            read_output(record)
            for record, token in zip(self.group.outputs, self.tokens, strict=True)
            if token in wanted
        )


async def passages(recording: Recording) -> AsyncGenerator[GroupInContext, None]:
    """Yield the recording's own groups in order.

    Raises:
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged: the recording is not sound.
        MissingPackError: a pack in force is not in the recording's store.
    """
    standing = await brought(
        InForce.of(recording.start, recording.agent), recording.log
    )
    async with aclosing(recording.groups()) as groups:
        async for group in groups:
            if group.input.sequence < recording.first:
                continue
            if parse(group.input.subject).agent not in (recording.agent, SHARED_AGENT):
                continue
            before = standing
            if not _CHANGES.isdisjoint(map(views.token_of, group.outputs)):
                outputs = [read_output(record) for record in group.outputs]
                changed = before.after(read_input(group.input), outputs)
                standing = await brought(changed, recording.log)
            yield GroupInContext(group, before, standing)
