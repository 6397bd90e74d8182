"""Writing the log: our own inputs, and whole groups of outputs behind a fence.

An answer that is lost is never taken for a write that failed: the write is sent again
behind the same fence, and what the leader holds decides whose it is.
"""

import hashlib
from collections.abc import Mapping, Sequence
from uuid import uuid4

from nats.js.errors import NotFoundError

from schemas.values.record import Record, Wire
from schemas.values.subjects import outputs_of
from streams.errors import Fenced, LogRefused, LogUnavailable
from streams.headers import block_of
from streams.jetstream.connection import (
    ApiError,
    answer,
    attempts,
    publish,
    request,
    translated,
)
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.read import stored
from streams.log import GroupWrite, check_input, check_writes, same_messages
from streams.topology import BLOB_BUCKET

HEADER_BYTES = 65_535
"""What the server takes as headers of one message."""

_MAY_SUCCEED = {10071, 10164, 10176, 10210}
"""Error codes: a stale fence (then the read-back decides), a batch that lost messages
on the way, too many open batches."""


class JetStreamWriter:
    """A `WritableLog` over a connection."""

    def __init__(self, client: BrokerClient) -> None:
        """Take a connection that stays the caller's."""
        self._client = client

    async def append(self, wire: Wire, message_id: str) -> int:
        """Publish until acknowledged; the broker drops a repeat that comes at once."""
        check_input(wire)
        headers = {**wire.headers, "Nats-Msg-Id": message_id}
        self._check_size(wire, headers)
        async for last in attempts():
            try:
                message = await request(self._client, wire.subject, wire.body, headers)
                return int(answer(wire.subject, message)["seq"])
            except LogUnavailable:
                if last:
                    raise
        raise AssertionError("unreachable")

    async def commit(self, writes: Sequence[GroupWrite]) -> dict[int, int]:
        """Write all groups at once behind the fences of their partitions."""
        check_writes(writes)
        messages = _fenced(writes)
        for wire in messages:
            self._check_size(wire, wire.headers)
        async for last in attempts():
            try:
                return _ends(writes, await self._send(messages))
            except (LogUnavailable, ApiError) as error:
                refusal = error
            if (ends := await self._read_back(writes)) is not None:
                return ends
            # Nothing is stored: the fence makes it safe to send the same again.
            if last or not _may_succeed(refusal):
                raise refusal
        raise AssertionError("unreachable")

    async def put_blob(self, data: bytes) -> str:
        """Store in the object store, under the name of its content."""
        digest = hashlib.sha256(data).hexdigest()
        with translated(f"to the blob {digest!r}"):
            store = await self._client.jetstream().object_store(BLOB_BUCKET)
            try:
                await store.get_info(digest)
            except NotFoundError:
                await store.put(digest, data)
        return digest

    async def _send(self, messages: Sequence[Wire]) -> int:
        """Publish one message, or more as one atomic batch; the last one's sequence."""
        if len(messages) == 1:
            return await self._publish(messages[0], messages[0].headers)
        batch = uuid4().hex
        for place, wire in enumerate(messages[:-1], start=1):
            headers = {**wire.headers, **_batch_headers(batch, place)}
            await publish(self._client, wire.subject, wire.body, headers)
        closing = messages[-1]
        headers = {**closing.headers, **_batch_headers(batch, len(messages))}
        return await self._publish(closing, headers | {"Nats-Batch-Commit": "1"})

    async def _publish(self, wire: Wire, headers: Mapping[str, str]) -> int:
        message = await request(self._client, wire.subject, wire.body, headers)
        return int(answer(wire.subject, message)["seq"])

    async def _read_back(self, writes: Sequence[GroupWrite]) -> dict[int, int] | None:
        """Return where our messages stand if they are stored; None if nothing is.

        Raises:
            Fenced: something else follows, or more than ours.
        """
        ends = {}
        for write in writes:
            found = await self._after(write)
            if found and not same_messages(found, write.messages):
                raise Fenced(write.partition, write.expected_last_output_sequence)
            if found:
                ends[write.partition] = found[-1].sequence
        return ends if len(ends) == len(writes) else None

    async def _after(self, write: GroupWrite) -> list[Record]:
        """Return what the leader holds behind the fence, at most one more than was written."""
        found: list[Record] = []
        position = write.expected_last_output_sequence
        while len(found) <= len(write.messages):
            which = {"seq": position + 1, "next_by_subj": outputs_of(write.partition)}
            record = await stored(self._client, which)
            if record is None:
                break
            found.append(record)
            position = record.sequence
        return found

    def _check_size(self, wire: Wire, headers: Mapping[str, str]) -> None:
        """Refuse here what the server would answer by closing the connection."""
        block = block_of(headers)
        if block is None:
            raise LogRefused(
                f"{wire.subject!r} has headers of more than a line: {headers}"
            )
        size = len(block)
        if size > HEADER_BYTES - _HEADER_ROOM or (
            size + len(wire.body) > self._client.max_payload - _HEADER_ROOM
        ):
            raise LogRefused(
                f"{wire.subject!r}: {size} bytes of headers and {len(wire.body)} of body"
                f" are too many, the broker takes {self._client.max_payload} together:"
                " put what is large into a blob and name its digest"
            )


_HEADER_ROOM = 512
"""For what the fence and the batch add to a message."""


def _fenced(writes: Sequence[GroupWrite]) -> list[Wire]:
    """Return all messages in order; the first of each partition carries its fence."""
    messages: list[Wire] = []
    for write in writes:
        first, *rest = write.messages
        fence = {
            "Nats-Expected-Last-Subject-Sequence": str(
                write.expected_last_output_sequence
            ),
            "Nats-Expected-Last-Subject-Sequence-Subject": outputs_of(write.partition),
        }
        messages.append(Wire(first.subject, {**first.headers, **fence}, first.body))
        messages.extend(rest)
    return messages


def _batch_headers(batch: str, place: int) -> dict[str, str]:
    return {"Nats-Batch-Id": batch, "Nats-Batch-Sequence": str(place)}


def _ends(writes: Sequence[GroupWrite], last: int) -> dict[int, int]:
    """Return each partition's last output, counted back from the last: a batch has no gaps."""
    ends: dict[int, int] = {}
    for write in reversed(writes):
        ends[write.partition] = last
        last -= len(write.messages)
    return ends


def _may_succeed(refusal: LogUnavailable | ApiError) -> bool:
    return isinstance(refusal, LogUnavailable) or refusal.code in _MAY_SUCCEED
