"""Whether there is room for what sensors send, and whose messages take it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from echoic.client.admission import MB, limits_of, noted_in
from echoic.client.connection import Connection
from streams.bounds import (
    CLOSED_BYTES,
    HIGH,
    Limits,
    Standing,
    floor_of,
    standing_in,
    why,
)
from streams.jetstream.connection import insist
from streams.jetstream.draining import Box, boxes
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.weights import weights

SHOWN = 3
"""How many senders are named."""

FULL = 0.95
"""The part of what the broker allows the account from which on its storage counts as full."""


@dataclass(frozen=True, slots=True)
class Storage:
    """What was found."""

    is_full: bool
    """Whether every sensor is refused."""
    found: str
    is_short: bool = False
    """Whether some are refused, or much waits."""


async def look(connection: Connection) -> Storage:
    """Look at the intake streams, and at what the instance has counted.

    Raises:
        StreamsError: the broker is away, or refuses.
    """
    settings, client = connection.settings, connection.client
    held = await boxes(client)
    standing = standing_in(noted_in(settings))
    if (
        settings.nats_url
        and standing
        and standing.day != f"{datetime.now(UTC):%Y-%m-%d}"
    ):
        standing = (
            None  # It is of what doors of this folder took, and no watch renews it.
        )
    limits = limits_of(settings)
    full = await _full(client, held, standing, limits)
    if full:
        return Storage(True, f"storage full: {full}{await _senders(client, standing)}")
    if standing is not None and standing.refused:
        every = [f"{each}, {why(standing, each, limits)}" for each in standing.refused]
        return Storage(False, f"refused: {'; '.join(every)}", is_short=True)
    waiting = {
        name: box for name, box in held.items() if 0 < box.bound * HIGH < box.held
    }
    if waiting:
        name = max(waiting, key=lambda each: waiting[each].held)
        box = waiting[name]
        found = f"{name} holds {_mb(box.held)} of the {_mb(box.bound)} that it may"
        senders = await _senders(client, standing)
        return Storage(False, f"{found}{senders}", is_short=True)
    total = sum(each.held for each in held.values())
    return Storage(False, f"intake streams hold {_mb(total)}{_counted(standing)}")


async def _full(
    client: BrokerClient,
    held: Mapping[str, Box],
    standing: Standing | None,
    limits: Limits,
) -> str | None:
    """Return why nothing of sensors is stored; None if it is."""
    if standing is not None and standing.is_closed and standing.room is not None:
        floor = floor_of(standing.room, limits)
        free = _mb(standing.room.free)
        return f"{free} of the disk are free, below {_mb(floor)} sensors are refused"
    # Of an instance that ended, or another's: the broker keeps to what was set last.
    if any(each.bound == CLOSED_BYTES for each in held.values()):
        return "the intake streams take nothing"
    account: dict[str, Any] = await insist(client, "$JS.API.INFO", {})
    most = account["limits"]["max_storage"]
    if most > 0 and account["storage"] >= most * FULL:
        return f"{_mb(account['storage'])} of {_mb(most)} that the broker allows"
    return None


async def _senders(client: BrokerClient, standing: Standing | None) -> str:
    """Name who sent most today; where nobody counts, most of what came last."""
    if standing is not None and standing.room and standing.used:
        return _counted(standing)
    found = await weights(client)
    return f"; most of what came last is by {_most(found)}" if found else ""


def _counted(standing: Standing | None) -> str:
    if standing is None or not standing.used:
        return ""
    return f"; sent most today: {_most(Counter(standing.used))}"


def _most(sent: "Counter[str]") -> str:
    named = [f"{name} {_mb(size)}" for name, size in sent.most_common(SHOWN)]
    return ", ".join(named)


def _mb(size: int) -> str:
    return f"{size / MB:,.1f} MB"
