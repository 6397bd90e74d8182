"""A guard against a server that destroys a damaged log: a copy is kept until it has it all.

nats-server 2.15 truncates a block in which it finds damage, or drops the whole stream. So
before a start the closed blocks, which nobody writes any more, are hard-linked and the open one
is copied; if the server then has less than the files held, they are put back and the start is
refused (ADR 0018, ADR 0083). The server finds damage itself, by the checksum of each record;
here is only read up to where the log was written.
"""

import json
import os
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from struct import unpack_from

from streams.broker.configurations import checksum
from streams.errors import LogDamaged
from streams.jetstream.connection import ApiError, call
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import epoch_of
from streams.jetstream.read import JetStreamReader
from streams.log import scan
from streams.topology import LOG, LOG_SUBJECTS

KEPT = "log-before-start"
"""The folder of the copy, beside the server's own."""

_STORE = "jetstream"
"""The folder of all streams, and the one that is about to take its place."""
_READY = "jetstream.ready"

INDEX = "index.db"
"""What the server found in a stream's blocks, up to some minutes ago or its stop. With an index
that fits them it does not read the blocks."""

_READ_BYTES = 32 << 20
"""Up to this size of a stream's blocks the index is dropped before each start, so that the
server reads them all; more would make a start slow."""

_IS_LOG = re.compile(rf"{LOG.name}(_\d+)?")
_PREFIX = b"ev."
# A record: length (4, highest bit: has headers), sequence (8), time (8), length of the subject
# (2), subject, the rest, checksum (8); `server/filestore.go` of nats-server 2.15.
_HEADER = 22
_CHECKSUM = 8
_HAS_HEADERS = 1 << 31
_LARGEST = 32 << 20
"""The server takes a longer record for damage, in bytes (`rlBadThresh`)."""
_FAR = 1 << 20
"""More records than a block holds: a sequence so far from the others is none."""
_MAGIC = 11


@dataclass(frozen=True, slots=True)
class Written:
    """How far one of the log's streams was written, by its files."""

    first: int
    """The first sequence that it has, or would have."""
    last: int
    """The last one; before `first` if there is none."""
    at_ns: int
    """When that was, by its record; 0 if that is not known."""


@dataclass(frozen=True, slots=True)
class _KeptStream:
    """The folder of one of the log's streams, and the copy of its files."""

    stream: Path
    aside: Path
    written: Written


@dataclass(frozen=True, slots=True)
class Kept:
    """The copies that are kept during a start."""

    aside: Path
    streams: tuple[_KeptStream, ...]

    def put_back(self) -> None:
        """Restore the folders to what they were before; no server may run over them."""
        for each in self.streams:
            _put_back(each.stream, each.aside)
        self.drop()

    def drop(self) -> None:
        """Delete the copies."""
        shutil.rmtree(self.aside, ignore_errors=True)


def keep(server_folder: Path, *, is_thorough: bool = False) -> Kept | None:
    """Copy the log's files aside; return None if there is no log.

    If thorough, the server will read every block, however large the log is.

    Raises:
        LogDamaged: where one of its streams begins cannot be read.
    """
    aside = server_folder / KEPT
    _go_on(server_folder)
    kept = tuple(_kept(each, aside) for each in _streams(server_folder))
    for each in kept:
        messages = each.stream / "msgs"
        size = sum(int(file.stat().st_size) for file in _blocks(messages))
        if is_thorough or size <= _READ_BYTES:
            (messages / INDEX).unlink(missing_ok=True)
    return Kept(aside, kept) if kept else None


def written(server_folder: Path) -> dict[str, Written]:
    """Return how far each stream of the log was written, by name; no server may run.

    Raises:
        LogDamaged: where one of them begins cannot be read.
    """
    _go_on(server_folder)
    return {each.name: _written(each / "msgs") for each in _streams(server_folder)}


async def check_open_blocks(client: BrokerClient, server_folder: Path) -> None:
    """Check that the running server hands out every message of the log's open blocks.

    A damaged message of a block that is not compressed yet is passed over in silence, in a
    snapshot as well; of a compressed one the server says so.

    Raises:
        LogDamaged: one is missing.
    """
    log = JetStreamReader(client, await epoch_of(client))
    for stream in _streams(server_folder):
        found = [
            record
            for block in _blocks(stream / "msgs")[-1:]
            for record in _records(block.read_bytes())
        ]
        if not found:
            continue
        (first, _), (last, _) = found[0], found[-1]
        wanted = first
        async for record in scan(log, LOG_SUBJECTS, first - 1, last):
            if record.sequence != wanted:
                break
            wanted += 1
        if wanted <= last:
            what = f"the broker passes over messages of {stream.name}"
            raise damage(stream, wanted, what)


def replace(server_folder: Path, other: Path, aside: Path) -> None:
    """Put the streams of another server's folder in place of those that are moved aside."""
    ready = server_folder / _READY
    shutil.rmtree(ready, ignore_errors=True)
    (other / _STORE).rename(ready)
    if (server_folder / _STORE).exists():
        (server_folder / _STORE).rename(aside / _STORE)
    _go_on(server_folder)


async def fault(client: BrokerClient, kept: Kept) -> LogDamaged | None:
    """Return what the running server lacks of the files that were kept; None if nothing."""
    for each in kept.streams:
        if found := await _fault(client, each):
            return found
    return None


async def _fault(client: BrokerClient, kept: _KeptStream) -> LogDamaged | None:
    name, first = kept.stream.name, kept.written.first
    try:
        wanted = {"deleted_details": True}
        info = await call(client, f"$JS.API.STREAM.INFO.{name}", wanted)
    except ApiError:
        what = f"the broker cannot read the files of {name} at all"
        return damage(kept.stream, first, what)
    state = info["state"]
    # The log refuses deletion, so every sequence up to the last one must be there.
    last = max(kept.written.last, state["last_seq"])
    if state["messages"] >= last - first + 1:
        return None
    missing = min([*state.get("deleted", ()), state["last_seq"] + 1])
    return damage(
        kept.stream,
        missing,
        f"of the {last - first + 1:,} messages of {name} the broker can read"
        f" {state['messages']:,}; the files in {kept.stream} were left as they were found",
    )


def damage(stream: Path, sequence: int, what: str) -> LogDamaged:
    """Return the error of files that a server would not read whole, and what to do."""
    # <data>/nats/jetstream/jetstream/<account>/streams/<stream>
    data = shlex.quote(str(stream.parents[5]))
    advice = f"the newest backup takes its place by `echoic restore last --data {data}`"
    return LogDamaged("blocks", sequence, what, advice=advice)


def _go_on(server_folder: Path) -> None:
    """Finish what was cut off: a start, or the replacement of all streams."""
    ready, store = server_folder / _READY, server_folder / _STORE
    if ready.exists() and not store.exists():
        ready.rename(store)
    # The guarded start before was itself interrupted, and its server may have deleted
    # something, so the files are restored before anything else.
    aside = server_folder / KEPT
    for place in aside.glob("*.place"):
        _put_back(Path(place.read_text()), aside / place.stem)
    shutil.rmtree(aside, ignore_errors=True)


def _streams(server_folder: Path) -> list[Path]:
    """Return the folders of the log's streams."""
    found = server_folder.glob(f"jetstream/jetstream/*/streams/{LOG.name}*/msgs")
    return sorted(each.parent for each in found if _IS_LOG.fullmatch(each.parent.name))


def _kept(stream: Path, aside: Path) -> _KeptStream:
    """Copy a stream's files aside."""
    wrote, blocks = _written(stream / "msgs"), _blocks(stream / "msgs")
    aside.mkdir(mode=0o700, exist_ok=True)
    closed = {str(each) for each in blocks[:-1]}

    def keep_file(source: str, target: str) -> str:
        # A link costs no time however large the log is; the open block is written on.
        return _link(source, target) if source in closed else _synced(source, target)

    copy = aside / stream.name
    shutil.copytree(stream, copy, copy_function=keep_file)
    # Written last: it marks the copy as complete, and without it nothing is put back.
    (aside / f"{stream.name}.place").write_text(str(stream))
    return _KeptStream(stream, copy, wrote)


def _blocks(messages: Path) -> list[Path]:
    numbered = [each for each in messages.glob("*.blk") if each.stem.isdigit()]
    return sorted(numbered, key=lambda each: int(each.stem))


def _written(messages: Path) -> Written:
    first = _first_of(messages.parent)
    last, at_ns = first - 1, 0
    for block in _blocks(messages)[-1:]:
        last, at_ns = max([(last, 0), *_records(block.read_bytes())[-1:]])
    # Only one that claims more than the block shows has to be trusted, so only then its
    # checksum is worth the time.
    if (claimed := _last_of_index(messages / INDEX)) > last:
        return Written(first, claimed, 0)
    return Written(first, last, at_ns)


def _first_of(stream: Path) -> int:
    """Return the first sequence of a stream, by its own configuration.

    Raises:
        LogDamaged: it cannot be read.
    """
    if stream.name == LOG.name:
        return 1
    try:
        return int(json.loads((stream / "meta.inf").read_bytes())["first_seq"])
    except (OSError, ValueError, KeyError) as error:
        what = f"where {stream.name} begins cannot be read: {error!r}"
        raise damage(stream, 1, what) from error


def _records(data: bytes) -> list[tuple[int, int]]:
    """Return sequence and time of each record of a plain block, in order.

    What lies behind damage counts as well, so records are found by the subject with which each
    begins. In a text in between the same letters have letters before them, which are no length.
    One that was only begun was never acknowledged, and does not count.
    """
    found: list[tuple[int, int]] = []
    at = data.find(_PREFIX, _HEADER)
    while at >= 0:
        begin = at - _HEADER
        length, sequence, at_ns = unpack_from("<IQq", data, begin)
        length &= ~_HAS_HEADERS
        if _HEADER + _CHECKSUM <= length <= min(_LARGEST, len(data) - begin):
            found.append((sequence, at_ns))
        at = data.find(_PREFIX, at + 1)
    found.sort()
    middle = found[len(found) // 2][0] if found else 0
    return [each for each in found if abs(each[0] - middle) < _FAR]


def _last_of_index(path: Path) -> int:
    """Return the last sequence by the server's own index; 0 if that is unreadable.

    Its format (`writeFullState` in `server/filestore.go`): magic, version, then as varints
    messages, bytes, first sequence, time of the first, last sequence …; at the end stands
    the checksum of all.
    """
    try:
        data = path.read_bytes()
        if data[0] != _MAGIC or checksum(path.parts[-3], data[:-8]) != data[-8:]:
            return 0
        at, value = 2, 0
        for _ in range(5):
            value, at = _varint(data, at)
        return value
    except (OSError, IndexError):
        return 0


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number written by Go's `binary.PutUvarint`, and the offset behind it."""
    value = shift = 0
    while data[at] >= 0x80:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


def _put_back(stream: Path, aside: Path) -> None:
    shutil.rmtree(stream, ignore_errors=True)
    shutil.copytree(aside, stream, copy_function=_link)


def _synced(source: str, target: str) -> str:
    shutil.copy2(source, target)
    # It may be put back after the machine went down; what is no block is small and seldom new.
    if source.endswith(".blk"):
        with Path(target).open("rb") as file:
            os.fsync(file.fileno())
    return target


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:
        # The file system has no hard links.
        shutil.copy2(source, target)
    return target
