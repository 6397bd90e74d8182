"""A recorded session as a file: compressed JSON lines, read whole or refused.

A header with the checkpoint at the session's start, the blobs it needs, every message as
the log holds it, and a trailer with digests of all this. Headers that can be derived are
left out (`line.py`).

A world's file is a line that names its members, and then the session of each; a blob that
several need stands with the first.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import msgspec
import orjson
import zstandard

from schemas.values.record import Record
from schemas.values.subjects import is_agent, parse
from streams.groups import groups
from streams.log import ReadableLog
from streams.session_files.digests import Digesting, Digests, of_world
from streams.session_files.line import Lines, write_blob
from streams.session_files.reading import (
    FORMAT,
    VERSION,
    WORLD_FORMAT,
    Reading,
    SessionHeader,
    SessionTrailer,
    Wanted,
    WorldHeader,
)

_LEVEL = 15
"""The zstd level: with it a session of 600 events stays well under 400 KB."""


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A recorded session, read."""

    header: SessionHeader
    records: Sequence[Record]
    """By sequence: the messages of the agent, and those of its partition's `_`."""
    blobs: Mapping[str, bytes]
    trailer: SessionTrailer
    is_partly: bool = False
    """Whether something of it cannot be read any more, as somebody was forgotten."""
    altered: str | None = field(default=None, compare=False)
    """What is not as the file that it was read from says that it was, in words."""


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
    write_lines(path, _lines(session, set()))


def write_world(path: Path, id_: str, sessions: Sequence[SessionFile]) -> None:
    """Write the sessions of a world's members as one file, atomically."""
    write_lines(path, _world_lines(id_, sessions))


def world_of(path: Path) -> WorldHeader | None:
    """Return which world a file is of; None if it is one session's.

    Raises:
        SessionFileError: it is none of ours, of another version, or damaged.
    """
    return Reading(path, None).world()


def write_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Write lines as one compressed file, atomically."""
    draft = path.with_name(path.name + ".new")
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    try:
        with draft.open("wb") as file, compressor.stream_writer(file) as packed:
            for line in lines:
                packed.write(line + b"\n")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read_session(path: Path, agent: str | None = None) -> SessionFile:
    """Read a file and check that it is whole; of a world's, the session of one agent.

    Raises:
        SessionFileError: it is none of ours, of another version, cut or damaged, or of a
            world without that agent.
    """
    reading = Reading(path, agent)
    return _read(reading, tuple(reading.records()))


def read_outline(
    path: Path, agent: str | None = None
) -> tuple[SessionFile, frozenset[str]]:
    """Read a file without its records, and check that it is not cut.

    Return the file without records, and the subjects of all of them.

    Raises:
        SessionFileError: it is none of ours, of another version, cut or damaged.
    """
    reading, subjects = Reading(path, agent), set[str]()

    def note(subject: str) -> bool:
        subjects.add(subject)
        return False

    for _ in reading.records(note):
        raise AssertionError("no record was wanted")
    return _read(reading, ()), frozenset(subjects)


def _read(reading: Reading, records: tuple[Record, ...]) -> SessionFile:
    return SessionFile(
        reading.header, records, reading.blobs, reading.trailer, altered=reading.altered
    )


def read_records(
    path: Path, wanted: Wanted, agent: str | None = None
) -> Iterator[Record]:
    """Iterate over the records with a wanted subject, in constant memory.

    Raises:
        SessionFileError: it is none of ours, of another version, cut or damaged; the
            records before the damage were yielded by then.
    """
    return Reading(path, agent).records(wanted)


def _world_lines(id_: str, sessions: Sequence[SessionFile]) -> Iterator[bytes]:
    members = tuple(each.header.agent for each in sessions)
    # Twice, for the line that comes first has the digests of all that follow.
    ends = map(_digests_of, sessions)
    header = WorldHeader(id_, members, of_world(id_, members, ends))
    yield _line(format=WORLD_FORMAT, version=VERSION, **msgspec.to_builtins(header))
    written: set[str] = set()
    for session in sessions:
        yield from _lines(session, written)
        written |= session.blobs.keys()


def _digests_of(session: SessionFile) -> Digests:
    """Return the digests of a session as it would be written."""
    digesting = Digesting()
    digesting.header(_header(session))
    for line in _messages(session):
        digesting.message(line)
    return digesting.end(session.trailer.chain)


def _lines(session: SessionFile, written: set[str]) -> Iterator[bytes]:
    """Yield a session's lines, but for the blobs that were written before.

    One that was read keeps its digests: what was changed since then must show.
    """
    digesting, header, chain = Digesting(), _header(session), session.trailer.chain
    digesting.header(header)
    yield header
    for digest in sorted(session.blobs.keys() - written):
        yield orjson.dumps(write_blob(digest, session.blobs[digest]))
    for line in _messages(session):
        digesting.message(line)
        yield line
    digests = session.trailer.digests or digesting.end(chain)
    yield _line(end=len(session.records), chain=chain, digests=asdict(digests))


def _header(session: SessionFile) -> bytes:
    fields = msgspec.to_builtins(session.header)
    return _line(format=FORMAT, version=VERSION, **fields)


def _messages(session: SessionFile) -> Iterator[bytes]:
    lines = Lines(session.header.epoch, session.header.partition)
    for record in session.records:
        yield orjson.dumps(lines.write(record))


def _line(**fields: object) -> bytes:
    return orjson.dumps(fields)
