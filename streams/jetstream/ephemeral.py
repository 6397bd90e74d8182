"""Short-lived pull consumers on the server: records in order, from behind a sequence.

A message costs the server a quarter of what it costs in a batched direct get. One request
runs at a time, so that the buffer here stays bounded. A gap, a silence, a reconnect or a
copy of the stream that lags ends the consumer, and whoever made it goes on behind the last
record that was handed on. The client library's own ordered consumer loses messages when its
queue is full (ADR 0007).
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

import nats.errors
from nats.aio.subscription import Subscription

from schemas.values.record import Record
from streams.errors import LogUnavailable, StreamsError
from streams.headers import own_headers_of, status_of
from streams.jetstream.connection import answer, call, translated
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.reading_client import READERS
from streams.log import Records
from streams.topology import LOG, NANOSECONDS

ASKED_AT_ONCE = 1000
"""How many messages one request asks for; the buffer never holds twice as many."""

_ASKED_BYTES = 8_000_000
"""How many bytes `ASKED_AT_ONCE` messages may have; fewer messages get their share."""

_ASKED_FOR_S = 30
"""Seconds after which the server ends a request that is not filled."""

_HEARTBEAT_S = 0.5
"""Seconds of idleness after which the server sends a heartbeat."""

_SILENCE_S = 2.0
"""Seconds without a message or heartbeat, four missed ones, that mean a lost consumer."""

_COMPARED_S = 1.0
"""Seconds between two looks whether its copy of the stream lags, while nothing arrives."""

_REMOVED_AFTER_S = 2 * _ASKED_FOR_S
"""Seconds without a request after which the server removes a consumer; more than a request
may stay unanswered."""


class Consumer:
    """One consumer of the server, from its creation to the first sign that it is lost.

    The parser calls `_hear` on the event loop that runs `take`, so no lock is needed.
    """

    def __init__(
        self,
        client: BrokerClient,
        subjects: str,
        after: int,
        asked: int = ASKED_AT_ONCE,
        *,
        stream: str = LOG.name,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Read a stream of the log; the consumer counts as lost once `is_over` says so.

        It is asked while nothing arrives.
        """
        self._client = client
        self._stream = stream
        self._is_over = is_over
        self._subjects = subjects
        self._after = after
        self._asked = asked
        self._inbox = client.new_inbox()
        self._name = READERS + self._inbox.rpartition(".")[2]
        self._subscription: Subscription | None = None
        self._reconnects = client.stats["reconnects"]
        self._arrived = asyncio.Event()
        self._buffer: deque[Record] = deque()
        self._owed = 0
        """How many messages of the running request may still come."""
        self.is_at_end = False
        """Whether the last request found no more messages."""
        self._delivered = 0
        self._lost = False
        self._heard_at = 0.0
        self._is_of_cluster = False
        self._compared_at = 0.0
        self._leader_has = 0
        """The last sequence that the stream's leader told it has of these subjects."""

    @property
    def position(self) -> int:
        """The sequence of the last record handed on."""
        return self._after

    @property
    def is_idle(self) -> bool:
        """Whether it was not heard of for so long that the server has removed it."""
        return _now() - self._heard_at > _REMOVED_AFTER_S

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Create it on the server.

        Raises:
            LogRefused: the stream does not exist, or may not be read.
            LogUnavailable: the broker does not answer.
        """
        create = f"$JS.API.CONSUMER.CREATE.{self._stream}.{self._name}"
        # Subscribe first: an answer to the first request must find somebody listening.
        with translated(repr(create)):
            self._subscription = await self._client.receive(self._inbox, self._hear)
        try:
            made = await call(self._client, create, self._configuration())
        except BaseException:
            # `__aexit__` is not called if entering fails, a cancellation included.
            await self.close()
            raise
        self._is_of_cluster = bool(made.get("cluster"))
        self._heard_at = _now()

    async def close(self) -> None:
        """End the consumer, here and on the server."""
        # Nobody waits for an answer: a consumer that is left behind ends by itself.
        with suppress(nats.errors.Error, OSError):
            if self._subscription is not None:
                await self._subscription.unsubscribe()
            if self._client.is_connected:
                subject = f"$JS.API.CONSUMER.DELETE.{self._stream}.{self._name}"
                await self._client.publish(subject)

    async def take(self, limit: int) -> Records:
        """Wait for records and return at most `limit`; none once this consumer is lost."""
        while not self._buffer:
            if self._lost:
                return ()
            await self.ask()
            self._arrived.clear()
            await self._wait()
            if self._is_of_cluster and not self._buffer:
                await self._compare()
        records = self._handed_on(limit)
        # Ask for more before the buffer runs dry, so that reading and sending overlap.
        if len(self._buffer) < self._asked:
            await self.ask()
        return records

    async def rest(self, limit: int) -> Records | None:
        """Return the next `limit` records, or what is stored; None once it is lost."""
        await self.ask(is_waiting=False)
        self._heard_at = _now()
        while self._owed > 0 and not self._lost:
            self._arrived.clear()
            await self._wait()
        # A request also ends when it has reached its bytes.
        if self._lost or not (self._buffer or self.is_at_end):
            return None
        records = self._handed_on(limit)
        # The server sends the next page while the caller works on this one.
        if not self.is_at_end:
            await self.ask(is_waiting=False)
        return records

    def _handed_on(self, limit: int) -> Records:
        count = min(limit, len(self._buffer))
        records = tuple([self._buffer.popleft() for _ in range(count)])
        if records:
            self._after = records[-1].sequence
        return records

    async def ask(self, *, is_waiting: bool = True) -> None:
        """Ask for messages, unless some are still to come; wait for new ones or for none.

        One request runs at a time; more would let the buffer grow without bound.
        """
        if self._owed > 0 or self._lost or (self._buffer and not is_waiting):
            return
        self._owed = self._asked
        self._heard_at = _now()
        wanted: dict[str, Any] = {
            "batch": self._asked,
            "max_bytes": _ASKED_BYTES * self._asked // ASKED_AT_ONCE,
        }
        if is_waiting:
            wanted["expires"] = _ASKED_FOR_S * NANOSECONDS
            wanted["idle_heartbeat"] = int(_HEARTBEAT_S * NANOSECONDS)
        else:
            wanted["no_wait"] = True
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._name}"
        with translated(repr(subject)):
            await self._client.publish(
                subject, json.dumps(wanted).encode(), reply=self._inbox
            )

    async def _wait(self) -> None:
        try:
            # Not wait_for, which before Python 3.12 may swallow a cancellation.
            async with asyncio.timeout(_HEARTBEAT_S):
                await self._arrived.wait()
        except TimeoutError:
            # A reconnect drops what was on its way, so the consumer counts as lost even if
            # the server still has it.
            silent = _now() - self._heard_at > _SILENCE_S or self._is_over()
            if silent or self._client.stats["reconnects"] != self._reconnects:
                self._lost = True
            if self._client.is_closed:
                raise LogUnavailable(
                    "the connection was closed while the log was being followed"
                ) from None

    async def _compare(self) -> None:
        """Count as lost if its node's copy of the stream lags behind the leader's.

        A node that was cut off may lag for minutes, and sends heartbeats all the while.
        """
        if _now() - self._compared_at < _COMPARED_S:
            return
        # It had time enough to come from there.
        self._lost = self._lost or self._leader_has > self._after
        subject = f"$JS.API.STREAM.MSG.GET.{self._stream}"
        wanted = json.dumps({"last_by_subj": self._subjects}).encode()
        with suppress(StreamsError, nats.errors.Error, OSError):
            message = await self._client.request(subject, wanted, _HEARTBEAT_S)
            self._leader_has = answer(subject, message)["message"]["seq"]
        self._compared_at = _now()

    def _hear(self, subject: bytes, reply: bytes, block: bytes, body: bytes) -> None:
        self._heard_at = _now()
        # Only the server can send from here: a header that looks like a status cannot.
        if reply.startswith(b"$JS.ACK."):
            self._keep(subject, reply.split(b"."), block, body)
        else:
            self._heed(*status_of(block))
        if self._buffer or self._lost or self._owed == 0:
            self._arrived.set()

    def _keep(
        self, subject: bytes, place: list[bytes], block: bytes, body: bytes
    ) -> None:
        # The reply subject is $JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>
        # .<consumer sequence>.<time ns>.<pending>. Consumer sequences have no gaps, while
        # those of a filtered stream do: only the former tell that a message was dropped.
        if self._lost or int(place[6]) != self._delivered + 1:
            self._lost = True
            return
        self._delivered += 1
        self._owed -= 1
        self._buffer.append(self._record(subject, place, block, body))

    def _record(
        self, subject: bytes, place: list[bytes], block: bytes, body: bytes
    ) -> Record:
        return Record(
            # A subject that is not UTF-8 is kept readable, and quarantined by the mind.
            subject=subject.decode(errors="replace"),
            headers=own_headers_of(block),
            body=body,
            sequence=int(place[5]),
            time_ns=int(place[7]),
        )

    def _heed(self, status: str, about: str) -> None:
        """Handle a status: a heartbeat, the end of a request, or the end of the consumer."""
        if status == "100":
            return
        # 404 and 408: nothing there, or the time is up; 409 with MaxBytes or Completed: as
        # much as was asked for. Any other 409 means the consumer is gone.
        if status in ("404", "408") or "MaxBytes" in about or "Completed" in about:
            self._owed = 0
            self.is_at_end = status in ("404", "408")
        else:
            self._lost = True

    def _configuration(self) -> dict[str, Any]:
        return {
            "stream_name": self._stream,
            "config": {
                "name": self._name,
                "deliver_policy": "by_start_sequence",
                "opt_start_seq": self._after + 1,
                "filter_subject": self._subjects,
                "ack_policy": "none",
                "max_deliver": 1,
                # Nothing of it need survive the server: the position is kept here.
                "mem_storage": True,
                "num_replicas": 1,
                # It ends by itself if this process dies.
                "inactive_threshold": _REMOVED_AFTER_S * NANOSECONDS,
            },
        }


def _now() -> float:
    return asyncio.get_running_loop().time()
