"""A session file read as a log, so that the one reader works on it as on the broker."""

from collections.abc import AsyncGenerator
from uuid import UUID

from schemas.values.record import Record
from streams.log import Records
from streams.memory import last_of, page_of, record_of
from streams.session_files.file import SessionFile


class SessionLog:
    """A `ReadableLog` over a session; what it does not hold does not exist for it."""

    def __init__(self, session: SessionFile) -> None:
        """Take a session that was read, or one made by hand."""
        self._session = session

    @property
    def epoch(self) -> UUID:
        """The epoch of the log that was recorded."""
        return self._session.header.epoch

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """Read from the session."""
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
        """Search from the end."""
        return last_of(self._session.records, subjects)

    async def record(self, sequence: int) -> Record | None:
        """Look it up."""
        return record_of(self._session.records, sequence)

    async def blob(self, digest: str) -> bytes | None:
        """Look it up."""
        return self._session.blobs.get(digest)
