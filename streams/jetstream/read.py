"""Reading the log from JetStream: pages, single records, the live tail, blobs.

It creates no durable consumer and acknowledges nothing: each reader keeps its own
position.
"""

import asyncio
import base64
import hashlib
import json
import re
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from schemas.values.record import Record, nanoseconds
from streams.errors import LogReclaimed, LogUnavailable, StreamsError
from streams.headers import own_headers_of, status_of
from streams.jetstream.connection import ApiError, attempts, insist, translated
from streams.jetstream.ephemeral import ASKED_AT_ONCE, Consumer
from streams.jetstream.follow import Wanted, follow
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.keys import Keyring
from streams.jetstream.majority import is_of_a_cluster
from streams.jetstream.registry import Registry
from streams.log import After, Records
from streams.segments import Segment, partition_in
from streams.topology import BLOB_BUCKET, BLOBS, LOG

_PAGE_BYTES = 8_000_000
"""A page ends at so many bytes even if it holds fewer records than asked for."""

_FIRST = 100
"""How many records are read directly before a consumer goes on: making one costs as much as
a page of so many, and it then serves a record at a third."""

_PASSES = 16
"""How many filters are read ahead at once; each holds a page. Others are read directly."""

_SILENCE_S = 2.0
"""Seconds without a message after which the rest of a page is taken for lost."""

_NO_MESSAGE = 10037
"""Error code of the server for a sequence or subject without a message."""

_SERVERS = b"\r\nNats-Stream: "
_PLACE = re.compile(
    rb"\r\nNats-Stream: [^\r]*\r\nNats-Subject: ([^\r]*)\r\nNats-Sequence: (\d+)"
    rb"\r\nNats-Time-Stamp: ([^\r]*)\r\n(?:.*\r\n)?Nats-Last-Sequence: (\d+)\r\n",
    re.DOTALL,
)
"""The headers that the server adds to a message of a batched direct get, in its order."""


class JetStreamReader:
    """A `ReadableLog` over a connection."""

    def __init__(self, client: BrokerClient, epoch: UUID) -> None:
        """Use a connection, which the caller closes, and the epoch of its log."""
        self._client = client
        self._epoch = epoch
        self._ahead = _Ahead(client)
        self._registry = Registry(client)

    @property
    def keyring(self) -> Keyring | None:
        """The keys of a sealed log; None: its messages are in clear."""
        return None

    @property
    def epoch(self) -> UUID:
        """Drawn when the log was made."""
        return self._epoch

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """Return up to `limit` records; those that go on from a full page are read ahead.

        Any replica may serve it, so a page may lack the newest records; it never has gaps,
        and is empty only if the leader has nothing more.
        Over several partitions it goes by sequence, so through one segment after the other.

        Raises:
            LogReclaimed: the records are in an archive alone.
            LogUnavailable: no whole page came within the deadline.
        """
        segments = self._registry.known or await self._registry.current()
        for segment in segments.chain(partition_in(subjects)):
            begin = segments.begin(segment, (after,))
            if begin is None:
                continue
            if records := await self.page_of(segment, subjects, begin, limit):
                return records
        return ()

    async def page_of(
        self, segment: Segment, subjects: str, after: int, limit: int
    ) -> Records:
        """Return a page of one segment; none only at its end."""
        if segment.state == "deleted":
            raise LogReclaimed(segment.stream, segment.last or 0)
        records = await self._page_of(segment.stream, subjects, after, limit)
        # The rest of the chain must not be read before this one has been read out.
        if records or (segment.last is None and not is_of_a_cluster(self._client)):
            return records
        # A replica that was cut off may lag for minutes, and whoever is connected to its
        # node is answered by it alone.
        limit = min(limit, _FIRST)
        return await led_page(self._client, segment.stream, subjects, after, limit)

    async def _page_of(
        self, stream: str, subjects: str, after: int, limit: int
    ) -> Records:
        # Who asks for less than a whole page seldom asks for the next.
        if limit != ASKED_AT_ONCE:
            return await self._direct(stream, subjects, after, limit)
        records = await self._ahead.page(stream, subjects, after)
        if records is None:
            records = await self._direct(stream, subjects, after, _FIRST)
            if len(records) == _FIRST:
                await self._ahead.begin(stream, subjects, records[-1].sequence)
        return records

    async def _direct(
        self, stream: str, subjects: str, after: int, limit: int
    ) -> Records:
        """Return up to `limit` records from one request, repeated if an answer was lost."""
        async for last in attempts():
            # Reading again is harmless; the loop ends with an error of its own that names
            # what was asked.
            with suppress(LogUnavailable), translated(repr(subjects)):
                records = await _Page(self._client, stream).read(subjects, after, limit)
                if records is not None:
                    return records
            if last or self._client.is_closed:
                break
        raise LogUnavailable(
            f"no page of {subjects!r} after {after}: is the broker away?"
        )

    def follow(
        self, subjects: str, after: After, limit: int
    ) -> AsyncGenerator[Records, None]:
        """Yield what is there and then what arrives, over the ends of segments."""
        return follow(
            self, self._client, self._registry, Wanted(subjects, limit), after
        )

    async def any_page_of(
        self, segment: Segment, subjects: str, after: int, limit: int
    ) -> Records:
        """Return what one request brings; nothing if its answer was lost."""
        with suppress(LogUnavailable), translated(repr(subjects)):
            page = _Page(self._client, segment.stream)
            return await page.read(subjects, after, limit) or ()
        return ()

    async def last_sequence(self, subjects: str) -> int:
        """Return the leader's last matching sequence, 0 for none."""
        segments = self._registry.known or await self._registry.current()
        for segment in reversed(segments.chain(partition_in(subjects))):
            if segment.state == "deleted":
                continue
            if last := await self._last_of(segment, subjects):
                return last
        return 0

    async def ends(self, subjects: str) -> tuple[int, ...]:
        """Return the last matching sequence of each open segment."""
        segments = self._registry.known or await self._registry.current()
        partition = partition_in(subjects)
        growing = [each for each in segments.open if each.has(partition)]
        lasts = await asyncio.gather(
            *(self._last_of(each, subjects) for each in growing)
        )
        # One without a message stands where it begins.
        return tuple(
            last or each.first - 1 for each, last in zip(growing, lasts, strict=True)
        )

    async def _last_of(self, segment: Segment, subjects: str) -> int:
        wanted = {"last_by_subj": subjects}
        found = await stored(self._client, wanted, segment.stream)
        return found.sequence if found is not None else 0

    async def record(self, sequence: int) -> Record | None:
        """Return one record from the leader, None if there is none."""
        segments = self._registry.known or await self._registry.current()
        segment = segments.holding(sequence)
        if segment is None:
            return None
        if segment.state == "deleted":
            raise LogReclaimed(segment.stream, segment.last or 0)
        return await stored(self._client, {"seq": sequence}, segment.stream)

    async def blob(self, digest: str) -> bytes | None:
        """Return the bytes of this sha256 (hex); None if they are not there, or not whole."""
        return await blob_of(self._client, digest)


async def stored(
    client: BrokerClient, which: dict[str, Any], stream: str = LOG.name
) -> Record | None:
    """Return one message as the stream's leader has it, so never behind a write.

    `which` is the body of the API's `STREAM.MSG.GET`: by sequence, last or next of a subject.
    """
    try:
        found = await insist(client, f"$JS.API.STREAM.MSG.GET.{stream}", which)
    except ApiError as error:
        if error.code == _NO_MESSAGE:
            return None
        raise
    message = found["message"]
    return Record(
        subject=message["subject"],
        headers=own_headers_of(base64.b64decode(message.get("hdrs", ""))),
        body=base64.b64decode(message.get("data", "")),
        sequence=message["seq"],
        time_ns=_time_ns(message["time"]),
    )


async def blob_of(client: BrokerClient, digest: str) -> bytes | None:
    """Return the bytes of this sha256 (hex); None if they are not there, or not whole."""
    name = base64.urlsafe_b64encode(digest.encode()).decode()
    wanted = {"last_by_subj": f"$O.{BLOB_BUCKET}.M.{name}"}
    found = await stored(client, wanted, BLOBS.name)
    if found is None:
        return None
    # The library would wait for ever for a piece that the broker cannot hand out.
    info = json.loads(found.body)
    pieces = f"$O.{BLOB_BUCKET}.C.{info['nuid']}"
    records = await led_page(client, BLOBS.name, pieces, 0, info["chunks"])
    body = b"".join(each.body for each in records)
    return body if hashlib.sha256(body).hexdigest() == digest else None


async def led_page(
    client: BrokerClient, stream: str, subjects: str, after: int, limit: int
) -> Records:
    """Return up to `limit` records after a sequence, one by one as the leader has them.

    A page of one request may come from a replica that lags, which would read as "nothing
    stored".
    """
    found: list[Record] = []
    while len(found) < limit:
        wanted = {"seq": after + 1, "next_by_subj": subjects}
        record = await stored(client, wanted, stream)
        if record is None:
            break
        found.append(record)
        after = record.sequence
    return tuple(found)


class _Ahead:
    """Consumers that send the next page while the one before is worked on, by filter."""

    def __init__(self, client: BrokerClient) -> None:
        self._client = client
        self._running: dict[tuple[str, str], Consumer] = {}
        """By stream and filter."""

    async def begin(self, stream: str, subjects: str, after: int) -> None:
        """Ask for the page behind a sequence, unless too many are asked for already."""
        idle = [each for each in self._running if self._running[each].is_idle]
        for each in idle:
            await self._running.pop(each).close()
        place = stream, subjects
        if len(self._running) >= _PASSES or place in self._running:
            return
        consumer = Consumer(self._client, subjects, after, stream=stream)
        # Without it the next page is read directly, which raises if the broker is away.
        with suppress(StreamsError):
            await consumer.open()
            # Kept even if asking fails: `page` then finds it lost, and closes it.
            self._running[place] = consumer
            await consumer.ask(is_waiting=False)

    async def page(self, stream: str, subjects: str, after: int) -> Records | None:
        """Return the page behind a sequence; None if it was not asked for, or was lost."""
        # Taken out meanwhile, for a second reader of the filter must not get a part of it.
        place = stream, subjects
        consumer, records = self._running.pop(place, None), None
        if consumer is None:
            return None
        try:
            if consumer.position == after:
                with suppress(StreamsError):
                    records = await consumer.rest(ASKED_AT_ONCE)
        finally:
            if records is None or consumer.is_at_end:
                await consumer.close()
            else:
                self._running[place] = consumer
        return records


class _Page:
    """One request for many messages, and the messages as they come."""

    def __init__(self, client: BrokerClient, stream: str) -> None:
        self._client = client
        self._stream = stream
        self._records: list[Record] = []
        self._before = 0
        # True for a whole page, False for one that lost messages or was refused.
        self._done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def read(self, subjects: str, after: int, limit: int) -> Records | None:
        """Return the records, or None if an answer was lost on the way."""
        inbox = self._client.new_inbox()
        subscription = await self._client.receive(inbox, self._take)
        wanted = {
            "seq": after + 1,
            "batch": limit,
            "max_bytes": _PAGE_BYTES,
            "next_by_subj": subjects,
        }
        try:
            await self._client.publish(
                f"$JS.API.DIRECT.GET.{self._stream}",
                json.dumps(wanted).encode(),
                reply=inbox,
            )
            whole = await self._wait()
        finally:
            await subscription.unsubscribe()
        return tuple(self._records) if whole else None

    async def _wait(self) -> bool:
        """Wait for the end; False once `_SILENCE_S` passes without a further message."""
        while True:
            seen = len(self._records)
            done, _ = await asyncio.wait({self._done}, timeout=_SILENCE_S)
            if done:
                return self._done.result()
            if len(self._records) == seen:
                return False

    def _take(self, _: bytes, __: bytes, block: bytes, body: bytes) -> None:
        # The server adds its own headers last, so the last match is its own, whatever a
        # sensor put into the headers before.
        own = block.rfind(_SERVERS)
        place = _PLACE.match(block, own) if own >= 0 else None
        if place is not None:
            self._keep(place, block[:own], body)
        elif not self._done.done():
            # 204 ends a page and 404 an empty one; all else is worth another try.
            self._done.set_result(status_of(block)[0] in ("204", "404"))

    def _keep(self, place: re.Match[bytes], own: bytes, body: bytes) -> None:
        subject, sequence, time, before = place.groups()
        # Each message names the sequence sent before it: a mismatch is a message that was
        # dropped on the way, and the page must not be handed on with a gap.
        if self._records and int(before) != self._before:
            self._lose()
            return
        self._before = int(sequence)
        self._records.append(
            Record(
                subject=subject.decode(errors="replace"),
                headers=own_headers_of(own),
                body=body,
                sequence=self._before,
                time_ns=_time_ns(time.decode()),
            )
        )

    def _lose(self) -> None:
        if not self._done.done():
            self._done.set_result(False)


def _time_ns(text: str) -> int:
    """Return the nanoseconds since 1970 of the server's RFC 3339, in UTC.

    Its fraction has 0 to 9 digits, which is more than `datetime` keeps.
    """
    return _whole_ns(text[:19]) + int(text[20:-1].ljust(9, "0"))


@lru_cache(maxsize=64)
def _whole_ns(seconds: str) -> int:
    """Return the nanoseconds since 1970 of a whole second.

    Cached since many messages share a second and parsing one costs more than the rest; a
    page seldom spans more than the 64 that are kept.
    """
    return nanoseconds(datetime.fromisoformat(seconds + "+00:00"))
