"""Intake streams are emptied of what the log has taken, so that they hold what waits.

What was acknowledged to a sensor leaves its intake stream only once the log has it, and
everything before it: the position of the consumer that the log sources by is no proof, as a
server that stood still passes over messages. The messages in the log say where each came from.
"""

import asyncio
import logging
import time
from collections.abc import Collection
from typing import Any

import msgspec

from streams.bounds import CLOSED_BYTES
from streams.cancellation import heed_cancellation
from streams.errors import StreamsError
from streams.jetstream import registry
from streams.jetstream.connection import insist
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.origins import EVERYWHERE, pages, since
from streams.jetstream.sourced import state_of, stored_at
from streams.topology import BOX_SUBJECTS, BOXES, IN

LOOK_S = 1.0
"""Seconds between two looks at what the intake streams hold."""

_DRAINED, _DRAINED_BYTES = 1 / 16, 4_000_000
"""From which part of its bound on, or from how many bytes, an intake stream is emptied of what
the log has. Below both the messages stay, so that they can be compared with the log."""

_STUCK = 20.0
"""How many times as long as a vain attempt to empty a stream took the next one waits."""

_log = logging.getLogger(__name__)


class Box(msgspec.Struct, frozen=True):
    """The bytes of an intake stream: those it holds, those it may hold (-1: any)."""

    held: int
    bound: int

    @property
    def is_due(self) -> bool:
        """Whether it holds so much that it should be emptied."""
        kept = min(self.bound * _DRAINED, _DRAINED_BYTES)
        return self.held > (kept if self.bound > CLOSED_BYTES else _DRAINED_BYTES)


async def boxes(client: BrokerClient) -> dict[str, Box]:
    """Return what the intake streams hold.

    Raises:
        StreamsError: the broker is away, or refuses.
    """
    # One request for all the boxes; the streams of a log in segments may be many.
    asked = {"subject": BOX_SUBJECTS}
    listed = (await insist(client, "$JS.API.STREAM.LIST", asked))["streams"] or []
    names = {box.name for box in BOXES}
    every = [each for each in listed if each["config"]["name"] in names]
    every.append(await insist(client, f"$JS.API.STREAM.INFO.{IN.name}", {}))
    return {
        each["config"]["name"]: Box(each["state"]["bytes"], each["config"]["max_bytes"])
        for each in every
    }


async def keep_drained(client: BrokerClient) -> None:
    """Empty intake streams of what the log has, once they hold much, until cancelled.

    Not of a sealed log, whose intake task takes out each message itself.
    """
    may_try: dict[str, float] = {}
    while True:
        heed_cancellation()
        try:
            for name, box in (await boxes(client)).items():
                if box.is_due and time.monotonic() >= may_try.get(name, 0.0):
                    began = time.monotonic()
                    is_vain = not await drain(client, name)
                    took = time.monotonic() - began
                    may_try[name] = began + took * _STUCK * is_vain
        except StreamsError as error:
            _log.info("intake streams were not emptied: %s", error)
        await asyncio.sleep(LOOK_S)


async def drain(client: BrokerClient, stream: str) -> int:
    """Remove from an intake stream what the log is known to have; return how many messages.

    Raises:
        StreamsError: the broker is away, or refuses.
    """
    return await remove(client, stream, await safe_mark(client, stream))


async def remove(client: BrokerClient, stream: str, mark: int) -> int:
    """Remove an intake stream's messages up to a mark, and return how many.

    Every message up to there must be in the log. The newest message stays whatever the mark:
    it holds the stream's sequence, by which the log tells what it has taken, through a crash.
    """
    state = await state_of(client, stream)
    last = min(mark, state["last_seq"] - 1)
    if not state["messages"] or last < state["first_seq"]:
        return 0
    subject = f"$JS.API.STREAM.PURGE.{stream}"
    # The server keeps the sequence that it is given, and removes those before it.
    removed: int = (await insist(client, subject, {"seq": last + 1}))["purged"]
    return removed


async def safe_mark(client: BrokerClient, stream: str) -> int:
    """Return the last sequence of an intake stream up to which the log lacks nothing.

    It is the one before the stream's first if the log does not have that one.
    """
    state = await _with_deleted(client, stream)
    first, last = state["first_seq"], state["last_seq"]
    if not state["messages"]:
        return int(last)
    taken: set[int] = set(state.get("deleted") or ())
    start = since(await stored_at(client, stream, first))
    partition = None if stream == IN.name else int(stream.rpartition("_")[2])
    segments, _ = await registry.load(client)
    for each in segments.stored:
        if each.has(partition):
            filters = EVERYWHERE if partition is None else _of_partition(partition)
            async for page in pages(client, each.stream, filters, start):
                taken |= {
                    origin.sequence
                    for origin in page.origins
                    if origin.stream == stream
                }
    return without_gap(taken, first, last)


def without_gap(taken: Collection[int], first: int, last: int) -> int:
    """Return up to where all of `first` to `last` are in `taken`; `first` - 1: not even it."""
    mark = first - 1
    while mark < last and mark + 1 in taken:
        mark += 1
    return mark


def _of_partition(partition: int) -> tuple[str, ...]:
    """Return the subjects under which the log has what it took of a partition's stream.

    A subject with a wildcard sign for a token is stored without being mapped; where what was
    missed is brought over as a stray, it is in a partition of its own.
    """
    mapped, unmapped = f"ev.{partition}.in.*.sensor.>", f"ip.{partition}.>"
    return mapped, unmapped, "ev.*.in.*.stray.>"


async def _with_deleted(client: BrokerClient, stream: str) -> dict[str, Any]:
    """Return a stream's state with the sequences of messages that were deleted singly."""
    asked = {"deleted_details": True}
    info = await insist(client, f"$JS.API.STREAM.INFO.{stream}", asked)
    state: dict[str, Any] = info["state"]
    return state
