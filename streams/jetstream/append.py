"""Writing the log: our own inputs, and whole groups of outputs behind a fence.

A lost acknowledgement is never taken for a failed write. The write is sent again behind
the same fence (optimistic concurrency by expected last sequence), and a read-back from the
stream's leader tells whether the stored messages are ours or another writer's.
"""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from uuid import uuid4

from schemas.values.record import Wire
from schemas.values.subjects import outputs_of
from streams.errors import Fenced, LogRefused, LogUnavailable
from streams.headers import BARE_BLOCK, block_of
from streams.jetstream.connection import (
    ATTEMPT_S,
    ApiError,
    answer,
    attempts,
    request,
    translated,
)
from streams.jetstream.hardened_client import BrokerClient, Framed
from streams.jetstream.read import blob_of, led_page, stored
from streams.jetstream.registry import Registry
from streams.log import GroupWrite, Records, check_input, check_writes, same_messages
from streams.segments import ALONE, Segment, Segments
from streams.topology import BLOB_BUCKET

_HEADER_BYTES = 65_535
"""The most bytes of headers that the server stores: it keeps their length in 16 bits."""

_MAY_SUCCEED = {10071, 10164, 10176, 10210}
"""Error codes of a refusal after which the same write may be accepted: a stale fence
(10071, 10164; the read-back decides), a batch that lost messages on the way (10176), too
many open batches (10210)."""


class JetStreamWriter:
    """A `WritableLog` over a connection."""

    def __init__(self, client: BrokerClient) -> None:
        """Use a connection, which the caller closes."""
        self._client = client
        self._registry = Registry(client)
        self._begun: set[tuple[str, int]] = set()
        """Segments and partitions of which the end of the segment before was looked at."""

    async def append(self, wire: Wire, message_id: str) -> int:
        """Publish until acknowledged, and return the sequence."""
        check_input(wire)
        # A closed intake drops a repeat within 0.1 s; any other is stored, and refused by the
        # state that folds the log (ADR 0006).
        headers = {**wire.headers, "Nats-Msg-Id": message_id}
        self._block(wire, headers)
        async for last in attempts():
            try:
                message = await request(self._client, wire.subject, wire.body, headers)
                return int(answer(wire.subject, message)["seq"])
            except LogUnavailable:
                if last:
                    raise
        raise AssertionError("unreachable")

    async def commit(self, writes: Sequence[GroupWrite]) -> dict[int, int]:
        """Write the groups behind the fences of their partitions, all of a stream at once.

        Each round sends, and on any doubt reads back; only a read-back that finds nothing
        stored leads to another round.
        """
        check_writes(writes)
        segments = self._registry.known or await self._registry.current()
        by_stream: dict[str, list[GroupWrite]] = {}
        for write in writes:
            segment = segments.open_of(write.partition)
            # Behind a fence of the segment itself nothing more is to be looked at.
            if write.expected_last_output_sequence < segment.first > 1:
                await self._check_end(segment, write)
            by_stream.setdefault(segment.stream, []).append(write)
        if len(by_stream) == 1:
            return await self._commit(segments, writes)
        made = await asyncio.gather(
            *(self._commit(segments, each) for each in by_stream.values()),
            return_exceptions=True,
        )
        # Raised once all are over: none may still be under way when the state is folded.
        ends: dict[int, int] = {}
        for each in made:
            if isinstance(each, BaseException):
                raise each
            ends |= each
        return ends

    async def _commit(
        self, segments: Segments, writes: Sequence[GroupWrite]
    ) -> dict[int, int]:
        """Write the groups of one stream, all or none."""
        messages = [
            (wire.subject, self._block(wire, wire.headers) or BARE_BLOCK, wire.body)
            for wire in _fenced(writes, segments)
        ]
        async for last in attempts():
            try:
                return _ends(writes, await self._send(messages))
            except (LogUnavailable, ApiError) as error:
                refusal = error
            # A timeout, or a fence made stale by our own earlier attempt, may hide a
            # success, so the log itself is asked before anything is concluded.
            if (ends := await self._read_back(writes)) is not None:
                return ends
            # Nothing is stored: the fence makes it safe to send the same again.
            if last or not _may_succeed(refusal):
                raise refusal
            if await self._registry.current() != segments:
                # Closed meanwhile: the fence was for a stream that takes no more.
                raise Fenced(
                    writes[0].partition, writes[0].expected_last_output_sequence
                )
        raise AssertionError("unreachable")

    async def _check_end(self, segment: Segment, write: GroupWrite) -> None:
        """Check that a fence is the end of the segments before, once for each partition.

        The broker cannot: in the new stream every such fence is 0.

        Raises:
            Fenced: the partition ended elsewhere.
        """
        place = segment.stream, write.partition
        if place in self._begun:
            return
        segments = await self._registry.current()
        end = 0
        for before in reversed(segments.chain(write.partition)):
            if before.last is None:
                continue
            if before.state == "deleted":
                end = write.expected_last_output_sequence
            else:
                wanted = {"last_by_subj": outputs_of(write.partition)}
                found = await stored(self._client, wanted, before.stream)
                end = found.sequence if found is not None else 0
            if end:
                break
        if end != write.expected_last_output_sequence:
            raise Fenced(write.partition, write.expected_last_output_sequence)
        self._begun.add(place)

    async def put_blob(self, data: bytes) -> str:
        """Store bytes in the object store under their sha256, and return it as hex."""
        digest = hashlib.sha256(data).hexdigest()
        # Equal content has an equal name: what is there, and whole, is not sent again.
        if await blob_of(self._client, digest) is None:
            with translated(f"to the blob {digest!r}"):
                store = await self._client.jetstream().object_store(BLOB_BUCKET)
                await store.put(digest, data)
        return digest

    async def _send(self, messages: Sequence[Framed]) -> int:
        """Publish the messages, several as one atomic batch; return the last one's sequence."""
        # A batch costs the server several synced files, a plain message one write, and a
        # single message is atomic without it. Only the closing message is acknowledged; a
        # gap before it makes the server refuse the whole batch.
        batch = messages if len(messages) == 1 else _batched(messages, uuid4().hex)
        subject = messages[-1][0]
        with translated(repr(subject)):
            message = await self._client.ask(batch, ATTEMPT_S)
        return int(answer(subject, message)["seq"])

    async def _read_back(self, writes: Sequence[GroupWrite]) -> dict[int, int] | None:
        """Return each partition's last output if our messages are stored, None if not.

        Raises:
            Fenced: another writer's messages follow the fence, or more than ours.
        """
        ends = {}
        for write in writes:
            found = await self._after(write)
            # Compared by content: another worker that folded the same state from the same
            # log writes the same bytes, and then it does not matter whose they are.
            if found and not same_messages(found, write.messages):
                raise Fenced(write.partition, write.expected_last_output_sequence)
            if found:
                ends[write.partition] = found[-1].sequence
        return ends if len(ends) == len(writes) else None

    async def _after(self, write: GroupWrite) -> Records:
        """Return what the leader holds behind the fence, at most one more than was written.

        One more is enough to know that somebody else wrote behind our messages.
        """
        segments = await self._registry.current()
        return await led_page(
            self._client,
            segments.open_of(write.partition).stream,
            outputs_of(write.partition),
            write.expected_last_output_sequence,
            len(write.messages) + 1,
        )

    def _block(self, wire: Wire, headers: Mapping[str, str]) -> bytes:
        """Return the headers as bytes, if the server will not close the connection for them.

        Raises:
            LogRefused: a blank subject, headers of several lines, or too many bytes.
        """
        block = block_of(headers)
        # A blank in the subject would begin another word of the protocol's line.
        if block is None or wire.subject.split() != [wire.subject]:
            raise LogRefused(
                f"{wire.subject!r} has a blank, or headers of more than a line: {headers}"
            )
        size = len(block)
        if size > _HEADER_BYTES - _HEADER_ROOM or (
            size + len(wire.body) > self._client.max_payload - _HEADER_ROOM
        ):
            raise LogRefused(
                f"{wire.subject!r}: {size} bytes of headers and {len(wire.body)} of body"
                f" are too many, the broker takes {self._client.max_payload} together:"
                " put what is large into a blob and name its digest"
            )
        return block


_HEADER_ROOM = 512
"""Bytes left free in each message for the headers of fence and batch."""


def _fenced(writes: Sequence[GroupWrite], segments: Segments = ALONE) -> list[Wire]:
    """Return all messages in order; the first of each partition carries its fence."""
    # One fence for each partition is enough: a batch is stored whole or not at all.
    messages: list[Wire] = []
    for write in writes:
        first, *rest = write.messages
        segment = segments.open_of(write.partition)
        expected = write.expected_last_output_sequence
        fence = {
            "Nats-Expected-Last-Subject-Sequence": str(
                expected if expected >= segment.first else 0
            ),
            "Nats-Expected-Last-Subject-Sequence-Subject": outputs_of(write.partition),
        }
        if expected < segment.first:
            # A fence of 0 would fit any stream in which the partition has no output yet.
            fence["Nats-Expected-Stream"] = segment.stream
        messages.append(Wire(first.subject, {**first.headers, **fence}, first.body))
        messages.extend(rest)
    return messages


def _batched(messages: Sequence[Framed], batch: str) -> list[Framed]:
    """Return the messages as an atomic batch, with the headers that make them one."""
    last = len(messages)
    return [
        (
            subject,
            b"%bNats-Batch-Id: %b\r\nNats-Batch-Sequence: %d\r\n%b\r\n"
            # The blank line that ends a block of headers goes behind those of the batch.
            % (block[:-2], batch.encode(), place, _COMMIT if place == last else b""),
            body,
        )
        for place, (subject, block, body) in enumerate(messages, start=1)
    ]


_COMMIT = b"Nats-Batch-Commit: 1\r\n"


def _ends(writes: Sequence[GroupWrite], last: int) -> dict[int, int]:
    """Return each partition's last output sequence, given the last of the whole write."""
    # One acknowledgement gives the last sequence; a batch is stored without gaps, so the
    # others follow by counting back.
    ends: dict[int, int] = {}
    for write in reversed(writes):
        ends[write.partition] = last
        last -= len(write.messages)
    return ends


def _may_succeed(refusal: LogUnavailable | ApiError) -> bool:
    return isinstance(refusal, LogUnavailable) or refusal.code in _MAY_SUCCEED
