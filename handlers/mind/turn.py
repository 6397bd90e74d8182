"""A turn: one input answered and folded, as bytes. The worker and every replay take them.

This is all that the two drivers share, and they share all of it: what a turn puts out is
byte for byte what the other driver would.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from msgspec import Struct

from handlers.mind import handle
from projections.folds import partition, rate_limits
from schemas.codec import encode, model_answer
from schemas.codec.catalogue import OutputMessage
from schemas.codec.decode import read_output
from schemas.codec.envelope import Input, Mark, Output
from schemas.messages.controls import (
    GoalsSet,
    HeuristicEdited,
    HeuristicSeeded,
    MindStarted,
    PackLoaded,
)
from schemas.messages.results import ModelAnswered
from schemas.messages.sensing import Sensed
from schemas.ports import faults
from schemas.ports.aids import Aids
from schemas.state.agent import STRANGER, Allowance, PartitionState
from schemas.values.record import Record


class Needs(Struct, frozen=True):
    """What the shell must bring for an input."""

    text: str | None = None
    """To be embedded."""
    further: tuple[str, ...] = ()
    """Other texts to be embedded: what heuristics and models say."""
    pack_digest: str | None = None
    """The pack that the input loads."""


class Turn(Struct, frozen=True):
    """An input, the group that answers it, and the state after both."""

    taken: Input
    outputs: tuple[Output, ...]
    state: PartitionState


def needs(taken: Input) -> Needs:
    """What the aids of an input must hold besides the packs in force."""
    match taken.message:
        case Sensed(text=text):
            return Needs(text=text)
        case HeuristicSeeded() as message:
            return Needs(message.condition, further=(message.text,))
        case HeuristicEdited(condition=condition, text=text):
            return Needs(condition, further=(text,) if text else ())
        case ModelAnswered(text=text):
            return Needs(further=model_answer.texts(text))
        case GoalsSet(goals=goals):
            return Needs(further=goals)
        case MindStarted(settings=settings) if settings.goals_choose:
            return Needs(further=settings.goals)
        case PackLoaded(digest=digest):
            return Needs(pack_digest=digest)
        case _:
            return Needs()


def sheds(states: Mapping[int, PartitionState], inputs: Sequence[Input]) -> list[bool]:
    """Which of the next inputs, in order, are more than their sources may send.

    Known before any of them is answered, so that nothing is worked out for these. It ends
    behind an input that may change what sources may send.
    """
    found: list[bool] = []
    allowances: dict[tuple[str, str], Allowance] = {}
    for taken in inputs:
        state = states[taken.partition]
        found.append(_is_shed(state, taken, allowances))
        if isinstance(taken.message, MindStarted):
            break
    return found


def _is_shed(
    state: PartitionState,
    taken: Input,
    allowances: dict[tuple[str, str], Allowance],
) -> bool:
    """Whether an input is too many; `allowances` go on with it."""
    settings, source = state.shared.settings, rate_limits.source_of(taken)
    if settings is None or settings.intake is None or source is None:
        return False
    key = taken.agent, source
    before = allowances.get(key)
    if before is None:
        agent = state.agents.get(taken.agent, STRANGER)
        before = agent.intake.get(source, Allowance())
    after = rate_limits.after(before, settings.intake, taken.record.time_ns)
    allowances[key] = after or before
    return after is None


def answer(state: PartitionState, taken: Input, aids: Aids, epoch: UUID) -> Turn:
    """Answer an input, whatever the mind or a fold makes of it; `state` is before it.

    What raises or is more than the log takes is tried once more with fewer timers, for
    these may be at fault, and is then kept apart with the error's name.

    Raises:
        MissingPackError: a pack in force is not among the aids.
        MemoryError, OSError: of this machine, which no input is to blame for.
    """
    if aids.fault is not None:
        return _kept_apart(state, taken, aids, epoch, aids.fault)
    at_once = handle.TIMERS_AT_ONCE
    while True:
        try:
            made = handle.handle(state, taken, aids, epoch, timers_at_once=at_once)
            return _turn(state, taken, aids, made, epoch)
        except faults.OF_THE_SHELL:
            raise
        except faults.OF_AN_INPUT as error:
            if not at_once:
                return _kept_apart(state, taken, aids, epoch, faults.named(error))
            is_too_much = isinstance(error, faults.OversizeError)
            at_once = at_once // 2 if is_too_much else 0


def _kept_apart(
    state: PartitionState, taken: Input, aids: Aids, epoch: UUID, detail: str
) -> Turn:
    made = handle.kept_apart(state, taken, detail)
    return _turn(state, taken, aids, made, epoch)


def _turn(
    state: PartitionState, taken: Input, aids: Aids, made: handle.Answer, epoch: UUID
) -> Turn:
    outputs = marked(taken, made, epoch)
    faults.check_size([output.record.body for output in outputs])
    # The mind has folded what it said; `fold` makes the same state of the recording.
    return Turn(
        taken, outputs, partition.concluded(state, taken, outputs, made.agent, aids)
    )


def fold(
    state: PartitionState, taken: Input, records: Sequence[Record], aids: Aids
) -> PartitionState:
    """The state after a recorded group, as it was answered then.

    Raises:
        UnreadableOutputError: an output of the group is not what we write.
    """
    outputs = [read_output(record) for record in records]
    return partition.evolve(state, taken, outputs, aids)


def marked(taken: Input, made: handle.Answer, epoch: UUID) -> tuple[Output, ...]:
    """The outputs with their ids and group marks, as the bytes to be stored."""
    count = len(made.outputs)
    return tuple(
        _output(
            taken, message, Mark(taken.sequence, taken.id, index, count), made, epoch
        )
        for index, message in enumerate(made.outputs)
    )


def _output(
    taken: Input, message: OutputMessage, mark: Mark, made: handle.Answer, epoch: UUID
) -> Output:
    wire = encode.write_output(
        message,
        agent=taken.agent,
        partition=taken.partition,
        epoch=epoch,
        mark=mark,
        at=made.at,
    )
    return Output(
        record=Record(wire.subject, wire.headers, wire.body, 0, 0),
        partition=taken.partition,
        agent=taken.agent,
        id=wire.headers["ce-id"],
        at=made.at,
        mark=mark,
        message=message,
    )
