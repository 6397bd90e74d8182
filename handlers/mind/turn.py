"""A turn: one input answered and folded, as bytes. The worker and every replay take them.

This is all that the two drivers share, and they share all of it: what a turn puts out is
byte for byte what the other driver would.
"""

from uuid import UUID

from msgspec import Struct

from handlers.mind import handle
from projections.folds import partition
from schemas.codec import encode
from schemas.codec.catalogue import OutputMessage
from schemas.codec.envelope import Input, Mark, Output
from schemas.ports import faults
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from schemas.values.record import Record


class Turn(Struct, frozen=True):
    """An input, the group that answers it, and the state after both."""

    input: Input
    outputs: tuple[Output, ...]
    state: PartitionState


def answer(state: PartitionState, input_: Input, aids: Aids, epoch: UUID) -> Turn:
    """Answer an input, whatever the mind or a fold makes of it; `state` is before it.

    What raises or is more than the log takes is tried once more with fewer timers, for
    these may be at fault, and is then kept apart with the error's name.

    Raises:
        MissingPackError: a pack in force is not among the aids.
        MemoryError, OSError: of this machine, which no input is to blame for.
    """
    if aids.fault is not None:
        return _kept_apart(state, input_, aids, epoch, aids.fault)
    at_once = handle.TIMERS_AT_ONCE
    while True:
        try:
            made = handle.handle(state, input_, aids, epoch, timers_at_once=at_once)
            return _turn(state, input_, aids, made, epoch)
        except faults.OF_THE_SHELL:
            raise
        except faults.OF_AN_INPUT as error:
            if not at_once:
                return _kept_apart(state, input_, aids, epoch, faults.named(error))
            is_too_much = isinstance(error, faults.OversizeError)
            at_once = at_once // 2 if is_too_much else 0


def _kept_apart(
    state: PartitionState, input_: Input, aids: Aids, epoch: UUID, detail: str
) -> Turn:
    made = handle.kept_apart(state, input_, detail)
    return _turn(state, input_, aids, made, epoch)


def _turn(
    state: PartitionState, input_: Input, aids: Aids, made: handle.Outputs, epoch: UUID
) -> Turn:
    outputs = marked(input_, made, epoch)
    faults.check_size([output.record.body for output in outputs])
    # The mind has folded what it said; `fold` makes the same state of the recording.
    return Turn(
        input_, outputs, partition.concluded(state, input_, outputs, made.agent, aids)
    )


def marked(input_: Input, made: handle.Outputs, epoch: UUID) -> tuple[Output, ...]:
    """Return the outputs with their ids and group marks, as the bytes to be stored."""
    count = len(made.outputs)
    return tuple(
        _output(
            input_, message, Mark(input_.sequence, input_.id, index, count), made, epoch
        )
        for index, message in enumerate(made.outputs)
    )


def _output(
    input_: Input, message: OutputMessage, mark: Mark, made: handle.Outputs, epoch: UUID
) -> Output:
    wire = encode.write_output(
        message,
        agent=input_.agent,
        partition=input_.partition,
        epoch=epoch,
        mark=mark,
        at=made.at,
    )
    return Output(
        record=Record(wire.subject, wire.headers, wire.body, 0, 0),
        partition=input_.partition,
        agent=input_.agent,
        id=wire.headers["ce-id"],
        at=made.at,
        mark=mark,
        message=message,
    )
