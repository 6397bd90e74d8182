"""Snapshots of all open streams of a log that agree with each other: one cut through it.

Partitions of different streams depend on each other only by what agents tell each other: an
ask in one, the event that it becomes in another, and then `Delivered` beside the ask. A cut
may not hold one of them without those before it. Snapshots that are asked for together are
some milliseconds apart; whether something was told just then is in the log itself (ADR 0066).
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID

from schemas.codec.decode import read_input
from schemas.messages.asks import DeliveryAsked
from schemas.messages.results import Delivered
from schemas.values.record import Record
from schemas.values.subjects import AGENT_SOURCE
from streams.errors import LogRefused
from streams.jetstream.connection import insist
from streams.jetstream.ephemeral import ASKED_AT_ONCE
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.read import JetStreamReader
from streams.jetstream.snapshots import Taking, taking
from streams.log import matches
from streams.segments import Segment

_TRIES = 20
"""How often snapshots are asked for anew before a backup gives up."""

PATIENCE_S = 1.5
"""Seconds in which it must be known whether snapshots agree: after 2 seconds without an
acknowledgement the server ends one (`server/jetstream_api.go` of nats-server)."""

_LOOK_S = 0.01
_ASKS = f"ev.*.out.*.ask.{DeliveryAsked.token}"
_TOLD = f"ev.*.in.*.sensor.{AGENT_SOURCE}.>"
_RESULTS = f"ev.*.in.*.{Delivered.kind}.{Delivered.token}"

_Between = tuple[Sequence[Record], int]
"""What a stream got while snapshots were taken, and up to where its own holds it."""


@asynccontextmanager
async def one_point(
    client: BrokerClient, epoch: UUID, segments: Sequence[Segment]
) -> AsyncIterator[Mapping[str, Taking]]:
    """Ask for snapshots of these streams that agree with each other, by stream.

    They are being sent from then on, so they are to be read at the same time.

    Raises:
        LogRefused: agents told each other something during every try.
    """
    names = [each.stream for each in segments]
    for _ in range(_TRIES):
        async with AsyncExitStack() as stack:
            before = await _ends(client, names)
            begun = await asyncio.gather(
                *(stack.enter_async_context(taking(client, name)) for name in names)
            )
            taken = dict(zip(names, begun, strict=True))
            log = JetStreamReader(client, epoch)
            if len(names) == 1 or await _agree(client, log, segments, before, taken):
                yield taken
                return
    raise LogRefused(
        "agents tell each other so much that the log's streams have no one point: try"
        " again, or stop the workers and back up the stopped folder"
    )


async def _agree(
    client: BrokerClient,
    log: JetStreamReader,
    segments: Sequence[Segment],
    before: Mapping[str, int],
    taken: Mapping[str, Taking],
) -> bool:
    """Tell whether snapshots agree; False, too, if it takes so long that they would end."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            after = await _ends(client, list(taken))
            found = await asyncio.gather(
                *(
                    _between(log, each, before[each.stream], after[each.stream])
                    for each in segments
                )
            )
    except TimeoutError:
        return False
    ends = [taken[each.stream].state["last_seq"] for each in segments]
    return is_closed(list(zip(found, ends, strict=True)))


def is_closed(streams: Iterable[_Between]) -> bool:
    """Tell whether nothing up to the ends stems from something behind them."""
    inside: list[Record] = []
    behind: list[Record] = []
    for records, end in streams:
        for each in records:
            (inside if each.sequence <= end else behind).append(each)
    asked = {
        each.headers.get("ce-id") for each in behind if matches(_ASKS, each.subject)
    }
    told = {
        each.headers.get("ce-causeid")
        for each in behind
        if matches(_TOLD, each.subject)
    }
    for each in inside:
        if matches(_TOLD, each.subject) and each.headers.get("ce-causeid") in asked:
            return False
        if matches(_RESULTS, each.subject) and _ask_of(each) in told:
            return False
    return True


def _ask_of(record: Record) -> str | None:
    message = read_input(record).message
    return message.ask_id if isinstance(message, Delivered) else None


async def _between(
    log: JetStreamReader, segment: Segment, after: int, end: int
) -> Sequence[Record]:
    """Return what a stream got behind `after`, up to `end`."""
    found: list[Record] = []
    while after < end:
        page = await log.page_of(segment, "ev.>", after, ASKED_AT_ONCE - 1)
        if not page:
            # A replica that lags.
            await asyncio.sleep(_LOOK_S)
            continue
        found += page
        after = page[-1].sequence
    return found


async def _ends(client: BrokerClient, names: Sequence[str]) -> dict[str, int]:
    infos = await asyncio.gather(
        *(insist(client, f"$JS.API.STREAM.INFO.{name}", {}) for name in names)
    )
    return {
        name: info["state"]["last_seq"] for name, info in zip(names, infos, strict=True)
    }
