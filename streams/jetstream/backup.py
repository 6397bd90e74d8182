"""A copy of all streams at one point, and a log made of it again (ADR 0066).

The point is that of the log's own snapshots. What the log refers to is copied around it so
that it agrees: states and the positions of consumers before it, as those may lag behind but
never run ahead; blobs and intake streams after it, as those may hold more.
"""

import asyncio
import base64
import hashlib
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from nats.aio.client import Client

from streams.backup_file import (
    PART_BYTES,
    BackupReader,
    BackupWriter,
    Last,
    Manifest,
    Part,
    StreamCopy,
)
from streams.errors import BackupDamaged, LogRefused
from streams.headers import parse_headers
from streams.jetstream import registry
from streams.jetstream.bringing import bring_all
from streams.jetstream.connection import ApiError, insist
from streams.jetstream.consumers import CONSUMERS, prepare_consumers
from streams.jetstream.cut import one_point
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import epoch_of, sealing, window
from streams.jetstream.missed import Lookout
from streams.jetstream.origins import SENSED, last_of_each
from streams.jetstream.snapshots import CHUNK_BYTES, Taking, put_back, taking
from streams.segments import Segments
from streams.topology import (
    BLOBS,
    BOXES,
    CHECKPOINTS,
    IN,
    LOG,
    SENSOR_SUBJECTS,
    UNFINISHED,
)

_LETTERS = (IN.name, *(box.name for box in BOXES))

_NOT_FOUND = (10014, 10059)
"""Error codes: no such consumer, no such stream."""
_NO_MESSAGE = 10037

Progress = Callable[[int], None]
"""Called with how many kilobytes are done."""


async def back_up(
    client: BrokerClient,
    writer: BackupWriter,
    version: str,
    progress: Progress,
    files: tuple[Part, ...] = (),
) -> Manifest:
    """Copy the streams of a broker, and finish the file.

    Keys of sealed fields are never copied, nor what waits for a sealed log: that is in clear.

    Raises:
        LogUnavailable: the broker does not answer.
        LogRefused: a stream is missing, or the credentials may take no snapshot; or the
            log is being segmented.
    """
    epoch = await epoch_of(client)
    segments, revision = await registry.load(client)
    if segments.preparing:
        raise LogRefused(
            "the log is being segmented: finish that (`echoic log segment`, or a start)"
            " and back it up then"
        )
    floors = await _floors(client, segments)
    copy = partial(copy_stream, client, writer, progress=progress)
    before = [CHECKPOINTS.name, *([registry.STREAM] if revision else ())]
    closed = [each.stream for each in segments.stored if each.last is not None]
    streams = [await copy(name) for name in (*before, *closed)]
    async with one_point(client, epoch, segments.open) as taken:
        streams += await _together(
            [
                _copied(client, writer, name, taken[name], progress)
                for name in (each.stream for each in segments.open)
            ]
        )
    letters = () if await sealing(client) else _LETTERS
    streams += [await copy(name) for name in (BLOBS.name, *letters)]
    manifest = Manifest(
        epoch=str(epoch),
        made_at=datetime.now(UTC).isoformat(),
        version=version,
        streams=tuple(streams),
        floors=floors,
        files=files,
    )
    writer.finish(manifest)
    return manifest


async def restore(
    client: BrokerClient, backup: BackupReader, replicas: int, progress: Progress
) -> None:
    """Make the streams of a checked backup in a broker that has none of them.

    The log comes first and is marked until all is done, so that a restoration that is broken
    off is noticed at the next start; its intake stays closed until an instance opens it.

    Raises:
        LogRefused: the broker has one of the streams.
        BackupDamaged: what came out is not what the manifest says.
    """
    manifest = backup.manifest
    await _refuse_existing(client, manifest)
    done = 0
    # The first that is there: an archive alone may have what was before it.
    log = next(each for each in manifest.streams if _is_log(each.name))
    for copy in (log, *(each for each in manifest.streams if each is not log)):
        await put_stream_back(client, backup, copy, replicas, is_marked=copy is log)
        for part in copy.parts:
            done += part.size
        progress(done // 1000)
    await _drop_what_the_log_has(client, manifest)
    await _place_consumers(client, manifest.floors)
    await _finish(client, log.name)


async def _floors(client: Client, segments: Segments) -> dict[str, int]:
    """Return up to where each durable consumer of the log has every ask acknowledged.

    By stream and name. An ask is acknowledged once its result is in the log. Read before the
    log's snapshot, so all of these results are in it.
    """
    found = {}
    for segment in segments.stored:
        for spec in CONSUMERS:
            name = f"{segment.stream}.{spec.durable}"
            info = await _asked(client, f"CONSUMER.INFO.{name}", {})
            found[name] = info["ack_floor"]["stream_seq"] if info else 0
    return found


async def copy_stream(
    client: BrokerClient, writer: BackupWriter, name: str, progress: Progress
) -> StreamCopy:
    """Copy one stream at its present point into the file."""
    async with taking(client, name) as snapshot:
        return await _copied(client, writer, name, snapshot, progress)


async def _together(
    copying: Iterable[Coroutine[Any, Any, StreamCopy]],
) -> list[StreamCopy]:
    """Copy several streams side by side, for the server does not wait with a snapshot."""
    tasks = [asyncio.create_task(each) for each in copying]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for each in tasks:
            each.cancel()


async def _copied(
    client: BrokerClient,
    writer: BackupWriter,
    name: str,
    snapshot: Taking,
    progress: Progress,
) -> StreamCopy:
    """Copy a snapshot into the file as it comes."""
    parts: list[Part] = []
    gathered = bytearray()

    def flush() -> None:
        parts.append(writer.add(f"streams/{name}/{len(parts):06}", bytes(gathered)))
        gathered.clear()
        progress(writer.written // 1000)

    async for chunk in snapshot.chunks():
        gathered += chunk
        if len(gathered) >= PART_BYTES:
            flush()
    if gathered:
        flush()
    last = await _last(client, name, snapshot.state["last_seq"])
    return StreamCopy(name, snapshot.config, snapshot.state, last, tuple(parts))


async def _last(client: Client, stream: str, sequence: int) -> Last | None:
    """Return the digest of a stored message; None if there is none."""
    if sequence == 0:
        return None
    found = await _asked(client, f"STREAM.MSG.GET.{stream}", {"seq": sequence})
    if found is None:
        return None
    message = found["message"]
    block = base64.b64decode(message.get("hdrs", ""))
    body = base64.b64decode(message.get("data", ""))
    whole = b"\0".join((message["subject"].encode(), block, body))
    id_ = parse_headers(block).get("ce-id")
    return Last(sequence, id_, hashlib.sha256(whole).hexdigest())


async def put_stream_back(
    client: BrokerClient,
    backup: BackupReader,
    copy: StreamCopy,
    replicas: int,
    *,
    is_marked: bool = False,
) -> None:
    """Make one stream of its copy; with a mark, if more is to come.

    Raises:
        LogRefused: there is such a stream.
        BackupDamaged: what came out is not what was copied.
    """
    config = _configuration(copy, replicas)
    if is_marked:
        config["metadata"] |= {UNFINISHED: "true"}
    state = await put_back(client, config, copy.state, _pieces(backup, copy))
    await _compare(client, copy, state)


def _configuration(copy: StreamCopy, replicas: int) -> dict[str, Any]:
    """Return the stream's configuration for another broker: its place is the operator's."""
    config = copy.config | {"num_replicas": replicas}
    config.pop("placement", None)
    # What it sourced is opened by the next start.
    config.pop("sources", None)
    config["duplicate_window"] = window(None)
    config["metadata"] = _marks(config)
    if replicas > 1:
        # As the program makes it (ADR 0040).
        config["compression"] = "none"
    return config


def _is_log(stream: str) -> bool:
    return stream == LOG.name or stream.startswith(f"{LOG.name}_")


def _pieces(backup: BackupReader, copy: StreamCopy) -> Iterator[bytes]:
    for part in copy.parts:
        yield from backup.pieces(part, CHUNK_BYTES)


async def _refuse_existing(client: Client, manifest: Manifest) -> None:
    for copy in manifest.streams:
        if await _asked(client, f"STREAM.INFO.{copy.name}", {}) is not None:
            raise LogRefused(
                f"the broker has a stream {copy.name!r} already: a backup is put back only"
                " where none of its streams is"
            )


async def _compare(client: Client, copy: StreamCopy, state: Mapping[str, Any]) -> None:
    """Check that a stream that was put back is what was copied."""
    # Of an empty stream the server counts the first sequence from 0 or from 1.
    counted = ("messages", "last_seq", *(("first_seq",) if copy.last else ()))
    for field in counted:
        if state[field] != copy.state[field]:
            raise BackupDamaged(
                f"{copy.name}.{field} came out as {state[field]:,}, not"
                f" {copy.state[field]:,}"
            )
    if copy.last and await _last(client, copy.name, copy.last.sequence) != copy.last:
        raise BackupDamaged(f"the last message of {copy.name} came out as another")


async def _drop_what_the_log_has(client: BrokerClient, manifest: Manifest) -> None:
    """Purge from the intake streams what the log took before its snapshot.

    The server notices that a stream was made anew and takes all that it holds, so what was
    taken already must be gone. The log received what still lies in a box after the box did,
    so older messages need not be read.
    """
    boxes = (each for each in manifest.streams if each.name in _LETTERS)
    first = [box.state["first_ts"] for box in boxes if box.state["messages"]]
    if not first:
        return
    # What is purged must be in the log, what it missed before it included.
    await bring_all(client, Lookout(client))
    segments, _ = await registry.load(client)
    for segment in segments.open:
        taken = {name: begin - 1 for name, begin in segment.begins.items()}
        filters = (SENSED, SENSOR_SUBJECTS)
        taken |= await last_of_each(client, segment.stream, filters, min(first))
        for name, upto in taken.items():
            await _purge(client, name, upto)


async def _purge(client: Client, name: str, upto: int) -> None:
    """Purge a source up to a sequence; `IN/<p>` are the messages of a partition in `IN`."""
    stream, _, partition = name.partition("/")
    wanted: dict[str, object] = {"seq": upto + 1}
    if stream == IN.name:
        wanted["filter"] = f"ip.{partition}.>" if partition else SENSOR_SUBJECTS
    await insist(client, f"$JS.API.STREAM.PURGE.{stream}", wanted)


async def _place_consumers(client: Client, floors: Mapping[str, int]) -> None:
    """Let each consumer of asks begin behind those that all have their results.

    What follows may have one, too: the effects look it up (`handlers.effects.perform`).
    """
    await prepare_consumers(client)
    for name, floor in floors.items():
        known = await _asked(client, f"CONSUMER.INFO.{name}", {})
        if floor and known is not None:
            await insist(client, f"$JS.API.CONSUMER.RESET.{name}", {"seq": floor + 1})


async def _finish(client: Client, stream: str) -> None:
    """Take the mark from a stream of the log."""
    info = await insist(client, f"$JS.API.STREAM.INFO.{stream}", {})
    config = info["config"]
    changed = {**config, "metadata": _marks(config)}
    await insist(client, f"$JS.API.STREAM.UPDATE.{stream}", changed)


def _marks(config: Mapping[str, Any]) -> dict[str, str]:
    """Return our own keys of a stream's metadata; the server makes its own anew."""
    return {
        key: value
        for key, value in (config.get("metadata") or {}).items()
        if not key.startswith("_nats.") and key != UNFINISHED
    }


async def _asked(
    client: Client, what: str, body: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Ask the JetStream API for something; None if it does not exist."""
    try:
        return await insist(client, f"$JS.API.{what}", body)
    except ApiError as error:
        if error.code in (*_NOT_FOUND, _NO_MESSAGE):
            return None
        raise
