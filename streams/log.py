"""What a log can do, whoever keeps it: the broker, memory, or a file.

Reading and writing are two protocols, so that what replays can be given the one without
the other. Sequences start at 1; a reader never sees 7 before 6.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from schemas.codec.catalogue import InputMessage
from schemas.codec.encode import wire_digest, write_input
from schemas.values.ids import EPOCH_PREFIX
from schemas.values.record import Record, Wire
from schemas.values.subjects import parse
from streams.errors import LogRefused
from streams.topology import BATCH_LIMIT

Records = tuple[Record, ...]

_SCAN_PAGE = 1_000
"""How many records `scan` asks for at once."""


@dataclass(frozen=True, slots=True)
class GroupWrite:
    """Whole groups of one partition, to be appended if nobody else wrote there since."""

    partition: int
    expected_last_output_sequence: int
    """The sequence of the partition's last output as the writer knows it, 0 for none."""
    messages: tuple[Wire, ...]


class ReadableLog(Protocol):
    """A log that can be read; it holds nothing that could act."""

    @property
    def epoch(self) -> UUID:
        """Drawn when the log was made; tells one log from another."""
        ...

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """At most `limit` records over sequence `after`; empty only at the log's end."""
        ...

    def follow(
        self, subjects: str, after: int, limit: int
    ) -> AsyncGenerator[Records, None]:
        """Yield what is there and then what arrives, never nothing, at most `limit` at once.

        It outlives reconnects and restarts of the broker, and ends only when it is closed.
        """
        ...

    async def last_sequence(self, subjects: str) -> int:
        """Return the sequence of the last matching record, 0 for none; never behind a write."""
        ...

    async def record(self, sequence: int) -> Record | None:
        """Return one record; never behind a write."""
        ...

    async def blob(self, digest: str) -> bytes | None:
        """Return the bytes with this sha256 (hex), if they were stored."""
        ...


class WritableLog(Protocol):
    """A log that takes inputs, groups and blobs."""

    async def append(self, wire: Wire, message_id: str) -> int:
        """Append one of our own inputs and return its sequence.

        The same message may be stored twice when answers are lost; the reader's state
        refuses the repeated ce-id.

        Raises:
            LogUnavailable: no answer within the deadline; it may be stored.
            LogFull: there is no room.
            LogRefused: it can never be stored.
        """
        ...

    async def commit(self, writes: Sequence[GroupWrite]) -> dict[int, int]:
        """Append all writes or none, and return each partition's last output sequence.

        Raises:
            Fenced: somebody else wrote to a partition; nothing of ours counts.
            LogUnavailable: no answer within the deadline; it may be stored.
            LogFull: there is no room.
            LogRefused: it can never be stored.
        """
        ...

    async def put_blob(self, data: bytes) -> str:
        """Store bytes by their sha256 (hex), which is returned; the same bytes once."""
        ...


async def scan(
    log: ReadableLog, subjects: str, after: int = 0, until: int | None = None
) -> AsyncIterator[Record]:
    """Yield the records over `after`, up to `until` or to where the log ends by then."""
    while page := await log.page(subjects, after, _SCAN_PAGE):
        for record in page:
            if until is not None and record.sequence > until:
                return
            yield record
        after = page[-1].sequence
        if after == until:
            return


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
    """Append one of our own inputs under the id that is given; return its sequence.

    Raises what `WritableLog.append` raises; who tries again gives the same id.
    """
    wire = write_input(
        message, agent=agent, partition=partition, id_=id_, source=source
    )
    # A shared control has one id in all partitions; the broker must keep each.
    return await writer.append(wire, f"{EPOCH_PREFIX}{epoch}:{partition}:{id_}")


def check_input(wire: Wire) -> None:
    """Refuse what is not an input of the log."""
    if parse(wire.subject).direction != "in":
        raise LogRefused(
            f"{wire.subject!r} is no input: outputs are written by commit()"
        )


def check_writes(writes: Sequence[GroupWrite]) -> None:
    """Refuse writes that are empty, too many, twice of a partition, or no outputs of it."""
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
    """Tell whether the log holds just what was written, by all that a replay compares."""
    return len(found) == len(written) and all(
        _digest(record) == _digest(wire)
        for record, wire in zip(found, written, strict=True)
    )


def _digest(message: Record | Wire) -> bytes:
    return wire_digest(message.subject, message.headers, message.body)


def matches(subjects: str, subject: str) -> bool:
    """Tell whether a subject is of a filter, with the broker's meaning of `*` and `>`."""
    pattern, tokens = subjects.split("."), subject.split(".")
    for place, wanted in enumerate(pattern):
        if wanted == ">":
            return len(tokens) > place
        if place >= len(tokens) or wanted not in ("*", tokens[place]):
            return False
    return len(tokens) == len(pattern)
