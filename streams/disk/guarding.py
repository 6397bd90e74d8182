"""A guard against a server that destroys a damaged log: a copy is kept until it has it all.

After an unclean stop the server reads every block at its start. It truncates one that is
damaged, or drops the whole stream. So before such a start the closed blocks, which nobody
writes any more, are hard-linked and the open one is copied; if the server then has less than
the files held, they are put back and the start is refused (ADR 0018).
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from schemas.values.subjects import PARTITIONS
from streams.disk import survey as surveying
from streams.disk.survey import INDEX
from streams.errors import LogDamaged
from streams.jetstream.connection import ApiError, call
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import epoch_of
from streams.jetstream.read import JetStreamReader
from streams.losses import Sequences, losses_of

KEPT = "log-before-start"
"""The folder of the copy, beside the server's own."""
_CHECKSUM = 8


@dataclass(frozen=True, slots=True)
class KeptStream:
    """The folder of one of the log's streams, and the copy of its files."""

    stream: Path
    aside: Path
    first: int
    last: int
    """The last sequence that the files have, or had before the damage."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The copies that are kept during a start, of the streams that did not stop cleanly."""

    aside: Path
    streams: tuple[KeptStream, ...]

    def put_back(self) -> None:
        """Restore the folders to what they were before; no server may run over them."""
        for each in self.streams:
            _put_back(each.stream, each.aside)
        self.drop()

    def drop(self) -> None:
        """Delete the copies."""
        shutil.rmtree(self.aside, ignore_errors=True)


def keep(server_folder: Path) -> Kept | None:
    """Copy the log's files aside; return None if there is no log, or it stopped cleanly.

    Raises:
        LogDamaged: where one of its streams begins cannot be read.
    """
    aside = server_folder / KEPT
    # The guarded start before was itself interrupted, and its server may have deleted
    # something, so the files are restored before anything else.
    if (aside / "place").exists():
        # Of a version that knew one stream.
        _put_back(Path((aside / "place").read_text()), aside / "files")
    for place in aside.glob("*.place"):
        _put_back(Path(place.read_text()), aside / place.stem)
    shutil.rmtree(aside, ignore_errors=True)
    kept = [_kept(each, aside) for each in surveying.all_messages_of(server_folder)]
    streams = tuple(each for each in kept if each is not None)
    return Kept(aside, streams) if streams else None


def _kept(messages: Path, aside: Path) -> KeptStream | None:
    """Copy a stream's files aside; return None if it has none, or stopped cleanly."""
    files, name = surveying.blocks(messages), surveying.stream_of(messages)
    if not files or _is_settled(messages, files[-1]):
        return None
    aside.mkdir(mode=0o700, exist_ok=True)
    open_ = files[-1].name
    shutil.copytree(
        messages.parent,
        aside / name,
        # A link costs no time however large the log is; the open block is written on.
        copy_function=lambda source, target: _keep(source, target, open_),
    )
    # Written last: it marks the copy as complete, and without it nothing is put back.
    (aside / f"{name}.place").write_text(str(messages.parent))
    block, first = surveying.read(files[-1]), surveying.first_of(messages)
    last = max((each.sequence for each in block.records), default=first - 1)
    # A torn record right behind the last sound one was written, so it counts as held.
    while any(sequence == last + 1 for sequence, _ in block.torn):
        last += 1
    last = max(last, surveying.last_of_index(messages / INDEX))
    return KeptStream(messages.parent, aside / name, first, last)


async def fault(client: BrokerClient, kept: Kept) -> LogDamaged | None:
    """Return what the running server lacks of the files that were kept; None if nothing."""
    for each in kept.streams:
        if found := await _fault(client, each):
            return found
    return None


async def _fault(client: BrokerClient, kept: KeptStream) -> LogDamaged | None:
    name = kept.stream.name
    try:
        info = await call(client, f"$JS.API.STREAM.INFO.{name}", {})
    except ApiError:
        return LogDamaged(
            "blocks", kept.first, f"the broker cannot read the files of {name} at all"
        )
    state = info["state"]
    if state["last_seq"] < kept.last:
        return LogDamaged(
            "blocks", state["last_seq"] + 1, f"it was written up to {kept.last:,}"
        )
    # The log refuses deletion, so with what it records as lost every sequence up to the
    # last must be there.
    wanted = state["last_seq"] - kept.first + 1
    if state["messages"] >= wanted:
        return None
    if state["messages"] + await _recorded(client, kept, state["last_seq"]) >= wanted:
        return None
    # Only now are all blocks read, which is slow for a large log: some sequences are
    # missing, and the files tell whether they had them.
    found = surveying.survey(kept.aside / "msgs")
    if not found.damaged and state["messages"] >= found.records:
        return None
    first = found.missing[0].first if found.missing else kept.first
    files = ", ".join(found.damaged)
    return LogDamaged("blocks", first, f"files of {name} are damaged: {files}")


async def _recorded(client: BrokerClient, kept: KeptStream, last: int) -> int:
    """Return how many sequences of a stream the log records as lost."""
    log = JetStreamReader(client, await epoch_of(client))
    # Recorded behind the loss, so what only an archive has need not be read.
    recorded = [
        await losses_of(log, each, kept.first - 1) for each in range(PARTITIONS)
    ]
    lost = {each for own in recorded for each in own.lost.stretches}
    return len(
        Sequences(
            (max(start, kept.first), min(end, last))
            for start, end in lost
            if start <= last and end >= kept.first
        )
    )


def _put_back(stream: Path, aside: Path) -> None:
    shutil.rmtree(stream, ignore_errors=True)
    shutil.copytree(aside, stream, copy_function=_link)


def _is_settled(messages: Path, last: Path) -> bool:
    """Tell whether the server's index matches its files, so that it stopped cleanly.

    The index ends with the last block's last checksum, then its own. With a matching index
    the server does not read the blocks, and destroys none.
    """
    if not surveying.last_of_index(messages / INDEX):
        return False
    index, block = (messages / INDEX).read_bytes(), last.read_bytes()
    return index[-2 * _CHECKSUM : -_CHECKSUM] == block[-_CHECKSUM:]


def _keep(source: str, target: str, open_: str) -> str:
    name = Path(source).name
    is_closed = name.endswith(".blk") and name != open_
    return _link(source, target) if is_closed else str(shutil.copy2(source, target))


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:
        # The file system has no hard links.
        shutil.copy2(source, target)
    return target
