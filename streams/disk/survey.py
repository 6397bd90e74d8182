"""The survey of a stored log: which records it still has, found without a server.

The log refuses deletion, so every sequence of one of its streams from the first to the last
must be there; one without a record whose checksum holds is lost.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from schemas.values.subjects import SHARED_AGENT, SubjectError, parse, partition_of
from streams.disk.blocks import Block, StoredRecord, read_block
from streams.disk.highway import checksums
from streams.disk.s2 import uvarint
from streams.errors import LogDamaged
from streams.losses import Sequences
from streams.topology import IN, LOG

INDEX = "index.db"
_MAGIC = 11
_PREFIX = b"ev."
_IS_LOG = re.compile(rf"{LOG.name}(_\d+)?")


@dataclass(frozen=True, slots=True)
class Missing:
    """A stretch of lost sequences, both ends included."""

    block: str
    """The file that held them."""
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Survey:
    """The result of a survey of one stream."""

    folder: Path
    first: int
    """The first sequence that the stream has had."""
    blocks: int
    records: int
    """How many are sound."""
    last: int
    """The last sequence that the log is known to have had, lost or not."""
    damaged: tuple[str, ...]
    """The names of damaged files. One whose last record was only begun is not among them:
    it was never acknowledged."""
    missing: tuple[Missing, ...]
    torn: dict[int, tuple[int, str]]
    """Partition and agent of the lost sequences whose subject is still readable."""

    @property
    def lost(self) -> Sequences:
        """All lost sequences."""
        return Sequences((each.first, each.last) for each in self.missing)

    @property
    def stream(self) -> str:
        """The stream's name."""
        return stream_of(self.folder)


def messages_of(server_folder: Path) -> Path | None:
    """Return the folder of the blocks of the log's first stream; None if there is none."""
    found = sorted(server_folder.glob(f"jetstream/jetstream/*/streams/{LOG.name}/msgs"))
    return found[0] if found else None


def all_messages_of(server_folder: Path) -> list[Path]:
    """Return the folder of each stream of the log below a server's, by first sequence.

    Raises:
        LogDamaged: where a stream begins cannot be read.
    """
    streams = server_folder.glob(f"jetstream/jetstream/*/streams/{LOG.name}*/msgs")
    found = [each for each in streams if _IS_LOG.fullmatch(stream_of(each))]
    return sorted(found, key=first_of)


def stream_of(folder: Path) -> str:
    """Return the name of the stream whose blocks a folder holds."""
    return folder.parent.name


def first_of(folder: Path) -> int:
    """Return the first sequence of a stream, by its own metadata.

    Raises:
        LogDamaged: it cannot be read.
    """
    if stream_of(folder) == LOG.name:
        return 1
    try:
        return int(json.loads((folder.parent / "meta.inf").read_bytes())["first_seq"])
    except (OSError, ValueError, KeyError) as error:
        raise LogDamaged(
            "blocks", 1, f"where {stream_of(folder)} begins cannot be read: {error!r}"
        ) from error


def blocks(folder: Path) -> list[Path]:
    """Return the files of a stream's blocks, in order."""
    numbered = [each for each in folder.glob("*.blk") if each.stem.isdigit()]
    return sorted(numbered, key=number)


def number(block: Path) -> int:
    """Return the number of a block in its stream, which its checksums' key includes."""
    return int(block.stem)


def read(block: Path) -> Block:
    """Read a block of a stream of the log."""
    stream = stream_of(block.parent)
    return read_block(block.read_bytes(), stream, number(block), _PREFIX)


def boxed(server_folder: Path) -> Iterator[tuple[str, StoredRecord]]:
    """Yield what the files of intake streams hold, and of which each is.

    What such a stream has erased since may still be in them.
    """
    folders = server_folder.glob(f"jetstream/jetstream/*/streams/{IN.name}*/msgs")
    for folder in sorted(folders):
        name = stream_of(folder)
        # `IN` has subjects as they were published, `in.` and `ip.`; the others, as the log.
        prefix = b"i" if name == IN.name else _PREFIX
        for file in blocks(folder):
            found = read_block(file.read_bytes(), name, number(file), prefix)
            yield from ((name, record) for record in found.records)


def survey(
    folder: Path,
    last_known: int = 0,
    take: Callable[[StoredRecord], None] = lambda record: None,
    progress: Callable[[int], None] = lambda count: None,
) -> Survey:
    """Read all blocks, and call `take` with every sound record in order.

    `last_known` is the last sequence that the stream is known to have had;
    `progress` is called with the number of blocks read.

    Raises:
        LogDamaged: there is no block at all.
    """
    files, first = blocks(folder), first_of(folder)
    if not files:
        raise LogDamaged("missing", first, f"{str(folder)!r} holds no block of the log")
    missing: list[Missing] = []
    torn: dict[int, tuple[int, str]] = {}
    position, records, told = first - 1, 0, 0
    damaged: list[str] = []
    before = files[0]
    for done, file in enumerate(files, 1):
        block = read(file)
        # The file to blame for a gap before this block's first record: a whole block lost
        # nothing itself, so its predecessor did, or a file that is missing in between.
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
        told = max(told, block.told)
        before = file
        progress(done)
    # The end cannot be told from gaps: torn records, the server's index and what others
    # saw tell how far the log once went.
    end = position
    while end + 1 in torn:
        end += 1
    last = max(end, told, last_known, last_of_index(folder / INDEX))
    if last > position:
        missing.append(Missing(files[-1].name, position + 1, last))
    # Up to what was told when it was mended its end is gone, and no file is damaged.
    if last > max(position, told):
        damaged = list(dict.fromkeys([*damaged, files[-1].name]))
    gone = Sequences((each.first, each.last) for each in missing)
    known = {each: torn[each] for each in torn if each in gone}
    return Survey(
        folder, first, len(files), records, last, tuple(damaged), tuple(missing), known
    )


def last_of_index(path: Path) -> int:
    """Return the last sequence by the server's own index; 0 if that is unreadable.

    Its format (`writeFullState` in `server/filestore.go`): magic, version, then as varints
    messages, bytes, first sequence, time of the first, last sequence …; at the end stands
    the checksum of all.
    """
    try:
        data = path.read_bytes()
        text, checksum = data[:-8], data[-8:]
        key = hashlib.sha256(stream_of(path.parent).encode()).digest()
        if not text or text[0] != _MAGIC or checksums(key, [text]) != [checksum]:
            return 0
        at, value = 2, 0
        for _ in range(5):
            value, at = uvarint(text, at)
        return value
    except (OSError, IndexError):
        return 0


def unplaced(survey: Survey) -> tuple[tuple[int, int], ...]:
    """Return the lost stretches whose partition is unknown, both ends included.

    Every partition has to be told of them.
    """
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
        # A subject with a flipped bit in its agent would hash to this partition in one case
        # of sixteen only.
        if place.agent == SHARED_AGENT or partition_of(place.agent) == place.partition:
            yield sequence, (place.partition, place.agent)
