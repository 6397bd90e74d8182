"""A session file in memory as a log, which `streams.groups` reads as it reads the broker."""

from collections.abc import AsyncGenerator
from uuid import UUID

from schemas.values.record import Record
from streams.log import Records
from streams.memory import last_of, page_of, record_of
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
        self, subjects: str, after: int, limit: int
    ) -> AsyncGenerator[Records, None]:
        """Yield what is there; unlike a live log, a recorded one has an end."""
        position = after
        while records := await self.page(subjects, position, limit):
            position = records[-1].sequence
            yield records

    async def last_sequence(self, subjects: str) -> int:
        """Return the last matching sequence, searched from the end."""
        return last_of(self._session.records, subjects)

    async def record(self, sequence: int) -> Record | None:
        """Return the record, if the session has it."""
        return record_of(self._session.records, sequence)

    async def blob(self, digest: str) -> bytes | None:
        """Return the blob, if the session has it."""
        return self._session.blobs.get(digest)
