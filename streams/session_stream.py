"""A session file read as a log page by page, however long it is.

Each direction of reading goes through the file once; only a page is held at a time.
"""

from collections.abc import AsyncGenerator, Iterator
from itertools import islice
from pathlib import Path
from uuid import UUID

from schemas.record import Record
from streams.log import Records, matches
from streams.session_file import SessionFile, read_outline, read_records

READERS = 8
"""How many places in the file are kept open; more are read up to again."""


class SessionStream:
    """A `ReadableLog` over a session file; what it does not hold does not exist for it."""

    def __init__(self, path: Path) -> None:
        """Read the file once, to know that it is whole.

        Raises:
            SessionFileError: it is none of ours, of another version, cut or damaged.
        """
        self._path = path
        self._readers: dict[tuple[str, int], Iterator[Record]] = {}
        self.outline: SessionFile = read_outline(path)
        """The file without its records."""

    @property
    def epoch(self) -> UUID:
        """The epoch of the log that was recorded."""
        return self.outline.header.epoch

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """Read on where the page before this one ended."""
        reader = self._readers.pop((subjects, after), None)
        if reader is None:
            reader = self._behind(subjects, after)
        records = tuple(islice(reader, limit))
        if records:
            self._readers[subjects, records[-1].sequence] = reader
            while len(self._readers) > READERS:
                del self._readers[next(iter(self._readers))]
        return records

    async def follow(
        self, subjects: str, after: int, limit: int
    ) -> AsyncGenerator[Records, None]:
        """Yield what is there; unlike a live log, a recorded one has an end."""
        position = after
        while records := await self.page(subjects, position, limit):
            position = records[-1].sequence
            yield records

    async def last_sequence(self, subjects: str) -> int:
        """Read through all of it."""
        last = 0
        for record in self._behind(subjects, 0):
            last = record.sequence
        return last

    async def record(self, sequence: int) -> Record | None:
        """Read up to it."""
        found = next(self._behind(">", sequence - 1), None)
        return found if found is not None and found.sequence == sequence else None

    async def blob(self, digest: str) -> bytes | None:
        """Look it up."""
        return self.outline.blobs.get(digest)

    def _behind(self, subjects: str, after: int) -> Iterator[Record]:
        records = read_records(self._path, lambda subject: matches(subjects, subject))
        return (record for record in records if record.sequence > after)
