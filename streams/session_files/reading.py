"""Reading a session's file: line by line, checked, in constant memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar
from uuid import UUID

import msgspec
import orjson
import zstandard
from msgspec import Struct
from msgspec import field as named

from schemas.values.record import Record
from streams.errors import SessionFileError
from streams.session_files.digests import Digesting, Digests, altered, of_world
from streams.session_files.line import Lines, read_blob

FORMAT = "echoic session"
WORLD_FORMAT = "echoic world"
VERSION = 1

Wanted = Callable[[str], bool]
"""Tells of a subject whether its record is wanted."""
_LINE_BYTES = 64_000_000
"""The most bytes of a line; a file with a longer one was not written by us, and must not
fill the memory."""

_NO_DIGESTS = Digests("", "")

_PACKED_BYTES = 1_024
"""Compressed bytes that are decompressed at a time: they become 32 MB at the most, whoever
made the file."""


class SessionHeader(Struct, frozen=True, omit_defaults=True):
    """Whose session it is, where in which log it stood, and the state before it."""

    epoch: UUID
    agent: str
    session_id: str = named(name="session")
    partition: int
    first: int
    """The sequence of the session's first input."""
    last: int
    """The sequence of its last input; the outputs that answer it come later."""
    checkpoint: object
    """Whatever JSON the caller needs to have the state before `first`."""
    sealed: str | None = None
    """The name of the key that the state is under, in a file of a sealed log."""
    redacted: bool = False
    """Whether it was written without personal fields."""


class WorldHeader(Struct, frozen=True):
    """Which world a file is of, and whose sessions are in it, in this order."""

    id: str = named(name="world")
    members: tuple[str, ...]
    """The agents; a place is one of them."""
    digest: str = ""
    """Of the two above, and of the sessions' digests."""


@dataclass(frozen=True, slots=True)
class SessionTrailer:
    """What shows that the file is complete."""

    messages: int
    chain: str
    """The agent's chain digest after the last group, as the caller computed it."""
    digests: Digests | None = field(default=None, compare=False)
    """Of the file that it was read from; None: none, or it was not read."""


def _in_words(error: Exception) -> str:
    """Return what is wrong with a line, as text for an error message."""
    if isinstance(error, orjson.JSONDecodeError):
        return f"no JSON: {error}"
    if isinstance(error, KeyError):
        return f"without {error}"
    return str(error)


_JsonLines: TypeAlias = Iterator[dict[str, Any]]
_T = TypeVar("_T")


class Reading:
    """A file being read, and the line where it is."""

    header: SessionHeader
    trailer: SessionTrailer

    def __init__(self, path: Path, agent: str | None) -> None:
        self._path = path
        self._agent = agent
        self._line = 0
        self._count = 0
        self._behind = 0
        """How many sessions of a world follow the one that is read."""
        self.blobs: dict[str, bytes] = {}
        self.altered: str | None = None
        """What is not as the file says that it was; known after the last record."""
        self._blob_altered: str | None = None
        self._text = b""
        """The line being read."""
        self._digesting = Digesting()
        self._others: list[Digests] = []
        """The digests of a world's sessions before the one that is read, then of all."""

    def world(self) -> WorldHeader | None:
        """Return which world the file is of; None if it is one session's."""
        return next(self._opened(lambda lines: iter((self._world(next(lines, None)),))))

    def records(self, wanted: Wanted = lambda subject: True) -> Iterator[Record]:
        """Yield the wanted records; header, blobs and trailer are known after the last."""
        return self._opened(lambda lines: self._records(lines, wanted))

    def _opened(self, read: Callable[[_JsonLines], Iterator[_T]]) -> Iterator[_T]:
        """Yield what is read of the file's lines; whatever fails is an error of the file."""
        try:
            with self._path.open("rb") as file:
                yield from read(self._lines(file))
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

    def _records(self, lines: _JsonLines, wanted: Wanted) -> Iterator[Record]:
        first = next(lines, None)
        world = self._world(first)
        if world is not None:
            first = self._of_member(world, lines)
        self.header = self._header(first)
        self._digesting.header(self._text)
        codec = Lines(self.header.epoch, self.header.partition)
        # A file has few subjects in many lines; the bound holds against one made by hand.
        is_wanted = lru_cache(maxsize=4096)(lambda text: wanted(codec.subject(text)))
        position = 0
        for line in lines:
            if "blob" in line:
                self._blob(line)
            elif "end" in line:
                self.trailer = self._trailer(line)
                found = self._digesting.end(self.trailer.chain)
                self._others.append(found)
                self._skip(lines, self._behind)
                if next(lines, None) is not None:
                    raise self._failure("follows the end")
                self.altered = (
                    altered(self.trailer.digests, found)
                    or self._of(world)
                    or self._blob_altered
                )
                return
            else:
                self._digesting.message(self._text)
                position = self._place(line, position)
                # Unwanted lines are still walked, as later ones are differences to them.
                if is_wanted(line["s"]):
                    yield codec.read(line)
                else:
                    codec.skip(line)
        raise self._failure("is missing: the file was cut")

    def _of_member(
        self, world: WorldHeader, lines: _JsonLines
    ) -> dict[str, Any] | None:
        """Return the first line of the wanted agent's session in a world."""
        if self._agent not in world.members:
            who = "none is" if self._agent is None else f"{self._agent!r} is not"
            raise SessionFileError(
                f"{str(self._path)!r} holds the sessions of {', '.join(world.members)},"
                f" and {who} named: name one of them with --agent"
            )
        place = world.members.index(self._agent)
        self._skip(lines, place)
        self._behind = len(world.members) - place - 1
        return next(lines, None)

    def _skip(self, lines: _JsonLines, sessions: int) -> None:
        """Read past some sessions; their blobs may be needed by later ones."""
        while sessions:
            line = next(lines, None)
            if line is None:
                raise self._failure("is missing: the file was cut")
            if "blob" in line:
                self._blob(line)
            elif "end" in line:
                sessions -= 1
                self._others.append(_digests(line) or _NO_DIGESTS)

    def _blob(self, line: dict[str, Any]) -> None:
        name, data = read_blob(line)
        self.blobs[name] = data
        # Packs are asked for by this name, which messages under the digest have.
        if sha256(data).hexdigest() != name:
            self._blob_altered = f"the blob {name} was altered"

    def _of(self, world: WorldHeader | None) -> str | None:
        """Return what of a world is not as its line says; None if all is, or there is none."""
        if world is None:
            return None
        found = of_world(world.id, world.members, self._others)
        if found == world.digest:
            return None
        if not world.digest:
            return "the file has no digest of its world"
        return "the world (its name, its members, or a member's session) was altered"

    def _failure(self, what: str) -> SessionFileError:
        """Return an error at the line being read."""
        return SessionFileError(
            f"{str(self._path)!r}, line {self._line}: {what}; export the session again"
        )

    def _lines(self, file: BinaryIO) -> _JsonLines:
        rest = b""
        for piece in self._unpacked(file):
            *whole, rest = (rest + piece).split(b"\n")
            for text in whole:
                self._line += 1
                self._text = text
                yield orjson.loads(text)
            if len(rest) > _LINE_BYTES:
                raise self._failure(f"is longer than {_LINE_BYTES} bytes")
        self._line += 1

    def _unpacked(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield the decompressed pieces of the one frame, and check that nothing follows.

        Reading to the frame's end makes zstd compare its checksum.
        """
        unpacking = zstandard.ZstdDecompressor().decompressobj()
        while packed := file.read(_PACKED_BYTES):
            yield unpacking.decompress(packed)
            if unpacking.eof:
                break
        if not unpacking.eof and file.tell():
            self._line += 1
            raise self._failure("is missing: the file was cut")
        if unpacking.unused_data or file.read(1):
            raise self._failure("is not the end of the file")

    def _world(self, line: dict[str, Any] | None) -> WorldHeader | None:
        if not isinstance(line, dict) or line.get("format") != WORLD_FORMAT:
            return None
        self._of_our_version(line)
        return msgspec.convert(line, WorldHeader)

    def _header(self, line: dict[str, Any] | None) -> SessionHeader:
        if not isinstance(line, dict) or line.get("format") != FORMAT:
            raise self._failure("is no header: this is no session file")
        self._of_our_version(line)
        return msgspec.convert(line, SessionHeader)

    def _of_our_version(self, line: dict[str, Any]) -> None:
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
        return SessionTrailer(line["end"], line["chain"], _digests(line))


def _digests(line: dict[str, Any]) -> Digests | None:
    said = line.get("digests")
    return None if said is None else Digests(said["header"], said["messages"])
