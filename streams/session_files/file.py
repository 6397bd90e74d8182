"""A recorded session as a file: compressed JSON lines, read whole or refused.

A header with the checkpoint at the session's start, the blobs it needs, every message as
the log holds it, and a trailer. Headers that can be derived are left out (`line.py`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

import msgspec
import orjson
import zstandard
from msgspec import Struct, field

from schemas.values.record import Record
from schemas.values.subjects import is_agent, parse
from streams.errors import SessionFileError
from streams.groups import groups
from streams.log import ReadableLog
from streams.session_files.line import Lines, read_blob, write_blob

FORMAT = "echoic session"
VERSION = 1

Wanted = Callable[[str], bool]
"""Tells of a subject whether its record is wanted."""
LEVEL = 15
"""The zstd level: with it a session of 600 events stays well under 400 KB."""

LINE_BYTES = 64_000_000
"""The most bytes of a line; a file with a longer one was not written by us, and must not
fill the memory."""

PACKED_BYTES = 1_024
"""Compressed bytes that are decompressed at a time: they become 32 MB at the most, whoever
made the file."""


class SessionHeader(Struct, frozen=True):
    """Whose session it is, where in which log it stood, and the state before it."""

    epoch: UUID
    agent: str
    session_id: str = field(name="session")
    partition: int
    first: int
    """The sequence of the session's first input."""
    last: int
    """The sequence of its last input; the outputs that answer it come later."""
    checkpoint: object
    """Whatever JSON the caller needs to have the state before `first`."""


@dataclass(frozen=True, slots=True)
class SessionTrailer:
    """What shows that the file is complete."""

    messages: int
    chain: str
    """The agent's chain digest after the last group, as the caller computed it."""


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A recorded session, read."""

    header: SessionHeader
    records: Sequence[Record]
    """By sequence: the messages of the agent, and those of its partition's `_`."""
    blobs: Mapping[str, bytes]
    trailer: SessionTrailer


async def collect(
    log: ReadableLog, *, partition: int, agent: str, first: int, last: int
) -> tuple[Record, ...]:
    """Return the records of a session: its whole groups from the input `first` to `last`.

    Raises:
        LogDamaged: the log is not sound there.
    """
    records: list[Record] = []
    async for group in groups(log, partition, after=first - 1, until=last):
        named = parse(group.input.subject).agent
        # Inputs of an invalid agent are answered by the shared agent `_`, whose messages
        # belong to every session.
        if named == agent or not is_agent(named):
            records += (group.input, *group.outputs)
    return tuple(sorted(records, key=lambda record: record.sequence))


def write_session(path: Path, session: SessionFile) -> None:
    """Write the file atomically: a failure leaves what was there."""
    draft = path.with_name(path.name + ".new")
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    try:
        with draft.open("wb") as file, compressor.stream_writer(file) as packed:
            for line in _lines(session):
                packed.write(orjson.dumps(line) + b"\n")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read_session(path: Path) -> SessionFile:
    """Read a file and check that it is whole.

    Raises:
        SessionFileError: it is none of ours, of another version, cut or damaged.
    """
    reading = _Reading(path)
    records = tuple(reading.records())
    return SessionFile(reading.header, records, reading.blobs, reading.trailer)


def read_outline(path: Path) -> tuple[SessionFile, frozenset[str]]:
    """Read a file without its records, and check that it is not cut.

    Return the file without records, and the subjects of all of them.

    Raises:
        SessionFileError: it is none of ours, of another version, cut or damaged.
    """
    reading, subjects = _Reading(path), set[str]()

    def note(subject: str) -> bool:
        subjects.add(subject)
        return False

    for _ in reading.records(note):
        raise AssertionError("no record was wanted")
    outline = SessionFile(reading.header, (), reading.blobs, reading.trailer)
    return outline, frozenset(subjects)


def read_records(path: Path, wanted: Wanted) -> Iterator[Record]:
    """Iterate over the records with a wanted subject, in constant memory.

    Raises:
        SessionFileError: it is none of ours, of another version, cut or damaged; the
            records before the damage were yielded by then.
    """
    return _Reading(path).records(wanted)


def _lines(session: SessionFile) -> Iterator[object]:
    header = session.header
    yield {"format": FORMAT, "version": VERSION, **msgspec.to_builtins(header)}
    for digest in sorted(session.blobs):
        yield write_blob(digest, session.blobs[digest])
    lines = Lines(header.epoch, header.partition)
    for record in session.records:
        yield lines.write(record)
    yield {"end": len(session.records), "chain": session.trailer.chain}


def _in_words(error: Exception) -> str:
    """Return what is wrong with a line, as text for an error message."""
    if isinstance(error, orjson.JSONDecodeError):
        return f"no JSON: {error}"
    if isinstance(error, KeyError):
        return f"without {error}"
    return str(error)


class _Reading:
    """A file being read, and the line where it is."""

    header: SessionHeader
    trailer: SessionTrailer

    def __init__(self, path: Path) -> None:
        self._path = path
        self._line = 0
        self._count = 0
        self.blobs: dict[str, bytes] = {}

    def records(self, wanted: Wanted = lambda subject: True) -> Iterator[Record]:
        """Yield the wanted records; header, blobs and trailer are known after the last."""
        try:
            with self._path.open("rb") as file:
                yield from self._records(self._lines(file), wanted)
        except OSError as error:
            raise SessionFileError(
                f"cannot read {str(self._path)!r}: {error}"
            ) from error
        except zstandard.ZstdError as error:
            self._line += 1
            raise self._failure(f"is no session file, or damaged ({error})") from error
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self._failure(
                f"does not have the form of its place ({_in_words(error)})"
            ) from error

    def _records(
        self, lines: Iterator[dict[str, Any]], wanted: Wanted
    ) -> Iterator[Record]:
        self.header = self._header(next(lines, None))
        codec = Lines(self.header.epoch, self.header.partition)
        # A file has few subjects in many lines; the bound holds against one made by hand.
        is_wanted = lru_cache(maxsize=4096)(lambda text: wanted(codec.subject(text)))
        position = 0
        for line in lines:
            if "blob" in line:
                self.blobs.update([read_blob(line)])
            elif "end" in line:
                self.trailer = self._trailer(line)
                if next(lines, None) is not None:
                    raise self._failure("follows the end")
                return
            else:
                position = self._place(line, position)
                # Unwanted lines are still walked, as later ones are differences to them.
                if is_wanted(line["s"]):
                    yield codec.read(line)
                else:
                    codec.skip(line)
        raise self._failure("is missing: the file was cut")

    def _failure(self, what: str) -> SessionFileError:
        """Return an error at the line being read."""
        return SessionFileError(
            f"{str(self._path)!r}, line {self._line}: {what}; export the session again"
        )

    def _lines(self, file: BinaryIO) -> Iterator[dict[str, Any]]:
        rest = b""
        for piece in self._unpacked(file):
            *whole, rest = (rest + piece).split(b"\n")
            for text in whole:
                self._line += 1
                yield orjson.loads(text)
            if len(rest) > LINE_BYTES:
                raise self._failure(f"is longer than {LINE_BYTES} bytes")
        self._line += 1

    def _unpacked(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield the decompressed pieces of the one frame, and check that nothing follows.

        Reading to the frame's end makes zstd compare its checksum.
        """
        unpacking = zstandard.ZstdDecompressor().decompressobj()
        while packed := file.read(PACKED_BYTES):
            yield unpacking.decompress(packed)
            if unpacking.eof:
                break
        if not unpacking.eof and file.tell():
            self._line += 1
            raise self._failure("is missing: the file was cut")
        if unpacking.unused_data or file.read(1):
            raise self._failure("is not the end of the file")

    def _header(self, line: dict[str, Any] | None) -> SessionHeader:
        if not isinstance(line, dict) or line.get("format") != FORMAT:
            raise self._failure("is no header: this is no session file")
        version = line["version"]
        if isinstance(version, int) and version > VERSION:
            raise SessionFileError(
                f"{str(self._path)!r}, line 1: is of version {version}, this Echoic reads"
                f" {VERSION}: a newer Echoic wrote it, read it with that one"
            )
        if version != VERSION:
            raise self._failure(
                f"is of version {version!r}, this program reads {VERSION}"
            )
        return msgspec.convert(line, SessionHeader)

    def _place(self, line: dict[str, Any], before: int) -> int:
        """Return the sequence of a record's line, which must exceed the one before."""
        sequence: int = line["n"]
        if self._count and sequence <= before:
            raise self._failure(f"has sequence {sequence} after {before}")
        self._count += 1
        return sequence

    def _trailer(self, line: dict[str, Any]) -> SessionTrailer:
        if line["end"] != self._count:
            raise self._failure(
                f"ends a file of {line['end']} messages, {self._count} are there"
            )
        return SessionTrailer(messages=line["end"], chain=line["chain"])
