"""A session file in memory as a log, which `streams.groups` reads as it reads the broker."""

from bisect import bisect_right
from collections.abc import AsyncGenerator, Iterable, Sequence
from uuid import UUID

from schemas.values.record import Record
from streams.log import After, Records, lowest, matches
from streams.session_files.file import SessionFile


class SessionLog:
    """A `ReadableLog` over a session; what it does not hold does not exist for it."""

    def __init__(self, session: SessionFile) -> None:
        """Wrap a session that was read, or one made by hand."""
        self._session = session

    @property
    def epoch(self) -> UUID:
        """The epoch of the log that was recorded."""
        return self._session.header.epoch

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """Return a page of the session's records."""
        return page_of(self._session.records, subjects, after, limit)

    async def follow(
        self, subjects: str, after: After, limit: int
    ) -> AsyncGenerator[Records, None]:
        """Yield what is there; unlike a live log, a recorded one has an end."""
        position = lowest(after)
        while records := await self.page(subjects, position, limit):
            position = records[-1].sequence
            yield records

    async def last_sequence(self, subjects: str) -> int:
        """Return the last matching sequence, searched from the end."""
        return last_of(self._session.records, subjects)

    async def ends(self, subjects: str) -> tuple[int, ...]:
        """Return the last matching sequence: it is all one stream."""
        return (await self.last_sequence(subjects),)

    async def record(self, sequence: int) -> Record | None:
        """Return the record, if the session has it."""
        return record_of(self._session.records, sequence)

    async def blob(self, digest: str) -> bytes | None:
        """Return the blob, if the session has it."""
        return self._session.blobs.get(digest)


def page_of(
    records: Sequence[Record], subjects: str, after: int, limit: int
) -> Records:
    """Return a page of `records`, which must be sorted by sequence but may have gaps."""
    start = bisect_right(records, after, key=lambda record: record.sequence)
    return tuple(_first(records, start, subjects, limit))


def last_of(records: Sequence[Record], subjects: str) -> int:
    """Return the sequence of the last matching record, 0 for none."""
    matching = (each for each in reversed(records) if matches(subjects, each.subject))
    return next((each.sequence for each in matching), 0)


def record_of(records: Sequence[Record], sequence: int) -> Record | None:
    """Return the record with a sequence, if it is there."""
    found = page_of(records, ">", sequence - 1, 1)
    return found[0] if found and found[0].sequence == sequence else None


def _first(
    records: Sequence[Record], start: int, subjects: str, limit: int
) -> Iterable[Record]:
    for place in range(start, len(records)):
        if limit == 0:
            return
        if matches(subjects, records[place].subject):
            limit -= 1
            yield records[place]
