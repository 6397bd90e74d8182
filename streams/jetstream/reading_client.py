"""A connection that can only read, and what a reader of the log sends."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nats.aio.msg import Msg

from streams.errors import LogRefused
from streams.jetstream.hardened_client import BrokerClient, Framed

READERS = "read-"
"""How the names of short-lived consumers begin. Durable ones, whose messages are handed out
once, have other names."""

_READING = (
    "$JS.API.DIRECT.GET.",
    "$JS.API.STREAM.INFO.",
    "$JS.API.STREAM.MSG.GET.",
    "$JS.API.STREAM.NAMES",
    "$JS.API.CONSUMER.CREATE.",
    "$JS.API.CONSUMER.DELETE.",
    "$JS.FC.",
)
"""The prefixes of the subjects on which a reader of the log and its blobs sends requests."""

_NEXT = re.compile(rf"\$JS\.API\.CONSUMER\.MSG\.NEXT\.LOG(_\d+)?\.{READERS}")
"""How a request of a short-lived consumer's begins, of any segment of the log."""


class ReadingClient(BrokerClient):
    """A client that can only read: anything but a read request is refused before it is sent.

    A replay is given one, so that no code it runs can write.
    """

    async def ask(self, messages: Sequence[Framed], timeout_s: float) -> Msg:
        """Refuse: only writers send what they made ready."""
        raise LogRefused(
            f"this connection reads, and does not send {messages[-1][0]!r}"
        )

    async def _send_publish(
        self,
        subject: str,
        reply: str,
        payload: bytes,
        payload_size: int,
        headers: Mapping[str, Any] | None,
    ) -> None:
        # A read is a request as well; the stream or message follows the prefix.
        if not (subject.startswith(_READING) or _NEXT.match(subject)):
            raise LogRefused(f"this connection reads and sends nothing to {subject!r}")
        await super()._send_publish(subject, reply, payload, payload_size, headers)
