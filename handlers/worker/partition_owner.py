"""How far a partition is: its state, and the fence that its next write must pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handlers.mind.turn import Turn
from schemas.state.agent import PartitionState
from schemas.values.record import Wire
from streams.log import GroupWrite


@dataclass(frozen=True, slots=True)
class PartitionOwner:
    """A partition as the log has it; never what is only decided and not yet written."""

    partition: int
    state: PartitionState
    last_output: int = 0
    """The sequence of the last output folded into the state; 0 for none."""
    last_input_id: str = ""
    """The id of the last input folded into it."""
    last_input_ns: int = 0
    """When the log received that input, in nanoseconds since 1970."""
    folded: int = 0
    """How many groups had to be folded after its checkpoint to know all this."""


def writes(
    turns: Sequence[Turn], owners: Mapping[int, PartitionOwner]
) -> tuple[GroupWrite, ...]:
    """Return the groups of `turns`, by partition, behind the fences of `owners`."""
    messages: dict[int, list[Wire]] = {}
    for turn in turns:
        # All groups of a partition share one fence: the first message of the batch carries
        # it.
        group = messages.setdefault(turn.input.partition, [])
        group.extend(
            Wire(each.record.subject, each.record.headers, each.record.stored)
            for each in turn.outputs
        )
    return tuple(
        GroupWrite(partition, owners[partition].last_output, tuple(group))
        for partition, group in messages.items()
    )


def advanced(
    turns: Sequence[Turn], ends: Mapping[int, int]
) -> dict[int, PartitionOwner]:
    """Return the partitions after acknowledged turns.

    `ends` holds the sequence of each partition's last output, as the broker gave it.
    """
    # Of several turns of one partition the last holds the newest state.
    newest = {turn.input.partition: turn for turn in turns}
    return {
        partition: PartitionOwner(
            partition=partition,
            state=turn.state,
            last_output=ends[partition],
            last_input_id=turn.input.id,
            last_input_ns=turn.input.record.time_ns,
        )
        for partition, turn in newest.items()
    }
