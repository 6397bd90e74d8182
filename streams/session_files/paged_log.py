"""A session file as a log that is read page by page, in bounded memory.

`streams.groups` asks for inputs and outputs in turn. Both are served by one pass through the
compressed file, which cannot be sought in; what the other has not asked for yet is held.
"""

from collections import deque
from collections.abc import AsyncGenerator, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal
from uuid import UUID

from schemas.values.record import Record
from schemas.values.subjects import inputs_of, outputs_of
from streams.log import After, Records, lowest, matches
from streams.session_files.file import read_outline, read_records

_PASSES = 4
"""How many passes are kept open; beyond it the least recently used one is dropped, and its
reader starts a new pass from the file's beginning."""

AT_ONCE = 256
"""How many records are read from the file when more are wanted."""

HELD = 50_000
"""How many records of one direction are held while only the other is read; beyond it they
are dropped, and a reader of that direction starts a new pass."""

_Direction = Literal["in", "out"]


class SessionStream:
    """A `ReadableLog` over a session file; what it does not hold does not exist for it."""

    def __init__(self, path: Path, agent: str | None = None) -> None:
        """Read the file once, to check that it is whole; of a world's, one agent's session.

        Raises:
            SessionFileError: it is none of ours, of another version, cut or damaged.
        """
        self._path, self._agent = path, agent
        self._passes: list[_Pass] = []
        self.outline, self.subjects = read_outline(path, agent)
        """The file without its records, and the subjects of these."""

    @property
    def epoch(self) -> UUID:
        """The epoch of the log that was recorded."""
        return self.outline.header.epoch

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """Return the next page, at little cost where it continues the page before."""
        partition = self.outline.header.partition
        if subjects == inputs_of(partition):
            return self._pass("in", after).page("in", limit)
        if subjects == outputs_of(partition):
            return self._pass("out", after).page("out", limit)
        return tuple(islice(self._behind(subjects, after), limit))

    async def follow(
        self, subjects: str, after: After, limit: int
    ) -> AsyncGenerator[Records, None]:
        """Yield what is there; unlike a live log, a recorded one has an end."""
        records = self._behind(subjects, lowest(after))
        while page := tuple(islice(records, limit)):
            yield page

    async def last_sequence(self, subjects: str) -> int:
        """Return the last matching sequence, by reading the whole file."""
        last = 0
        for record in self._behind(subjects, 0):
            last = record.sequence
        return last

    async def ends(self, subjects: str) -> tuple[int, ...]:
        """Return the last matching sequence: it is all one stream."""
        return (await self.last_sequence(subjects),)

    async def record(self, sequence: int) -> Record | None:
        """Return the record, by reading the file up to it."""
        found = next(self._behind(">", sequence - 1), None)
        return found if found is not None and found.sequence == sequence else None

    async def blob(self, digest: str) -> bytes | None:
        """Return the blob, if the file has it."""
        return self.outline.blobs.get(digest)

    def _behind(self, subjects: str, after: int) -> Iterator[Record]:
        # Saves a pass through the file for a subject that it does not have.
        if not any(matches(subjects, each) for each in self.subjects):
            return iter(())
        records = read_records(
            self._path, lambda subject: matches(subjects, subject), self._agent
        )
        return (record for record in records if record.sequence > after)

    def _pass(self, direction: _Direction, after: int) -> "_Pass":
        """Return the pass that stands at `after` in this direction, or start a new one."""
        passes = self._passes
        found = next((each for each in passes if each.ends[direction] == after), None)
        if found is None:
            found = _Pass(self._path, self._agent, after)
        # Kept in order of use, the latest last; the slice drops the oldest beyond `_PASSES`.
        self._passes = [each for each in passes if each is not found][1 - _PASSES :]
        self._passes.append(found)
        return found


class _Pass:
    """One pass through the file, from behind a sequence."""

    def __init__(self, path: Path, agent: str | None, after: int) -> None:
        self._records = read_records(path, lambda subject: True, agent)
        self._after = after
        self._held: dict[_Direction, deque[Record]] = {"in": deque(), "out": deque()}
        self.ends: dict[_Direction, int | None] = {"in": after, "out": after}
        """The last sequence served in each direction; None if records were dropped."""

    def page(self, direction: _Direction, limit: int) -> Records:
        """Return the next records in a direction; none at the file's end."""
        held = self._held[direction]
        while not held and self._read_on(direction):
            pass
        page = tuple([held.popleft() for _ in range(min(limit, len(held)))])
        if page:
            self.ends[direction] = page[-1].sequence
        return page

    def _read_on(self, wanted: _Direction) -> bool:
        """Read `AT_ONCE` records more, and tell whether there were any."""
        some = list(islice(self._records, AT_ONCE))
        for record in some:
            is_input = record.subject.split(".", 3)[2] == "in"
            direction: _Direction = "in" if is_input else "out"
            if record.sequence > self._after and self.ends[direction] is not None:
                self._held[direction].append(record)
        other: _Direction = "out" if wanted == "in" else "in"
        if len(self._held[other]) > HELD:
            self._held[other].clear()
            self.ends[other] = None
        return bool(some)
