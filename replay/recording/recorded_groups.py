"""Walk a recording group by group, each with what was in force before and after it.

Whatever reads recordings reads them through this. One group is held at a time, so memory
does not grow with a recording's length, and each message is decoded once, however many
readers share the pass.
"""

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing

from replay.recording.decisions import DecisionRecord, DecisionRecords
from replay.recording.in_force import CHANGE_TOKENS, InForce, with_packs
from replay.recording.source import Recording
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Input, Output
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided, Dropped, HeuristicFired
from schemas.values.record import Record
from streams.groups import Group
from streams.log import ReadableLog

_OF_DECISIONS = frozenset(
    message.token
    for message in (Decided, Completed, Dropped, HeuristicFired, ModelAsked)
)


class RecordedGroup:
    """One group of an agent, or of what it shares, decoded as far as it is asked for."""

    def __init__(self, group: Group, before: InForce) -> None:
        """Wrap a group; `before` is what was in force at its input, packs and all."""
        self.records = group.outputs
        self.tokens = tuple(map(token_of, group.outputs))
        """What sort of output each is, in order."""
        self.before = before
        self.after = before
        """What is in force once it is answered; the same unless a control changed it."""
        self._group = group
        self._input: Input | None = None
        self._outputs: dict[int, Output] = {}
        """The outputs that were decoded so far, by their place."""

    @property
    def sequence(self) -> int:
        """The input's place in the log."""
        return self._group.input.sequence

    @property
    def arrived_ns(self) -> int:
        """The broker's time of the input, in nanoseconds since 1970."""
        return self._group.input.time_ns

    @property
    def written_ns(self) -> int:
        """The broker's time of its outputs, in nanoseconds since 1970."""
        return written_ns(self._group)

    @property
    def is_result(self) -> bool:
        """Whether its input answers an ask."""
        return self._group.input.subject.split(".", 5)[4] == "result"

    @property
    def input(self) -> Input:
        """The input, decoded."""
        if self._input is None:
            self._input = read_input(self._group.input)
        return self._input

    def outputs(self, wanted: Collection[str] | None = None) -> list[Output]:
        """Return the outputs of some sorts, decoded, in order; None: all of them.

        Raises:
            UnreadableOutputError: one of them is damaged, or of a newer program.
        """
        return [
            self._output(place)
            for place, token in enumerate(self.tokens)
            if wanted is None or token in wanted
        ]

    def _output(self, place: int) -> Output:
        output = self._outputs.get(place)
        if output is None:
            output = self._outputs[place] = read_output(self.records[place])
        return output


async def recorded_groups(recording: Recording) -> AsyncGenerator[RecordedGroup, None]:
    """Yield the groups of a recording that concern its agent, in order.

    Raises:
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged, SessionFileError: the recording is not sound or not whole.
    """
    in_force = InForce.of(recording.start, recording.agent)
    in_force = await with_packs(in_force, recording.log)
    async with aclosing(recording.groups()) as groups:
        async for group in groups:
            if recording.concerns(group):
                found = await in_context(group, in_force, recording.log)
                in_force = found.after
                if found.sequence >= recording.first:
                    yield found


async def read_groups(
    recording: Recording, read: Callable[[RecordedGroup], object]
) -> None:
    """Give `read` each of the recording's groups that concern its agent, in order.

    Raises:
        UnreadableOutputError, LogDamaged, SessionFileError: as `recorded_groups`.
    """
    async with aclosing(recorded_groups(recording)) as groups:
        async for group in groups:
            read(group)


async def in_context(group: Group, before: InForce, log: ReadableLog) -> RecordedGroup:
    """Return a group with what is in force before it and after it, packs and all.

    Raises:
        UnreadableOutputError: an output is of a newer program, or a control's is damaged.
    """
    found = RecordedGroup(group, before)
    for record in group.outputs:
        # A newer program's output may mean anything: reading it raises.
        if record.headers.get("ce-schemaversion", "1") != "1":
            read_output(record)
    if not CHANGE_TOKENS.isdisjoint(found.tokens):
        found.after = await with_packs(before.after(found.input, found.outputs()), log)
    return found


def records_in(group: RecordedGroup, records: DecisionRecords) -> list[DecisionRecord]:
    """Return the records that a group opened or ended, as they now stand."""
    outputs = group.outputs(_OF_DECISIONS)
    # Most other groups say nothing of a decision, so their input need not be decoded.
    if not outputs and not group.is_result:
        return []
    return records.take(group.input, outputs)


def token_of(record: Record) -> str:
    """Return the last token of a record's subject: what sort of output it is."""
    return record.subject.rpartition(".")[2]


def written_ns(group: Group) -> int:
    """Return when a group was written, by the broker's clock, in nanoseconds since 1970."""
    # The outputs of a replay have no time.
    return max(group.outputs[-1].time_ns, group.input.time_ns)
