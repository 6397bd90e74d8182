"""A log in memory that behaves like the broker's, for tests and benches.

It passes the same contract suite as the log on JetStream.
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from uuid import UUID, uuid4

from schemas.values.record import Record, Wire
from schemas.values.subjects import outputs_of
from streams.errors import Fenced
from streams.headers import own_headers
from streams.log import (
    After,
    GroupWrite,
    Records,
    check_input,
    check_writes,
    lowest,
    same_messages,
)
from streams.session_files.memory_log import last_of, page_of, record_of


class MemoryLog:
    """A `ReadableLog` and `WritableLog` over a list of records."""

    def __init__(
        self, epoch: UUID | None = None, clock: Callable[[], int] = time.time_ns
    ) -> None:
        """Start empty; `clock` returns the time of arrival in nanoseconds since 1970."""
        self._epoch = epoch or uuid4()
        self._clock = clock
        self._records: list[Record] = []
        self._ends: dict[int, int] = {}
        """The last output of each partition."""
        self._blobs: dict[str, bytes] = {}
        self._grown = asyncio.Condition()

    @property
    def epoch(self) -> UUID:
        """Drawn when the log was created."""
        return self._epoch

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """Return a page of the list."""
        return page_of(self._records, subjects, after, limit)

    async def follow(
        self, subjects: str, after: After, limit: int
    ) -> AsyncGenerator[Records, None]:
        """Yield pages, waiting for the list to grow in between."""
        position = lowest(after)
        while True:
            while records := await self.page(subjects, position, limit):
                position = records[-1].sequence
                yield records
            # Looked at again under the lock: a record stored since the page was read has
            # been announced already, and would not wake us.
            async with self._grown:
                if not page_of(self._records, subjects, position, 1):
                    await self._grown.wait()

    async def last_sequence(self, subjects: str) -> int:
        """Return the last matching sequence, searched from the end."""
        return last_of(self._records, subjects)

    async def ends(self, subjects: str) -> tuple[int, ...]:
        """Return the last matching sequence: it is all one stream."""
        return (await self.last_sequence(subjects),)

    async def record(self, sequence: int) -> Record | None:
        """Return the record, if there is one."""
        return record_of(self._records, sequence)

    async def blob(self, digest: str) -> bytes | None:
        """Return the blob, if there is one."""
        return self._blobs.get(digest)

    async def append(self, wire: Wire, message_id: str) -> int:
        """Append one input; a repeat as well, as a log does that takes from sensors."""
        check_input(wire)
        record = self._store(wire)
        await self._announce()
        return record.sequence

    async def commit(self, writes: Sequence[GroupWrite]) -> dict[int, int]:
        """Append all groups, if no partition has other outputs than its writer knows."""
        check_writes(writes)
        # All fences are checked before anything is stored, and without an await in
        # between, which makes the write atomic on one event loop.
        stored = {write.partition: self._stored(write) for write in writes}
        if all(stored.values()):
            return {each: records[-1].sequence for each, records in stored.items()}
        for write in writes:
            for wire in write.messages:
                self._ends[write.partition] = self._store(wire).sequence
        await self._announce()
        return {write.partition: self._ends[write.partition] for write in writes}

    async def put_blob(self, data: bytes) -> str:
        """Store the bytes under their sha256, and return it as hex."""
        digest = hashlib.sha256(data).hexdigest()
        self._blobs[digest] = data
        return digest

    def _stored(self, write: GroupWrite) -> Records:
        """Return the records of a write that is stored already; none if it is not.

        Raises:
            Fenced: the partition has other outputs behind the fence.
        """
        expected = write.expected_last_output_sequence
        if self._ends.get(write.partition, 0) == expected:
            return ()
        subjects = outputs_of(write.partition)
        found = page_of(self._records, subjects, expected, len(write.messages) + 1)
        if not same_messages(found, write.messages):
            raise Fenced(write.partition, expected)
        return found

    def _store(self, wire: Wire) -> Record:
        record = Record(
            subject=wire.subject,
            headers=own_headers(wire.headers),
            body=wire.body,
            sequence=len(self._records) + 1,
            time_ns=self._clock(),
        )
        self._records.append(record)
        return record

    async def _announce(self) -> None:
        async with self._grown:
            self._grown.notify_all()
