"""Objects of an archive with their labels: what is kept, since when, and by which digest.

A label is stored last, once the object was read back and its digest was the file's. An object
without one is an upload that was broken off; it is done again.
"""

import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from echoic.client.archive.stores import READ_BYTES, ObjectStore, opened
from echoic.errors import EchoicError, NotFoundError

LABEL = ".label.json"
"""What the key of a label has behind that of its object."""


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """What an object of the archive is."""

    kind: Literal["session", "segment"]
    key: str
    epoch: str
    """Of the log that it is of."""
    first: int
    """The sequence of its first input, or message of a segment."""
    last: int
    agent: str = ""
    id: str = ""
    """The session's, or the stream of a segment."""
    messages: int = 0
    size: int = 0
    sha256: str = ""
    version: int = 1


class Altered(EchoicError):
    """What the archive holds is not what was stored."""


class Shelf:
    """An archive."""

    def __init__(self, store: ObjectStore) -> None:
        """Read and write in a store."""
        self._store = store
        self.url = store.url

    def labels(self) -> Iterator[Label]:
        """Yield the label of everything that is kept whole."""
        for key in self._store.names():
            if key.endswith(LABEL):
                yield self._label(key)

    def keep(self, file: Path, label: Label) -> Label | None:
        """Store a file, read it back, and return its whole label; None if it was there already.

        Raises:
            Altered: another object has this key, or what is read back differs.
        """
        digest = _digest(_pieces(file))
        label = msgspec.structs.replace(label, size=file.stat().st_size, sha256=digest)
        known = self._known(label.key)
        if known is not None:
            if known != label:
                raise Altered(
                    f"{self.url}/{label.key} is there already, and another: nothing is"
                    " replaced"
                )
            return None
        self._store.put(label.key, file)
        self.check(label)
        with tempfile.NamedTemporaryFile() as written:
            written.write(msgspec.json.encode(label))
            written.flush()
            self._store.put(label.key + LABEL, Path(written.name))
        return label

    def check(self, label: Label) -> None:
        """Read an object back.

        Raises:
            Altered: its digest is not the label's.
            NotFoundError: it is not there.
        """
        if _digest(self._store.chunks(label.key)) != label.sha256:
            raise Altered(f"{self.url}/{label.key} is not what was stored")

    def fetch(self, key: str, into: Path) -> None:
        """Write an object that is kept whole to a file.

        Raises:
            Altered: its digest is not its label's.
            NotFoundError: there is none, or it has no label.
        """
        label = self._label(key + LABEL)
        digest = hashlib.sha256()
        with into.open("wb") as file:
            for piece in self._store.chunks(key):
                digest.update(piece)
                file.write(piece)
        if digest.hexdigest() != label.sha256:
            into.unlink()
            raise Altered(f"{self.url}/{key} is not what was stored")

    def _known(self, key: str) -> Label | None:
        try:
            return self._label(key + LABEL)
        except NotFoundError:
            return None

    def _label(self, key: str) -> Label:
        body = b"".join(self._store.chunks(key))
        try:
            return msgspec.json.decode(body, type=Label)
        except ValueError as error:
            raise Altered(f"{self.url}/{key} is no label of ours: {error}") from error


def is_url(name: str) -> bool:
    """Tell whether a name is that of an object in an archive."""
    return name.startswith(("s3://", "file://"))


def fetched(url: str, folder: Path) -> Path:
    """Write an archived object into a folder, under its own name, and return the file.

    Raises:
        Altered: it is not what was stored.
        NotFoundError: there is none.
    """
    prefix, _, name = url.rpartition("/")
    place = folder / name
    Shelf(opened(prefix)).fetch(name, place)
    return place


def _pieces(file: Path) -> Iterator[bytes]:
    with file.open("rb") as opened_:
        while piece := opened_.read(READ_BYTES):
            yield piece


def _digest(pieces: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()
