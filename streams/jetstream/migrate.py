"""The one place that creates streams: create what is missing, refuse what differs.

An existing stream is never changed: one that differs is for a person to decide on. The one
exception is the intake, the sources of `LOG`: it is closed when the log is created and
opened once the worker has recovered and its settings are stored (ADR 0013).
"""

import asyncio
from typing import Any
from uuid import UUID, uuid4

from nats.aio.client import Client

from streams.errors import TopologyDrift
from streams.jetstream.connection import ApiError, insist
from streams.topology import (
    BOXES,
    EPOCH_KEY,
    LOG,
    STREAMS,
    StreamSpec,
    box_consumer,
    configuration,
    differences,
)

_CLOSED = (
    f"{LOG.name} takes nothing from {LOG.sourced_from}: an instance is starting, or its"
    " start failed; what sensors send waits until one has started (`echoic up`)"
)
# Error codes of the JetStream API.
_STREAM_NOT_FOUND = 10059
_NAME_IN_USE = 10058


async def migrate(client: Client, replicas: int = 1) -> UUID:
    """Create the streams that are missing, check all of them, and return the log's epoch.

    A log created here takes nothing from sensors until `open_intake`. Two programs may run
    this at once.

    Raises:
        TopologyDrift: a stream exists with another configuration; all fields are named.
    """
    await asyncio.gather(*(_have(client, spec, replicas) for spec in STREAMS))
    return await check(client, may_be_closed=True)


async def open_intake(client: Client) -> None:
    """Let `LOG` take what sensors send, from where it left off."""
    await _set_sources(client, configuration(LOG)["sources"])


async def close_intake(client: Client) -> None:
    """Let what sensors send wait in the intake streams, without loss or duplication."""
    await _set_sources(client, None)


async def _set_sources(client: Client, sources: object) -> None:
    live = await _live(client, LOG)
    if live is None:
        raise TopologyDrift(_explain([f"stream {LOG.name!r} does not exist"]))
    if (live.get("sources") or None) != (sources or None):
        # The live configuration, not ours: replicas and placement are the operator's.
        changed = {**live, "sources": sources}
        await insist(client, f"$JS.API.STREAM.UPDATE.{LOG.name}", changed)


async def check(client: Client, *, may_be_closed: bool = False) -> UUID:
    """Compare every live stream with what it must be, and return the log's epoch.

    Raises:
        TopologyDrift: a stream is missing or differs; all fields of all streams are named.
    """
    problems: list[str] = []
    epoch: UUID | None = None
    found_live = await asyncio.gather(*(_live(client, spec) for spec in STREAMS))
    for spec, live in zip(STREAMS, found_live, strict=True):
        if live is None:
            problems.append(f"stream {spec.name!r} does not exist: run the migration")
            continue
        wanted = configuration(spec, live["num_replicas"])
        for field, found, expected in differences(wanted, live):
            if field == "sources" and (may_be_closed or not found):
                # Opening the intake sets the sources, so a start need not compare them.
                if not may_be_closed:
                    problems.append(_CLOSED)
                continue
            problems.append(f"{spec.name}.{field} is {found!r}, expected {expected!r}")
        if spec.has_epoch:
            epoch = _epoch(live)
    if epoch is None:
        problems.append(f"{LOG.name}.metadata.{EPOCH_KEY} holds no UUID")
    if problems or epoch is None:
        raise TopologyDrift(_explain(problems))
    return epoch


async def epoch_of(client: Client) -> UUID:
    """Return the epoch of the log, without a check of the rest.

    Raises:
        TopologyDrift: there is no log, or it has no epoch.
    """
    epoch = _epoch(await _live(client, LOG) or {})
    if epoch is None:
        raise TopologyDrift(
            _explain(
                [f"stream {LOG.name!r} with an epoch does not exist: migrate first"]
            )
        )
    return epoch


async def _live(client: Client, spec: StreamSpec) -> dict[str, Any] | None:
    try:
        info = await insist(client, f"$JS.API.STREAM.INFO.{spec.name}", {})
    except ApiError as error:
        if error.code == _STREAM_NOT_FOUND:
            return None
        raise
    config: dict[str, Any] = info["config"]
    return config


async def _create(client: Client, spec: StreamSpec, replicas: int) -> None:
    # Created with a closed intake: what came in before the settings would be decided
    # without heuristics, models or limits.
    config = configuration(spec, replicas) | {"sources": None}
    if spec.has_epoch:
        config["metadata"] = {EPOCH_KEY: str(uuid4())}
    try:
        await insist(client, f"$JS.API.STREAM.CREATE.{spec.name}", config)
    except ApiError as error:
        # Another program created it in the meantime; the check that follows compares it.
        if error.code != _NAME_IN_USE:
            raise


async def _have(client: Client, spec: StreamSpec, replicas: int) -> None:
    """Create a stream if it is missing, and the consumer by which `LOG` sources a box."""
    if await _live(client, spec) is None:
        await _create(client, spec, replicas)
    if spec in BOXES:
        # Creating a consumer with the same configuration again keeps its position.
        subject = f"$JS.API.CONSUMER.CREATE.{spec.name}.{LOG.name}"
        config = {"stream_name": spec.name, "config": box_consumer(spec)}
        await insist(client, subject, config)


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
