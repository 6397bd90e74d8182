"""A turn: one input answered and folded, as bytes. The worker and every replay take them.

This is all that the two drivers share, and they share all of it: what a turn puts out is
byte for byte what the other driver would.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from handlers import mind
from projections.folds import partition
from schemas import answers, writing
from schemas.aids import Aids
from schemas.catalogue import OutputMessage
from schemas.controls import (
    GoalsSet,
    HeuristicEdited,
    HeuristicSeeded,
    MindStarted,
    PackLoaded,
)
from schemas.envelope import Input, Mark, Output
from schemas.reading import read_output
from schemas.record import Record
from schemas.results import ModelAnswered
from schemas.sensing import Sensed
from schemas.state import PartitionState


@dataclass(frozen=True, slots=True)
class Needs:
    """What the shell must bring for an input."""

    text: str | None = None
    """To be embedded."""
    further: tuple[str, ...] = ()
    """Other texts to be embedded: what heuristics and models say."""
    pack_digest: str | None = None
    """The pack that the input loads."""


@dataclass(frozen=True, slots=True)
class Turn:
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
            return Needs(further=answers.texts(text))
        case GoalsSet(goals=goals):
            return Needs(further=goals)
        case MindStarted(settings=settings) if settings.goals_choose:
            return Needs(further=settings.goals)
        case PackLoaded(digest=digest):
            return Needs(pack_digest=digest)
        case _:
            return Needs()


def answer(state: PartitionState, taken: Input, aids: Aids, epoch: UUID) -> Turn:
    """Answer an input; `state` is before it.

    Raises:
        MissingPackError: a pack in force is not among the aids.
    """
    made = mind.handle(state, taken, aids, epoch)
    outputs = _marked(taken, made, epoch)
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


def _marked(taken: Input, made: mind.Answer, epoch: UUID) -> tuple[Output, ...]:
    """The outputs with their ids and group marks, as the bytes to be stored."""
    count = len(made.outputs)
    return tuple(
        _output(
            taken, message, Mark(taken.sequence, taken.id, index, count), made, epoch
        )
        for index, message in enumerate(made.outputs)
    )


def _output(
    taken: Input, message: OutputMessage, mark: Mark, made: mind.Answer, epoch: UUID
) -> Output:
    wire = writing.write_output(
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
