"""The interface of a log, whatever stores it: the broker, memory, or a file.

Reading and writing are two protocols, so that a replay can be given the one without the
other. Sequences start at 1, and a reader never sees 7 before 6.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from uuid import UUID

from schemas.codec.catalogue import InputMessage
from schemas.codec.decode import read_input, read_output
from schemas.codec.encode import wire_digest, write_input
from schemas.values.base import Message
from schemas.values.ids import EPOCH_PREFIX
from schemas.values.record import Record, Wire
from schemas.values.subjects import (
    INPUT_KINDS,
    input_subject,
    output_subject,
    parse,
    partition_of,
)
from streams.errors import LogRefused
from streams.topology import BATCH_LIMIT

Records = tuple[Record, ...]
After = int | tuple[int, ...]
"""Behind which sequence a reader goes on. A log whose partitions stand in several streams has
no end of all of them, but one end for each: `ReadableLog.ends`."""

_M = TypeVar("_M", bound=Message)

_SCAN_PAGE = 1_000
"""How many records `scan` asks for at once, and so holds in memory."""


@dataclass(frozen=True, slots=True)
class GroupWrite:
    """Whole groups of one partition, to be appended if nobody else wrote there since.

    The condition is the fence: optimistic concurrency on the partition's outputs.
    """

    partition: int
    expected_last_output_sequence: int
    """The sequence of the partition's last output as the writer knows it, 0 for none."""
    messages: tuple[Wire, ...]


class ReadableLog(Protocol):
    """A log that can be read; it has no method that could change anything."""

    @property
    def epoch(self) -> UUID:
        """A random UUID drawn when the log was created, which identifies it."""
        ...

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """Return at most `limit` records over sequence `after`; none only at the log's end.

        It may lag behind a write, as a replica may serve it, but it has no gaps.
        """
        ...

    def follow(
        self, subjects: str, after: After, limit: int
    ) -> AsyncGenerator[Records, None]:
        """Yield what is stored, then what arrives: 1 to `limit` records at once.

        Of several partitions those of one are in order. It survives reconnects and restarts
        of the broker, and ends only when it is closed.
        """
        ...

    async def last_sequence(self, subjects: str) -> int:
        """Return the sequence of the last matching record, 0 for none; never behind a write."""
        ...

    async def ends(self, subjects: str) -> tuple[int, ...]:
        """Return behind what `follow` yields just what arrives from now on."""
        ...

    async def record(self, sequence: int) -> Record | None:
        """Return one record, None if there is none; never behind a write."""
        ...

    async def blob(self, digest: str) -> bytes | None:
        """Return the bytes with this sha256 (hex), None if they were not stored."""
        ...


class WritableLog(Protocol):
    """A log to which inputs, groups and blobs can be written."""

    async def append(self, wire: Wire, message_id: str) -> int:
        """Append one of our own inputs and return its sequence.

        A message may be stored twice when acknowledgements are lost; the state that folds
        the log refuses the repeated ce-id.

        Raises:
            LogUnavailable: no answer within the deadline; it may be stored.
            LogFull: there is no room.
            LogRefused: it can never be stored.
        """
        ...

    async def commit(self, writes: Sequence[GroupWrite]) -> dict[int, int]:
        """Append all writes or none, and return each partition's last output sequence.

        A write that is already stored, byte for byte, counts as appended.

        Raises:
            Fenced: somebody else wrote to a partition; nothing of ours counts.
            LogUnavailable: no answer within the deadline; it may be stored.
            LogFull: there is no room.
            LogRefused: it can never be stored.
        """
        ...

    async def put_blob(self, data: bytes) -> str:
        """Store bytes and return their sha256 (hex); equal bytes are stored once."""
        ...


def lowest(after: After) -> int:
    """Return where a position begins in a log that is one stream."""
    return after if isinstance(after, int) else min(after)


async def scan(
    log: ReadableLog, subjects: str, after: int = 0, until: int | None = None
) -> AsyncIterator[Record]:
    """Yield the records over `after`, up to `until` or to the end met on the way."""
    while page := await log.page(subjects, after, _SCAN_PAGE):
        for record in page:
            if until is not None and record.sequence > until:
                return
            yield record
        after = page[-1].sequence
        if after == until:
            return


async def messages(
    log: ReadableLog,
    kind: type[_M],
    agent: str,
    *,
    partition: int | None = None,
    after: int = 0,
) -> AsyncIterator[tuple[Record, _M]]:
    """Yield an agent's messages of one type over a sequence, each with its record.

    The partition is the agent's own, unless a shared agent's is named.
    """
    where = partition_of(agent) if partition is None else partition
    is_input = kind.kind in INPUT_KINDS
    subject = (input_subject if is_input else output_subject)(
        where, agent, kind.kind, kind.token
    )
    async for record in scan(log, subject, after):
        message = (read_input if is_input else read_output)(record).message
        # An input that cannot be read is of no type.
        if isinstance(message, kind):
            yield record, message


async def append_input(
    writer: WritableLog,
    epoch: UUID,
    message: InputMessage,
    *,
    agent: str,
    partition: int,
    id_: str,
    source: str,
) -> int:
    """Append one of our own inputs under the given id, and return its sequence.

    Raises what `WritableLog.append` raises; a retry has to give the same id.
    """
    wire = write_input(
        message, agent=agent, partition=partition, id_=id_, source=source
    )
    # A shared control has one id in all partitions, while the broker drops duplicates by
    # message id over the whole stream; so the partition is part of it.
    return await writer.append(wire, f"{EPOCH_PREFIX}{epoch}:{partition}:{id_}")


def check_input(wire: Wire) -> None:
    """Raise `LogRefused` unless the subject is that of an input.

    An output written here would bypass the fence.
    """
    if parse(wire.subject).direction != "in":
        raise LogRefused(
            f"{wire.subject!r} is no input: outputs are written by commit()"
        )


def check_writes(writes: Sequence[GroupWrite]) -> None:
    """Check writes before anything is sent.

    Raises:
        LogRefused: too many messages, an empty write, a partition twice, or a message that
            is no output of its partition.
    """
    # All writes go into one atomic batch, so the server's limit holds for their sum.
    count = sum(len(write.messages) for write in writes)
    if count > BATCH_LIMIT:
        raise LogRefused(f"{count} messages in one write: at most {BATCH_LIMIT}")
    if len({write.partition for write in writes}) != len(writes):
        raise LogRefused("a partition stands twice in one write: join its messages")
    for write in writes:
        if not write.messages:
            raise LogRefused(f"the write of partition {write.partition} is empty")
        for wire in write.messages:
            subject = parse(wire.subject)
            if subject.direction != "out" or subject.partition != write.partition:
                raise LogRefused(
                    f"{wire.subject!r} is no output of partition {write.partition}"
                )


def same_messages(found: Sequence[Record], written: Sequence[Wire]) -> bool:
    """Tell whether the records are the messages written, by all that a replay compares.

    Subject, own headers and body; sequence and time are the broker's.
    """
    return len(found) == len(written) and all(
        _digest(record) == _digest(wire)
        for record, wire in zip(found, written, strict=True)
    )


def _digest(message: Record | Wire) -> bytes:
    return wire_digest(message.subject, message.headers, message.body)


def matches(subjects: str, subject: str) -> bool:
    """Tell whether a subject matches a filter, with NATS's meaning of `*` and `>`.

    `>` stands for one token or more, never for none.
    """
    pattern, tokens = subjects.split("."), subject.split(".")
    for place, wanted in enumerate(pattern):
        if wanted == ">":
            return len(tokens) > place
        if place >= len(tokens) or wanted not in ("*", tokens[place]):
            return False
    return len(tokens) == len(pattern)
