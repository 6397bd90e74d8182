"""What a stored log still holds, and what of it is gone: looked up without a server.

The log refuses deletion, so every sequence from the first to the last must be there; a
sequence without a record whose checksum holds is lost.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from schemas.values.subjects import SHARED_AGENT, SubjectError, parse, partition_of
from streams.disk.blocks import Block, StoredRecord, read_block
from streams.disk.highway import checksums
from streams.disk.s2 import uvarint
from streams.errors import LogDamaged
from streams.losses import Sequences
from streams.topology import LOG

INDEX = "index.db"
_MAGIC = 11
_PREFIX = b"ev."


@dataclass(frozen=True, slots=True)
class Missing:
    """A stretch of sequences that is gone."""

    block: str
    """The file that held them."""
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What became of a stored log."""

    folder: Path
    blocks: int
    records: int
    """How many are whole."""
    last: int
    """The last sequence that the log had, whether it is still there or not."""
    damaged: tuple[str, ...]
    """The names of the files that are not what a server writes; one whose last record is
    only begun is: that was never acknowledged."""
    missing: tuple[Missing, ...]
    torn: dict[int, tuple[int, str]]
    """The partition and the agent of lost sequences whose subject can still be read."""

    @property
    def lost(self) -> Sequences:
        """All sequences that are gone."""
        return Sequences((each.first, each.last) for each in self.missing)


def messages_of(server_folder: Path) -> Path | None:
    """Return where a server's folder keeps the blocks of the log; None if it has no log."""
    found = sorted(server_folder.glob(f"jetstream/jetstream/*/streams/{LOG.name}/msgs"))
    return found[0] if found else None


def blocks(folder: Path) -> list[Path]:
    """Return the files of a stream's blocks, in order."""
    numbered = [each for each in folder.glob("*.blk") if each.stem.isdigit()]
    return sorted(numbered, key=number)


def number(block: Path) -> int:
    """Return the place of a block in its stream, which is part of its checksums' key."""
    return int(block.stem)


def read(block: Path) -> Block:
    """Read a block of the log."""
    return read_block(block.read_bytes(), LOG.name, number(block), _PREFIX)


def survey(
    folder: Path,
    last_known: int = 0,
    take: Callable[[StoredRecord], None] = lambda record: None,
    progress: Callable[[int], None] = lambda count: None,
) -> Survey:
    """Read all blocks; `take` is given every record that is whole, in order.

    `last_known` is the last sequence that somebody saw the log have.

    Raises:
        LogDamaged: there is no block at all.
    """
    files = blocks(folder)
    if not files:
        raise LogDamaged("missing", 1, f"{str(folder)!r} holds no block of the log")
    missing: list[Missing] = []
    torn: dict[int, tuple[int, str]] = {}
    position = records = 0
    damaged: list[str] = []
    before = files[0]
    for done, file in enumerate(files, 1):
        block = read(file)
        suspect = before.name if block.is_whole else file.name
        if block.is_whole and number(file) > number(before) + 1:
            suspect = f"{number(before) + 1}.blk"
        if not block.is_whole and not (file == files[-1] and block.is_cut_short):
            damaged.append(file.name)
        for record in block.records:
            if record.sequence > position + 1:
                missing.append(Missing(suspect, position + 1, record.sequence - 1))
            take(record)
            records += 1
            position = max(position, record.sequence)
            suspect = file.name
        torn |= dict(_places(block))
        before = file
        progress(done)
    end = position
    while end + 1 in torn:
        end += 1
    last = max(end, last_known, last_of_index(folder / INDEX))
    if last > position:
        missing.append(Missing(files[-1].name, position + 1, last))
        damaged = list(dict.fromkeys([*damaged, files[-1].name]))
    gone = Sequences((each.first, each.last) for each in missing)
    known = {each: torn[each] for each in torn if each in gone}
    return Survey(
        folder, len(files), records, last, tuple(damaged), tuple(missing), known
    )


def last_of_index(path: Path) -> int:
    """Return the last sequence by the server's own index; 0 if that cannot be read.

    Its format: magic, version, then as varints messages, bytes, first sequence, time of
    the first, last sequence …; the checksum of all is at the end.
    """
    try:
        data = path.read_bytes()
        text, checksum = data[:-8], data[-8:]
        key = hashlib.sha256(LOG.name.encode()).digest()
        if not text or text[0] != _MAGIC or checksums(key, [text]) != [checksum]:
            return 0
        at, value = 2, 0
        for _ in range(5):
            value, at = uvarint(text, at)
        return value
    except (OSError, IndexError):
        return 0


def unplaced(survey: Survey) -> tuple[tuple[int, int], ...]:
    """Return what is lost of which it cannot be told whose it was."""
    rest: list[tuple[int, int]] = []
    for each in survey.missing:
        at = each.first
        for own in sorted(survey.torn):
            if at <= own <= each.last:
                rest.append((at, own - 1))
                at = own + 1
        rest.append((at, each.last))
    return tuple((first, last) for first, last in rest if first <= last)


def _places(block: Block) -> Iterator[tuple[int, tuple[int, str]]]:
    for sequence, subject in block.torn:
        try:
            place = parse(subject.decode())
        except (SubjectError, UnicodeDecodeError):
            continue
        # A subject with a flipped bit of its own would hardly keep to this.
        if place.agent == SHARED_AGENT or partition_of(place.agent) == place.partition:
            yield sequence, (place.partition, place.agent)
