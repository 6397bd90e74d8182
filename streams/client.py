"""The client library, where it would end at what a sensor may send, or take too long.

It overrides the library's inner methods, so its tests compare the two: an update of the
library that moves them shows there.
"""

import logging
import re
from collections.abc import Mapping
from typing import Any

from nats.aio.client import Client
from nats.protocol import parser

from streams.errors import LogRefused
from streams.headers import block_of, parse_headers

READING = (
    "$JS.API.DIRECT.GET.",
    "$JS.API.STREAM.INFO.",
    "$JS.API.STREAM.MSG.GET.",
    "$JS.API.STREAM.NAMES",
    "$JS.API.CONSUMER.CREATE.",
    "$JS.API.CONSUMER.DELETE.",
    "$JS.FC.",
)
"""How the subjects begin by which a log and its blobs are read."""

_log = logging.getLogger(__name__)

# The library's own take a form feed or vertical tab in a subject for a blank, and end the
# connection at a line that they then cannot read. The server writes single spaces.
parser.MSG_RE = re.compile(rb"\AMSG ([^ \r\n]+) ([^ ]+) (([^ \r\n]+) )?(\d+)\r\n")
parser.HMSG_RE = re.compile(
    rb"\AHMSG ([^ \r\n]+) ([^ ]+) (([^ \r\n]+) )?(\d+) (\d+)\r\n"
)


class BrokerClient(Client):
    """A client that no subject can kill, and that handles headers in half the time."""

    _reported = ""

    async def close(self) -> None:
        """Close; with the broker away, what was never sent is dropped."""
        if not self.is_connected:
            self._pending, self._pending_data_size = [], 0
        await super().close()

    async def _process_connect_init(self) -> None:
        """Greet the server; where nobody answers, the library forgets to hang up."""
        try:
            await super()._process_connect_init()
        except BaseException:
            if self._transport is not None:
                self._transport.close()  # type: ignore[no-untyped-call]  # has no types
            raise

    async def report(self, error: Exception) -> None:
        """Log an error, once as long as the same comes again."""
        if repr(error) != self._reported:
            self._reported = repr(error)
            _log.warning("connection to the broker: %r", error)

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        return parse_headers(raw)

    def _build_message(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: Any
    ) -> Any:
        # The library ends its connection at a subject that is not UTF-8.
        readable = subject.decode(errors="replace").encode()
        return super()._build_message(sid, readable, reply, data, headers)

    async def _send_publish(
        self,
        subject: str,
        reply: str,
        payload: bytes,
        payload_size: int,
        headers: Mapping[str, Any] | None,
    ) -> None:
        block = block_of(headers) if headers and subject else None
        if block is None:
            given = None if headers is None else dict(headers)
            await super()._send_publish(subject, reply, payload, payload_size, given)
            return
        sizes = f"{len(block)} {len(block) + len(payload)}"
        line = f"HPUB {subject} {reply} {sizes}\r\n".encode()
        self.stats["out_msgs"] += 1
        self.stats["out_bytes"] += payload_size
        await self._send_command(b"".join((line, block, payload, b"\r\n")))
        if self._flush_queue is not None and self._flush_queue.empty():
            await self._flush_pending()


class ReadingClient(BrokerClient):
    """A client that can only read, whoever gets hold of it."""

    async def _send_publish(
        self,
        subject: str,
        reply: str,
        payload: bytes,
        payload_size: int,
        headers: Mapping[str, Any] | None,
    ) -> None:
        # Reading is asking, too; what follows the verb is what it is asked about.
        if not subject.startswith(READING):
            raise LogRefused(f"this connection reads and sends nothing to {subject!r}")
        await super()._send_publish(subject, reply, payload, payload_size, headers)
