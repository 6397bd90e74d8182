"""Leaving a node of a cluster that its majority no longer hears.

Such a node keeps its clients: it takes their requests, and goes on to read its own copy of the
log to them, without news. So each connection looks by itself, and goes to another node. A node
tells its clients which nodes it is connected to, some seconds after it has lost one. What leads
the log knows when it last heard the others; what does not is asked whether it reaches whoever
leads.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import nats.errors
from nats.aio.client import Client

from streams.cancellation import heed_cancellation
from streams.jetstream.closing import cut
from streams.topology import LOG, NANOSECONDS

LOOK_S = 1.0
"""Seconds between two looks, and how long one waits for its answer."""

_HEAR_S = 0.2
"""Seconds between two looks at what the node has told by itself."""

_AGAIN_S = 5.0
"""Seconds between two departures at the most, while no node reaches the majority."""

_UNHEARD_S = 3.0
"""A node that was not heard of for so long counts as lost; nodes send each second."""

_NOT_FOUND = 404

_LOOKS = 2
"""How many looks in a row have to fail. An election takes longer: then every node is tried in
turn, which does no harm, since none of them could answer."""

_log = logging.getLogger(__name__)


async def keep_to_majority(client: Client, *, is_asking: bool = True) -> None:
    """Leave the node whenever it has lost the majority, until cancelled or closed.

    A broker that is one node alone is never left. Who may not ask about the log goes by what
    the node tells alone.
    """
    async with asyncio.TaskGroup() as group:
        group.create_task(_leave_the_few(client))
        if is_asking:
            group.create_task(_leave_the_silent(client))


async def _leave_the_few(client: Client) -> None:
    """Leave a node that tells of few others, at longer and longer pauses if all do."""
    told, most, pause_s = _hear(client), 0, _HEAR_S
    while not client.is_closed:
        heed_cancellation()
        await asyncio.sleep(pause_s)
        most = max(most, told.addresses)
        if not (has_another(client) and is_minority(told.addresses, most)):
            pause_s = _HEAR_S
        elif client.is_connected:
            _log.warning(
                "%s is cut off from the majority; trying another", named(client)
            )
            await leave(client)
            pause_s = min(2 * pause_s, _AGAIN_S)


@dataclass(slots=True)
class _Told:
    """How many addresses of nodes one was told of, its own among them."""

    addresses: int


def _hear(client: Client) -> _Told:
    """Return what the node tells, kept up to date, as the library does not."""
    told, process = _Told(_addresses(client._server_info)), client._process_info

    async def process_info(
        info: dict[str, Any], initial_connection: bool = False
    ) -> None:
        told.addresses = _addresses(info)
        await process(info, initial_connection)

    client._process_info = process_info  # type: ignore[method-assign]
    return told


def is_minority(told: int, most: int) -> bool:
    """Whether who tells of so many addresses is not of the majority of the most ever told.

    One that tells of none keeps them for itself (`no_advertise`).
    """
    return 0 < 2 * told <= most


def _addresses(info: Mapping[str, Any]) -> int:
    return len(info.get("connect_urls") or ())


async def _leave_the_silent(client: Client) -> None:
    failed = 0
    while not client.is_closed:
        heed_cancellation()
        await asyncio.sleep(LOOK_S)
        if not (has_another(client) and client.is_connected):
            continue
        connections = client.stats["reconnects"]
        is_reached = await _has_majority(client)
        # Else it was left meanwhile, and the next one has done nothing wrong yet.
        is_there = _is_connected_since(client, connections)
        failed = failed + 1 if is_there and not is_reached else 0
        if failed >= _LOOKS:
            _log.warning(
                "%s does not reach the majority; trying another", named(client)
            )
            await leave(client)
            failed = 0


def _is_connected_since(client: Client, reconnects: int) -> bool:
    return client.is_connected and client.stats["reconnects"] == reconnects


def is_of_a_cluster(client: Client) -> bool:
    """Whether the broker has other nodes, by its own words."""
    return bool(client._server_info.get("cluster"))


def has_another(client: Client) -> bool:
    """Whether another node can be gone to; one address may stand for all of them."""
    return len(client._server_pool) > 1


def named(client: Client) -> str:
    """Return the address of the node to which it is connected."""
    return client.connected_url.netloc if client.connected_url else "a node"


async def leave(client: Client) -> None:
    """Go on to the next node."""
    # The library would shuffle them, and come back to the one that it has just left.
    client.options["dont_randomize"] = True
    # First, so that from here on nothing is written to a connection that is cut.
    await client.force_reconnect()
    cut(client)


async def _has_majority(client: Client) -> bool:
    """Whether the node reaches whoever leads the log, and that one hears the majority."""
    subject = f"$JS.API.STREAM.INFO.{LOG.name}"
    try:
        found = await client.request(subject, b"{}", LOOK_S)
    except (nats.errors.Error, OSError):
        return False
    told: dict[str, Any] = json.loads(found.data)
    if "error" in told:
        # Where the first segment is in an archive alone, who assigns streams says so.
        return bool(told["error"].get("code") == _NOT_FOUND)
    return is_heard(told.get("cluster") or {})


def is_heard(cluster: Mapping[str, Any]) -> bool:
    """Whether a stream's leader hears the majority, by what it tells of its cluster."""
    others = cluster.get("replicas") or ()
    # While nobody leads, a replica answers, and has heard everybody just now.
    if others and not cluster.get("leader"):
        return False
    # `active` is how long ago the leader heard a replica, in nanoseconds.
    heard = [each for each in others if each["active"] < _UNHEARD_S * NANOSECONDS]
    # The leader counts as one of them.
    return 2 * (len(heard) + 1) > len(others) + 1
