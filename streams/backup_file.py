"""The file of a backup: a tar archive of parts, and last a manifest with the digest of each.

The manifest comes last, so a file that was cut off has none. It is written under another name
and gets its own only once it is whole and on disk.
"""

import hashlib
import io
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

import msgspec

from streams.errors import BackupDamaged

_FORMAT = 1
"""The version of the file's format; a reader refuses a later one."""

PART_BYTES = 8_000_000
"""Bytes of a stream's copy that are gathered for one part."""

_MANIFEST = "manifest.json"
_DIGEST = "manifest.sha256"
_READ_BYTES = 1_000_000


class Part(msgspec.Struct, frozen=True):
    """One member of the archive."""

    name: str
    size: int
    sha256: str


class Last(msgspec.Struct, frozen=True):
    """The last message of a stream's copy."""

    sequence: int
    id: str | None
    """Its `ce-id`; None if it has none."""
    sha256: str
    """Of its subject, headers and body as the broker hands them out."""


class StreamCopy(msgspec.Struct, frozen=True):
    """One stream at one point."""

    name: str
    config: dict[str, Any]
    state: dict[str, Any]
    """The server's own words of the point: counts, first and last sequence."""
    last: Last | None
    """None: it is empty."""
    parts: tuple[Part, ...]
    """The server's snapshot, cut into pieces."""


class Manifest(msgspec.Struct, frozen=True):
    """What a backup holds."""

    epoch: str
    """Of the log."""
    made_at: str
    version: str
    """Of the program that made it."""
    streams: tuple[StreamCopy, ...]
    """In the order in which they were copied."""
    floors: dict[str, int]
    """By durable consumer of the log: up to where every ask had its result in the log."""
    files: tuple[Part, ...] = ()
    """Files of the data folder, with credentials; their parts are named `files/<path>`."""
    format: int = _FORMAT

    def stream(self, name: str) -> StreamCopy:
        """Return the copy of a stream.

        Raises:
            BackupDamaged: there is none.
        """
        for each in self.streams:
            if each.name == name:
                return each
        raise BackupDamaged(f"the backup has no stream {name!r}")


class BackupWriter:
    """Writes the parts of a backup; `writing` makes one."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.written = 0
        """Bytes so far."""

    def add(self, name: str, data: bytes) -> Part:
        """Append a part."""
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = len(data), 0o600
        self._tar.addfile(entry, io.BytesIO(data))
        self.written += len(data)
        return Part(name, len(data), hashlib.sha256(data).hexdigest())

    def finish(self, manifest: Manifest) -> None:
        """Append the manifest, and its own digest."""
        part = self.add(_MANIFEST, msgspec.json.encode(manifest))
        self.add(_DIGEST, part.sha256.encode())


@contextmanager
def writing(path: Path) -> Iterator[BackupWriter]:
    """Write a new file, which only its owner may read: whole, or not at all.

    Raises:
        FileExistsError: there is one of that name; it stays as it is.
    """
    _refuse_existing(path)
    # Beside the target, so that the link at the end is on one file system.
    with NamedTemporaryFile(
        dir=path.parent, prefix=f"{path.name}.", suffix=".partial"
    ) as draft:
        with tarfile.open(fileobj=draft, mode="w", format=tarfile.PAX_FORMAT) as tar:
            yield BackupWriter(tar)
        draft.flush()
        os.fsync(draft.fileno())
        # A link, unlike a rename, never replaces a file that came to be meanwhile.
        try:
            os.link(draft.name, path)
        except FileExistsError:
            _refuse_existing(path)
            raise
    _sync_folder(path.parent)


class BackupReader:
    """A backup that can be read; `reading` opens one."""

    def __init__(self, tar: tarfile.TarFile, path: Path) -> None:
        """Read the manifest.

        Raises:
            BackupDamaged: there is none, or it is not of this format.
        """
        self._tar = tar
        self._path = path
        self._members = _members(tar, path)
        body, digest = self._read(_MANIFEST), self._read(_DIGEST)
        if hashlib.sha256(body).hexdigest().encode() != digest:
            raise BackupDamaged(f"{str(path)!r} is altered: its manifest has changed")
        self.manifest = _manifest(body, path)

    def check(self, progress: Callable[[int], None]) -> None:
        """Compare every part with the digest in the manifest.

        Raises:
            BackupDamaged: a part is missing or altered.
        """
        done = 0
        streams = (part for each in self.manifest.streams for part in each.parts)
        for part in (*streams, *self.manifest.files):
            digest = hashlib.sha256()
            for piece in self.pieces(part):
                digest.update(piece)
                done += len(piece)
                progress(done // 1000)
            if digest.hexdigest() != part.sha256:
                raise BackupDamaged(
                    f"{str(self._path)!r} is altered: {part.name} is not what was written"
                )

    def pieces(self, part: Part, size: int = _READ_BYTES) -> Iterator[bytes]:
        """Yield a part's bytes, at most `size` at once.

        Raises:
            BackupDamaged: it is missing, or has another length.
        """
        file = self._open(part.name)
        left = part.size
        while left and (piece := file.read(min(size, left))):
            left -= len(piece)
            yield piece
        if left or file.read(1):
            raise BackupDamaged(f"{str(self._path)!r} is altered: {part.name} is cut")

    def _open(self, name: str) -> IO[bytes]:
        member = self._members.get(name)
        file = None if member is None else self._tar.extractfile(member)
        if file is None:
            raise BackupDamaged(
                f"{str(self._path)!r} is no whole backup: it has no {name}; was it cut"
                " off?"
            )
        return file

    def _read(self, name: str) -> bytes:
        with _damage(self._path):
            return self._open(name).read()


@contextmanager
def reading(path: Path) -> Iterator[BackupReader]:
    """Open a backup.

    Raises:
        BackupDamaged: it is none, or not whole.
    """
    with path.open("rb") as file, _damage(path), tarfile.open(fileobj=file) as tar:
        yield BackupReader(tar, path)


def _members(tar: tarfile.TarFile, path: Path) -> dict[str, tarfile.TarInfo]:
    with _damage(path):
        return {each.name: each for each in tar.getmembers() if each.isfile()}


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError) as error:
        raise BackupDamaged(f"{str(path)!r} is no whole backup: {error}") from error


def _manifest(body: bytes, path: Path) -> Manifest:
    try:
        found = msgspec.json.decode(body, type=Manifest)
    except ValueError as error:
        raise BackupDamaged(
            f"{str(path)!r} has no manifest of ours: {error}"
        ) from error
    if found.format > _FORMAT:
        raise BackupDamaged(
            f"{str(path)!r} is of format {found.format}, this program reads up to"
            f" {_FORMAT}: upgrade it"
        )
    return found


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise FileExistsError(17, "exists; a backup replaces nothing", str(path))


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
