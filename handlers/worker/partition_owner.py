"""How far a partition is: its state, and the fence that its next write must pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handlers.mind.turn import Turn
from handlers.worker.listening import Timed
from schemas.state.agent import PartitionState
from schemas.values.record import Wire
from streams.log import GroupWrite

FEW = 8
"""Up to so many turns are written one by one: most are one message, which the broker
stores in a sixth of the time that it takes for a batch (measured)."""


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
            Wire(each.record.subject, each.record.headers, each.record.body)
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
    return {
        # Of several turns of one partition the last wins, which holds the newest state.
        turn.input.partition: PartitionOwner(
            partition=turn.input.partition,
            state=turn.state,
            last_output=ends[turn.input.partition],
            last_input_id=turn.input.id,
            last_input_ns=turn.input.record.time_ns,
        )
        for turn in turns
    }


def parted(timed: Sequence[Timed]) -> tuple[list[list[Timed]], list[Timed]]:
    """Divide turns by how they are written: one by one by partition, or all in one batch.

    A batch costs the server seven times a single message, whether it holds two or twenty:
    partitions that need one for a turn share it.
    """
    if len(timed) > FEW:
        return [], list(timed)
    # Within a partition the order must stay; partitions know nothing of one another.
    by_partition: dict[int, list[Timed]] = {}
    for each in timed:
        by_partition.setdefault(each[0].input.partition, []).append(each)
    alone, together = [], []
    for turns_of_one in by_partition.values():
        if all(len(turn.outputs) == 1 for turn, _ in turns_of_one):
            alone.append(turns_of_one)
        else:
            together += turns_of_one
    return alone, together
