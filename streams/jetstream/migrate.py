"""The one place that creates streams: create what is missing, refuse what differs.

An existing stream is never changed: one that differs is for a person to decide on. The one
exception is the intake, the sources of the log: it is closed when the log is created and
opened once the worker has recovered and its settings are stored (ADR 0013). Segments are
closed and made by `streams.jetstream.segments`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from nats.aio.client import Client

from streams.cancellation import heed_cancellation
from streams.errors import LogUnavailable, TopologyDrift
from streams.jetstream.connection import ApiError, insist
from streams.jetstream.registry import load
from streams.segment_streams import (
    segment_configuration,
    segment_consumer,
    sources_of,
    streams_of,
)
from streams.segments import Segment, Segments
from streams.topology import (
    BOUNDED,
    BOXES,
    DUPLICATE_WINDOW_S,
    EPOCH_KEY,
    IN,
    LOG,
    SEALED_KEY,
    UNFINISHED,
    StreamSpec,
    configuration,
    differences,
)

_CLOSED = (
    f"{LOG.name} takes nothing from {LOG.sourced_from}: an instance is starting, or its"
    " start failed; what sensors send waits until one has started (`echoic up`)"
)
_PASSED_OVER = (
    f"{LOG.name} is missing, and its consumers are there: nats-server passed over it at its"
    " start (its log says why), or somebody deleted it. No other log is begun in its place:"
    " restore a backup"
)
_UNFINISHED = (
    f"{LOG.name} is of a restoration that was broken off: delete the streams that it made"
    " (`nats stream rm`), and restore again"
)
_PAUSE_S = 0.5
"""Seconds between attempts to put sources back."""

# Error codes of the JetStream API.
_STREAM_NOT_FOUND = 10059
_NAME_IN_USE = 10058
_OFFLINE = (10119, 10195)
"""Of a consumer that is there, and whose nodes are away or of an older version."""

_log = logging.getLogger(__name__)


async def migrate(
    client: Client, replicas: int = 1, *, is_sealed: bool = False
) -> UUID:
    """Create the streams that are missing, check all of them, and return the log's epoch.

    A log created here takes nothing from sensors until `open_intake`. Two programs may run
    this at once. A roll-over to new segments that was cut off is left to
    `streams.jetstream.segments`, which has to go on with it. A log's fields are sealed if it
    is created so, for its life.

    Raises:
        TopologyDrift: a stream exists with another configuration; all fields are named.
    """
    segments, revision = await load(client)
    is_sealed = await sealing(client, is_sealed)
    specs = streams_of(segments, is_sealed=is_sealed)
    await asyncio.gather(*(_have(client, spec, replicas) for spec in specs))
    if not revision:
        await _have_log(client, replicas, is_sealed=is_sealed)
    if not is_sealed:
        for segment in segments.open:
            await have_consumers(client, segment)
    return await check(client, may_be_closed=True)


async def ensure(client: Client, spec: StreamSpec, replicas: int = 1) -> None:
    """Create one stream that is not part of every instance, or check it.

    Raises:
        TopologyDrift: it exists with another configuration; all fields are named.
    """
    await _have(client, spec, replicas)
    live = await live_of(client, spec.name) or {}
    wanted = configuration(spec, live.get("num_replicas", replicas))
    if problems := _problems(spec.name, wanted, live, may_be_closed=False):
        raise TopologyDrift(_explain(problems))


async def open_intake(client: Client) -> None:
    """Let the log take what sensors send, from where it left off; a sealed one takes none."""
    if await sealing(client):
        return
    segments, _ = await load(client)
    for each in segments.open:
        await set_sources(client, each.stream, sources_of(each, segments))


async def close_intake(client: Client) -> None:
    """Let what sensors send wait in the intake streams, without loss or duplication."""
    segments, _ = await load(client)
    for each in segments.open:
        await set_sources(client, each.stream, None)


async def set_sources(client: Client, stream: str, sources: object) -> None:
    """Let one stream of the log take from these, and from nothing else."""
    live = await live_of(client, stream)
    if live is None:
        raise TopologyDrift(_explain([f"stream {stream!r} does not exist"]))
    if live.get("sealed"):
        # A roll-over was cut off: this one takes nothing more.
        return
    # The live configuration, not ours: replicas and placement are the operator's.
    changed = {**live, "sources": sources, "duplicate_window": window(sources)}
    if differences(changed, live):
        await insist(client, f"$JS.API.STREAM.UPDATE.{stream}", changed)


@asynccontextmanager
async def without(
    client: Client, segments: Segments, segment: Segment, names: Collection[str]
) -> AsyncIterator[None]:
    """Let a segment take nothing from the sources of these names during the block.

    They are put back however long the broker is away; who is cancelled meanwhile leaves that
    to the next start.
    """
    every = sources_of(segment, segments)
    others = [each for each in every if each["name"] not in names]
    try:
        await set_sources(client, segment.stream, others or None)
        yield
    finally:
        while not await _has_set(client, segment.stream, every):
            heed_cancellation()
            await asyncio.sleep(_PAUSE_S)


async def _has_set(client: Client, stream: str, sources: object) -> bool:
    try:
        await set_sources(client, stream, sources)
    except LogUnavailable as error:
        _log.warning("%s takes nothing of some sources until then: %s", stream, error)
        return False
    return True


def window(sources: object) -> int:
    """Return the duplicate window of a stream with these sources, in nanoseconds.

    What is sourced was acknowledged by its intake stream, and must not be dropped because
    another sensor sent the same `Nats-Msg-Id`. Only a stream that sources may have none.
    """
    return 0 if sources else int(DUPLICATE_WINDOW_S * 1_000_000_000)


async def check(client: Client, *, may_be_closed: bool = False) -> UUID:
    """Compare every live stream with what it must be, and return the log's epoch.

    Raises:
        TopologyDrift: a stream is missing or differs; all fields of all streams are named.
    """
    segments, _ = await load(client)
    is_rolling, is_sealed = bool(segments.preparing), await sealing(client)
    wanted: list[tuple[str, Callable[[int], dict[str, object]]]] = [
        (each.name, partial(configuration, each))
        for each in streams_of(segments, is_sealed=is_sealed)
        # While segments are being closed streams differ, in ways that the roll-over knows.
        if not (is_rolling and each.name == IN.name)
    ]
    wanted += [
        (
            each.stream,
            partial(segment_configuration, each, segments, is_sealed=is_sealed),
        )
        for each in segments.stored
        if not is_rolling
    ]
    found_live = await asyncio.gather(*(live_of(client, name) for name, _ in wanted))
    problems: list[str] = []
    for (name, expected), live in zip(wanted, found_live, strict=True):
        if live is None:
            problems.append(f"stream {name!r} does not exist: run the migration")
        else:
            fits = expected(live["num_replicas"])
            problems += _problems(name, fits, live, may_be_closed=may_be_closed)
    log = await _log_of(client) or {}
    epoch = _epoch(log)
    if UNFINISHED in (log.get("metadata") or {}):
        problems.append(_UNFINISHED)
    if epoch is None:
        problems.append(f"{LOG.name}.metadata.{EPOCH_KEY} holds no UUID")
    if problems or epoch is None:
        raise TopologyDrift(_explain(problems))
    return epoch


def _problems(
    name: str,
    wanted: Mapping[str, object],
    live: Mapping[str, object],
    *,
    may_be_closed: bool,
) -> list[str]:
    """Return in words how a stream differs from what it must be."""
    problems = []
    for field, found, expected in differences(wanted, live):
        if field == "sources" and expected and (may_be_closed or not found):
            # Opening the intake sets the sources, so a start need not compare them.
            if not may_be_closed:
                problems.append(_CLOSED)
            continue
        if field == "duplicate_window" and (found or 0) == window(live.get("sources")):
            continue
        if field == "max_bytes" and name in BOUNDED:
            continue
        problems.append(f"{name}.{field} is {found!r}, expected {expected!r}")
    return problems


async def epoch_of(client: Client) -> UUID:
    """Return the epoch of the log, without a check of the rest.

    Raises:
        TopologyDrift: there is no log, or it has no epoch.
    """
    epoch = _epoch(await _log_of(client) or {})
    if epoch is None:
        raise TopologyDrift(
            _explain(
                [f"stream {LOG.name!r} with an epoch does not exist: migrate first"]
            )
        )
    return epoch


async def sealing(client: Client, otherwise: bool = False) -> bool:
    """Tell whether the log is a sealed one; `otherwise` if there is none yet."""
    live = await _log_of(client)
    if live is None:
        return otherwise
    return (live.get("metadata") or {}).get(SEALED_KEY) == "true"


async def _log_of(client: Client) -> dict[str, Any] | None:
    """Return the configuration of the first stream that there is of the log."""
    live = await live_of(client, LOG.name)
    if live is not None:
        return live
    # It may be gone, once an archive has it.
    for segment in (await load(client))[0].stored:
        if live := await live_of(client, segment.stream):
            return live
    return None


async def metadata_of(client: Client) -> dict[str, str]:
    """Return what each stream of the log says of all of it: epoch, and whether sealed."""
    marks = (await _log_of(client) or {}).get("metadata") or {}
    return {each: marks[each] for each in (EPOCH_KEY, SEALED_KEY) if each in marks}


async def live_of(client: Client, stream: str) -> dict[str, Any] | None:
    """Return the configuration that a stream has; None if there is no such stream."""
    try:
        info = await insist(client, f"$JS.API.STREAM.INFO.{stream}", {})
    except ApiError as error:
        if error.code == _STREAM_NOT_FOUND:
            return None
        raise
    config: dict[str, Any] = info["config"]
    return config


async def create(client: Client, config: Mapping[str, object]) -> None:
    """Create a stream, unless it exists: a check that follows compares it."""
    try:
        await insist(client, f"$JS.API.STREAM.CREATE.{config['name']}", config)
    except ApiError as error:
        # Another program created it in the meantime.
        if error.code != _NAME_IN_USE:
            raise


async def _have(client: Client, spec: StreamSpec, replicas: int) -> None:
    """Create a stream if it is missing."""
    if await live_of(client, spec.name) is None:
        await create(client, configuration(spec, replicas))


async def _have_log(client: Client, replicas: int, *, is_sealed: bool) -> None:
    """Create the first segment if it is missing."""
    if await live_of(client, LOG.name) is None:
        if await _was_there(client):
            raise TopologyDrift(_PASSED_OVER)
        # Created with a closed intake: what came in before the settings would be decided
        # without heuristics, models or limits.
        config = configuration(LOG, replicas) | {"sources": None}
        marks = {SEALED_KEY: "true"} if is_sealed else {}
        marks[EPOCH_KEY] = str(uuid4())
        await create(client, config | {"metadata": marks})


async def _was_there(client: Client) -> bool:
    """Tell whether the log sourced an intake stream: such consumers are made after it."""
    try:
        await insist(client, f"$JS.API.CONSUMER.INFO.{BOXES[0].name}.{LOG.name}", {})
    except ApiError as error:
        # No such consumer; of a stream that was just made, a cluster's nodes say so variously.
        return error.code in _OFFLINE
    return True


async def have_consumers(client: Client, segment: Segment) -> None:
    """Create the consumers by which a segment sources the boxes of its partitions."""
    # Creating a consumer with the same configuration again keeps its position.
    await asyncio.gather(
        *(
            insist(
                client,
                f"$JS.API.CONSUMER.CREATE.{box.name}.{segment.stream}",
                {"stream_name": box.name, "config": segment_consumer(box, segment)},
            )
            for box in (BOXES[each] for each in segment.every)
        )
    )


def _epoch(live: dict[str, Any]) -> UUID | None:
    try:
        return UUID(live["metadata"][EPOCH_KEY])
    except (KeyError, ValueError):
        return None


def _explain(problems: list[str]) -> str:
    return (
        "the broker's streams are not as Echoic needs them:\n  "
        + "\n  ".join(problems)
        + "\nPut the fields back (`nats stream edit`), or start with another data folder"
    )
