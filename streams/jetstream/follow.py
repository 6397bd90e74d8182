"""The live tail of the log: what is there, then what arrives, in order, without gaps.

The position is kept here: where a consumer is lost, a new one starts behind the last record
that was handed on. While none can be made, as a cluster's nodes elect who assigns them, the
nearest copy of the log is read instead. Where a segment was closed, its successors follow once
it is read out.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from streams.cancellation import heed_cancellation
from streams.errors import LogUnavailable, StreamsError
from streams.jetstream.ephemeral import ASKED_AT_ONCE, Consumer
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.registry import Registry
from streams.log import After, Records
from streams.segments import Segment, Segments, partition_in

_ASKED_PAGES = 2
"""How many pages one request asks for, for a reader whose pages are small."""

_PAUSE_S = 0.2
"""Seconds before a new consumer is made, so that a broker that starts is not flooded."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is followed: a filter, and how many records are handed on at once."""

    subjects: str
    limit: int


class _PagedSegments(Protocol):
    """What reads a segment page by page."""

    async def page_of(
        self, segment: Segment, subjects: str, after: int, limit: int
    ) -> Records:
        """Return a page of one segment; none only at its end."""
        ...

    async def any_page_of(
        self, segment: Segment, subjects: str, after: int, limit: int
    ) -> Records:
        """Return a page of one segment from any copy; none if none answers."""
        ...


@dataclass(slots=True)
class _Place:
    """How far one segment was handed on."""

    segment: Segment
    position: int


async def follow(
    pages: _PagedSegments,
    client: BrokerClient,
    registry: Registry,
    wanted: Wanted,
    after: After,
) -> AsyncGenerator[Records, None]:
    """Yield records behind a position for as long as the connection is open.

    Raises:
        LogReclaimed: what is behind it is in an archive alone.
        LogRefused: the stream does not exist, or may not be read.
        LogUnavailable: the connection was closed.
    """
    begin = (after,) if isinstance(after, int) else after
    reached: dict[str, int] = {}
    growing: list[_Place] = []
    while True:
        heed_cancellation()
        version = registry.version
        try:
            places = _places(await registry.current(), wanted, begin, reached)
            for place in (each for each in places if each.segment.last is not None):
                async for records in _closed(pages, wanted, place):
                    yield records
                    reached[place.segment.stream] = place.position
                reached[place.segment.stream] = place.segment.last or 0
            growing = [each for each in places if each.segment.last is None]
            tail = _Tail(client, registry, version, wanted)
            async with aclosing(tail.of(growing)) as following:
                async for place, records in following:
                    reached[place.segment.stream] = place.position
                    yield records
        except LogUnavailable:
            if client.is_closed:
                raise
            for place in growing:
                at = reached.get(place.segment.stream, place.position)
                records = await pages.any_page_of(
                    place.segment, wanted.subjects, at, wanted.limit
                )
                if records:
                    reached[place.segment.stream] = records[-1].sequence
                    yield records
        await asyncio.sleep(_PAUSE_S)


def _places(
    segments: Segments, wanted: Wanted, begin: Sequence[int], reached: dict[str, int]
) -> list[_Place]:
    """Return the segments that have more to hand on, each with how far it was."""
    places = []
    for segment in segments.chain(partition_in(wanted.subjects)):
        position = reached.get(segment.stream, segments.begin(segment, begin))
        if position is not None and position != segment.last:
            places.append(_Place(segment, position))
    return places


async def _closed(
    pages: _PagedSegments, wanted: Wanted, place: _Place
) -> AsyncGenerator[Records, None]:
    """Yield the rest of a segment that is sealed."""
    while records := await pages.page_of(
        place.segment, wanted.subjects, place.position, wanted.limit
    ):
        place.position = records[-1].sequence
        yield records


_Arrived = tuple[_Place, Records, StreamsError | None]


class _Tail:
    """The open segments, until one of their consumers is lost or the segments change."""

    def __init__(
        self, client: BrokerClient, registry: Registry, version: int, wanted: Wanted
    ) -> None:
        self._client = client
        self._registry = registry
        self._version = version
        self._wanted = wanted

    async def of(
        self, places: Sequence[_Place]
    ) -> AsyncGenerator[tuple[_Place, Records], None]:
        """Yield what arrives in some segments, each with its place."""
        if len(places) == 1:
            async with aclosing(self._one(places[0])) as following:
                async for records in following:
                    yield places[0], records
            return
        arrived: asyncio.Queue[_Arrived] = asyncio.Queue(1)
        tasks = [asyncio.create_task(self._into(arrived, each)) for each in places]
        try:
            while True:
                place, records, error = await arrived.get()
                if error is not None:
                    raise error
                if not records:
                    return
                place.position = records[-1].sequence
                yield place, records
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _into(self, arrived: "asyncio.Queue[_Arrived]", place: _Place) -> None:
        """Put what arrives in one segment into a queue, and at last that it has ended."""
        # A copy: what waits in the queue was not handed on yet.
        own, error = _Place(place.segment, place.position), None
        try:
            async with aclosing(self._one(own)) as following:
                async for records in following:
                    await arrived.put((place, records, None))
        except StreamsError as raised:
            error = raised
        await arrived.put((place, (), error))

    async def _one(self, place: _Place) -> AsyncGenerator[Records, None]:
        # The worker follows sixteen partitions by small pages; each of them must not
        # buffer a thousand records.
        asked = min(ASKED_AT_ONCE, _ASKED_PAGES * self._wanted.limit)
        async with Consumer(
            self._client,
            self._wanted.subjects,
            place.position,
            asked,
            stream=place.segment.stream,
            is_over=lambda: self._registry.version != self._version,
        ) as consumer:
            while records := await consumer.take(self._wanted.limit):
                place.position = records[-1].sequence
                yield records
