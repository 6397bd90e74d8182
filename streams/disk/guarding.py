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
from streams.topology import LOG

KEPT = "log-before-start"
"""The folder of the copy, beside the server's own."""
_CHECKSUM = 8


@dataclass(frozen=True, slots=True)
class Kept:
    """The log's folder, and the copy of its files that is kept during a start."""

    stream: Path
    aside: Path
    last: int
    """The last sequence that the files have, or had before the damage."""

    def put_back(self) -> None:
        """Restore the folder to what it was before the start; no server may run over it."""
        shutil.rmtree(self.stream, ignore_errors=True)
        shutil.copytree(self.aside, self.stream, copy_function=_link)
        self.drop()

    def drop(self) -> None:
        """Delete the copy."""
        shutil.rmtree(self.aside.parent, ignore_errors=True)


def keep(server_folder: Path) -> Kept | None:
    """Copy the log's files aside; return None if there is no log, or it stopped cleanly."""
    aside = server_folder / KEPT
    place = aside / "place"
    if place.exists():
        # The guarded start before was itself interrupted, and its server may have deleted
        # something, so the files are restored before anything else.
        Kept(Path(place.read_text()), aside / "files", 0).put_back()
    shutil.rmtree(aside, ignore_errors=True)
    messages = surveying.messages_of(server_folder)
    files = surveying.blocks(messages) if messages is not None else []
    if messages is None or not files or _is_settled(messages, files[-1]):
        return None
    aside.mkdir(mode=0o700)
    open_ = files[-1].name
    shutil.copytree(
        messages.parent,
        aside / "files",
        # A link costs no time however large the log is; the open block is written on.
        copy_function=lambda source, target: _keep(source, target, open_),
    )
    # Written last: it marks the copy as complete, and without it nothing is put back.
    place.write_text(str(messages.parent))
    block = surveying.read(files[-1])
    last = max((each.sequence for each in block.records), default=0)
    # A torn record right behind the last sound one was written, so it counts as held.
    while any(sequence == last + 1 for sequence, _ in block.torn):
        last += 1
    last = max(last, surveying.last_of_index(messages / INDEX))
    return Kept(messages.parent, aside / "files", last)


async def fault(client: BrokerClient, kept: Kept) -> LogDamaged | None:
    """Return what the running server lacks of the files that were kept; None if nothing."""
    try:
        info = await call(client, f"$JS.API.STREAM.INFO.{LOG.name}", {})
    except ApiError:
        return LogDamaged("blocks", 1, "the broker cannot read its files at all")
    state = info["state"]
    if state["last_seq"] < kept.last:
        return LogDamaged(
            "blocks", state["last_seq"] + 1, f"it was written up to {kept.last:,}"
        )
    # The log refuses deletion, so with what it records as lost every sequence up to the
    # last must be there.
    log = JetStreamReader(client, await epoch_of(client))
    recorded = [await losses_of(log, each) for each in range(PARTITIONS)]
    lost = Sequences({each for own in recorded for each in own.lost.stretches})
    if state["messages"] + len(lost) >= state["last_seq"]:
        return None
    # Only now are all blocks read, which is slow for a large log: some sequences are
    # missing, and the files tell whether they had them.
    found = surveying.survey(kept.aside / "msgs")
    if not found.damaged and state["messages"] >= found.records:
        return None
    first = found.missing[0].first if found.missing else 1
    return LogDamaged("blocks", first, f"files are damaged: {', '.join(found.damaged)}")


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
