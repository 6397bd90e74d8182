"""A turn: one input answered and folded, with its outputs as bytes.

`answer` is the only entry of worker and replay alike, so a replay of the same input on the
same state repeats the outputs byte for byte.
"""

from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from handlers.mind import handle
from projections.folds import partition
from schemas.codec import encode
from schemas.codec.catalogue import OutputMessage
from schemas.codec.envelope import Input, Mark, Output
from schemas.ports import faults
from schemas.ports.aids import Aids
from schemas.ports.probe import Probe, unprobed
from schemas.ports.sealing import Seal
from schemas.state.agent import PartitionState
from schemas.values.record import Record


class Turn(Struct, frozen=True):
    """An input, the group that answers it, and the state after both."""

    input: Input
    outputs: tuple[Output, ...]
    state: PartitionState


def answer(
    state: PartitionState,
    input_: Input,
    aids: Aids,
    epoch: UUID,
    *,
    probe: Probe = unprobed,
    seal: Seal | None = None,
) -> Turn:
    """Answer an input, even if the mind or a fold raises of it; `state` is before it.

    What raises is tried once more without timers, and what is more than the log takes with
    half of them each time, for they may be at fault. What fails still is quarantined with
    the error's name. `probe` is told the stages of a decision, of each attempt; `seal`
    seals the outputs, before the chain covers them.

    Raises:
        MissingPackError: a pack in force is not among the aids.
        MemoryError, OSError: of this machine, which no input is to blame for.
    """
    # Embedding it failed where a harmless text did not: the input is to blame (ADR 0012).
    if aids.fault is not None:
        return _kept_apart(state, input_, aids, epoch, aids.fault, seal)
    at_once = handle.TIMERS_AT_ONCE
    while True:
        try:
            made = handle.handle(
                state, input_, aids, epoch, timers_at_once=at_once, probe=probe
            )
            return _turn(state, input_, aids, made, epoch, seal)
        except faults.OF_THE_SHELL:
            raise
        except faults.OF_AN_INPUT as error:
            if not at_once:
                fault = faults.named(error)
                return _kept_apart(state, input_, aids, epoch, fault, seal)
            # With fewer timers a group that is too large may fit; anything else gets none
            # at all.
            is_too_much = isinstance(error, faults.OversizeError)
            at_once = at_once // 2 if is_too_much else 0


def _kept_apart(
    state: PartitionState,
    input_: Input,
    aids: Aids,
    epoch: UUID,
    detail: str,
    seal: Seal | None,
) -> Turn:
    made = handle.kept_apart(state, input_, detail)
    return _turn(state, input_, aids, made, epoch, seal)


def _turn(
    state: PartitionState,
    input_: Input,
    aids: Aids,
    made: handle.Outputs,
    epoch: UUID,
    seal: Seal | None,
) -> Turn:
    outputs = marked(input_, made, epoch)
    if seal is not None:
        records = seal(input_, [output.record for output in outputs])
        outputs = tuple(
            replace(output, record=record)
            for output, record in zip(outputs, records, strict=True)
        )
    faults.check_size([output.record.body for output in outputs])
    # Bytes are checked here, once they exist: JSON may be longer than what was counted.
    # The mind has folded its outputs; the recorded bytes fold to the same state.
    return Turn(
        input_, outputs, partition.concluded(state, input_, outputs, made.agent, aids)
    )


def marked(input_: Input, made: handle.Outputs, epoch: UUID) -> tuple[Output, ...]:
    """Encode the outputs, each with its id and group mark (cause, index, count).

    By its mark a reader knows when a group is whole; the count is the same in all.
    """
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
    # What is made is not validated, and what nobody can read again would end the partition.
    type(message).from_bytes(wire.body)
    return Output(
        # Sequence and time are 0: the broker assigns them, and no fold of outputs may use
        # them.
        record=Record(wire.subject, wire.headers, wire.body, 0, 0),
        partition=input_.partition,
        agent=input_.agent,
        id=wire.headers["ce-id"],
        at=made.at,
        mark=mark,
        message=message,
    )
