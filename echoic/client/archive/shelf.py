"""An archive: a folder of files with their labels, which tell what each is, by its digest.

A label is written last, once the file was read back and its digest was the same. A file
without one was broken off; it is written again. Whoever keeps archives elsewhere mounts or
copies the folder.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from echoic.errors import EchoicError, NotFoundError

LABEL = ".label.json"
"""What the name of a label has behind that of its file."""


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """What a file of the archive is."""

    kind: Literal["session", "segment"]
    key: str
    """Its path in the archive."""
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

    def __init__(self, folder: Path) -> None:
        """Use a folder; it is made with the first file."""
        self.folder = folder.absolute()

    def labels(self) -> Iterator[Label]:
        """Yield the label of everything that is kept whole."""
        for path in self.folder.rglob(f"*{LABEL}"):
            if not path.name.startswith("."):
                yield _read(path)

    def keep(self, file: Path, label: Label) -> Label | None:
        """Store a file, read it back, and return its whole label; None if it was there already.

        Raises:
            Altered: another file has this key, or what is read back differs.
        """
        whole = {"size": file.stat().st_size, "sha256": _digest(file)}
        label, place = msgspec.structs.replace(label, **whole), self.folder / label.key
        labelled = place.with_name(place.name + LABEL)
        if labelled.exists():
            if _read(labelled) != label:
                raise Altered(
                    f"{place} is there already, and another: nothing is replaced"
                )
            return None
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file.open("rb") as source, _draft(place) as target:
            shutil.copyfileobj(source, target)
        self.check(label)
        with _draft(labelled) as target:
            target.write(msgspec.json.encode(label))
        return label

    def check(self, label: Label) -> None:
        """Read a file back.

        Raises:
            Altered: its digest is not the label's.
            NotFoundError: it is not there.
        """
        place = self.folder / label.key
        if not place.is_file():
            raise NotFoundError(f"there is no {place}")
        if _digest(place) != label.sha256:
            raise Altered(f"{place} is not what was stored")


@contextmanager
def _draft(place: Path) -> Iterator[BinaryIO]:
    """Open a file that takes its place once it is whole and on disk."""
    draft = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with draft.open("wb") as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def _read(label: Path) -> Label:
    try:
        return msgspec.json.decode(label.read_bytes(), type=Label)
    except ValueError as error:
        raise Altered(f"{label} is no label of ours: {error}") from error


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
