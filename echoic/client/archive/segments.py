"""Closed segments of a log, into an archive and back; and the room of those that are kept.

An archived segment is the broker's own snapshot of its stream in a backup's file, so what is
put back is the stream as it was, with its sequences and times.
"""

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from echoic.client.archive.shelf import Label, Shelf
from echoic.errors import EchoicError, NotFoundError
from schemas.values.subjects import inputs_of
from streams.backup_file import Manifest, reading, writing
from streams.errors import LogRefused
from streams.jetstream.backup import copy_stream, put_stream_back
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.connection import insist
from streams.jetstream.consumers import asks_left
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import epoch_of, live_of
from streams.jetstream.read import stored
from streams.jetstream.segments import listed, mark
from streams.segments import Segment

Progress = Callable[[int], None]


async def keep_segments(
    client: BrokerClient, shelf: Shelf, progress: Progress
) -> list[Label]:
    """Archive every closed segment that is not, and mark it once it was read back.

    Raises:
        Altered: the archive holds something else in its place.
    """
    kept = []
    for segment in (await listed(client)).readable:
        if segment.state == "closed":
            kept.append(await _keep(client, shelf, segment, progress))
            # While an ask in it waits for its result, its consumers are still served.
            if not await asks_left(client, segment.stream):
                await mark(client, segment.stream, "archived", "closed")
    return kept


async def reclaim(client: BrokerClient, shelf: Shelf) -> list[str]:
    """Delete the stream of each segment that the archive has, and return their names.

    Each is read back once more. A segment is marked as deleted before its stream is, so that
    a crash in between leaves a stream that nobody reads; the next call deletes it.

    Raises:
        Altered, NotFoundError: the archive does not have a segment as it was.
        EchoicError: a segment is still needed; says for what, and nothing of it is deleted.
    """
    gone = []
    for segment in (await listed(client)).readable:
        if segment.state == "archived":
            shelf.check(await _label(client, shelf, segment))
            await _refuse_needed(client, segment)
            await mark(client, segment.stream, "deleted", "archived")
        elif segment.state == "closed":
            await _refuse_needed(client, segment)
            continue
        elif segment.state != "deleted" or not await live_of(client, segment.stream):
            continue
        await insist(client, f"$JS.API.STREAM.DELETE.{segment.stream}", {})
        gone.append(segment.stream)
    return gone


async def put_back(
    client: BrokerClient, shelf: Shelf, stream: str, replicas: int, progress: Progress
) -> None:
    """Make the stream of a deleted segment of what the archive has.

    Raises:
        Altered, NotFoundError: the archive does not have it as it was.
        LogRefused: it is no deleted segment.
    """
    known = [each for each in (await listed(client)).readable if each.stream == stream]
    if not known or known[0].state != "deleted":
        raise LogRefused(f"{stream!r} is no segment that was deleted")
    label = await _label(client, shelf, known[0])
    shelf.check(label)
    with reading(shelf.folder / label.key) as backup:
        backup.check(progress)
        await put_stream_back(client, backup, backup.manifest.stream(stream), replicas)
    await mark(client, stream, "archived", "deleted")


async def _keep(
    client: BrokerClient, shelf: Shelf, segment: Segment, progress: Progress
) -> Label:
    epoch = str(await epoch_of(client))
    with tempfile.TemporaryDirectory(prefix="echoic-archive-") as folder:
        file = Path(folder) / "segment"
        with writing(file) as writer:
            copy = await copy_stream(client, writer, segment.stream, progress)
            # A closed segment never changes: its copy is the same whenever it is made.
            made = datetime.fromtimestamp(0, UTC).isoformat()
            writer.finish(Manifest(epoch, made, version("echoic"), (copy,), {}))
        label = Label(
            kind="segment",
            key=f"{epoch}/segments/{segment.stream}-{segment.first}.segment",
            epoch=epoch,
            first=segment.first,
            last=segment.last or 0,
            id=segment.stream,
            messages=copy.state["messages"],
        )
        # An earlier run may have been killed before it marked the segment.
        known = [each for each in shelf.labels() if each.key == label.key]
        if known:
            shelf.check(known[0])
            return known[0]
        return shelf.keep(file, label) or label


async def _label(client: BrokerClient, shelf: Shelf, segment: Segment) -> Label:
    epoch = str(await epoch_of(client))
    for each in shelf.labels():
        place = (each.kind, each.epoch, each.id, each.first, each.last)
        if place == ("segment", epoch, segment.stream, segment.first, segment.last):
            return each
    raise NotFoundError(
        f"{shelf.folder} does not have the segment {segment.stream}: name the archive that does"
    )


async def _refuse_needed(client: BrokerClient, segment: Segment) -> None:
    """Refuse a segment of which something is still read.

    Raises:
        EchoicError: an ask waits for its result, or a partition's state could not be made
            without it.
    """
    if left := await asks_left(client, segment.stream):
        raise EchoicError(f"{segment.stream} has {left:,} asks without a result yet")
    checkpoints = JetStreamCheckpoints(client)
    for partition in segment.every:
        wanted = {"last_by_subj": inputs_of(partition)}
        last = await stored(client, wanted, segment.stream)
        labels = await checkpoints.labels(partition)
        newest = max((each.sequence for each in labels), default=0)
        if last is not None and newest < last.sequence:
            raise EchoicError(
                f"partition {partition} has no checkpoint behind {last.sequence:,}, so a"
                f" start would need {segment.stream}: it stays"
            )
