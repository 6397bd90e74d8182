"""A client of the broker that checks nothing: any bytes as subject, headers and body.

Many messages go over one connection before the first is acknowledged. A broker that takes
offence closes it, and the next messages go over another.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from uuid import uuid4

from streams.jetstream.accounts import Credentials

_PATIENCE_S = 30.0
_IDLE_S = 1.0
"""So long no further acknowledgement comes before the rest counts as not acknowledged."""


@dataclass(slots=True)
class Told:
    """What became of what was sent."""

    sent: int = 0
    kept: set[tuple[str, int]] = field(default_factory=set)
    """What was acknowledged, by stream and sequence."""
    repeats: int = 0
    """What was acknowledged as a repeat of something kept."""
    refused: int = 0
    """What a stream refused, with its reason."""
    nowhere: int = 0
    """What no stream takes."""
    silent: int = 0
    """What nobody acknowledged: it was not permitted, or no message at all."""
    closed: int = 0
    """How often the broker closed the connection."""
    errors: int = 0

    @property
    def whole(self) -> int:
        """All that is accounted for."""
        answered = len(self.kept) + self.repeats + self.refused + self.nowhere
        return answered + self.silent


Message = tuple[bytes, bytes, bytes]
"""Subject, headers and body, as they go over the wire."""


class RawClient:
    """Sends raw messages with one account's rights."""

    def __init__(self, credentials: Credentials) -> None:
        """Send with these credentials."""
        self._credentials = credentials
        self._inbox = f"{credentials.inbox_prefix}.{uuid4().hex}"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._waiting: set[int] = set()
        self._numbers = iter(range(1 << 40))
        self.told = Told()

    async def send(self, messages: Sequence[Message]) -> None:
        """Send messages, and wait until each is acknowledged, refused, or neither comes."""
        left = list(messages)
        self.told.sent += len(left)
        while left:
            # One that breaks the connection takes with it what was sent behind it.
            some, left = left[:64], left[64:]
            await self._send(some)
        assert not self._waiting

    async def close(self) -> None:
        """Close the connection, if there is one."""
        streams, self._streams = self._streams, None
        if streams is not None:
            streams[1].close()
            with suppress(ConnectionError):
                await streams[1].wait_closed()

    async def _send(self, messages: Sequence[Message]) -> None:
        try:
            reader, writer = await self._connected()
            for message in messages:
                number = next(self._numbers)
                self._waiting.add(number)
                writer.write(self._framed(number, message))
            await writer.drain()
            while self._waiting:
                async with asyncio.timeout(_IDLE_S):
                    await self._take(reader, writer)
        except TimeoutError:
            pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.told.closed += 1
            await self.close()
        self.told.silent += len(self._waiting)
        self._waiting.clear()

    def _framed(self, number: int, message: Message) -> bytes:
        subject, headers, body = message
        reply = f"{self._inbox}.{number}".encode()
        if not headers:
            return b"PUB %b %b %d\r\n%b\r\n" % (subject, reply, len(body), body)
        head = b"NATS/1.0\r\n" + headers + b"\r\n"
        sizes = b"%d %d" % (len(head), len(head) + len(body))
        return b"HPUB %b %b %b\r\n%b%b\r\n" % (subject, reply, sizes, head, body)

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            address = urlsplit(self._credentials.url)
            made = await asyncio.open_connection(address.hostname, address.port)
            hello = {
                "user": self._credentials.user, "pass": self._credentials.password,
                "headers": True, "verbose": False, "pedantic": False,
                "no_responders": True,
            }  # fmt: skip
            own = f"SUB {self._inbox}.* 1\r\nPING\r\n"
            made[1].write(f"CONNECT {json.dumps(hello)}\r\n{own}".encode())
            self._streams = made
            async with asyncio.timeout(_PATIENCE_S):
                while not (line := await made[0].readline()).startswith(b"PONG"):
                    if not line or line.startswith(b"-ERR"):
                        raise ConnectionError(line)
        return self._streams

    async def _take(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Take one line of the broker's, with what follows it."""
        line = await reader.readline()
        if not line:
            raise ConnectionError("closed")
        words = line.split()
        match words[0] if words else b"":
            case b"PING":
                writer.write(b"PONG\r\n")
            case b"MSG" | b"HMSG":
                body = await reader.readexactly(int(words[-1]) + 2)
                head = int(words[-2]) if words[0] == b"HMSG" else 0
                self._answered(int(words[1].rpartition(b".")[2]), body[head:-2])
            case b"-ERR":
                self.told.errors += 1
            case _:
                pass

    def _answered(self, number: int, body: bytes) -> None:
        if number not in self._waiting:
            return
        self._waiting.discard(number)
        told = self.told
        # Without a body: nobody is there to take it.
        answer = json.loads(body) if body else {}
        if "error" in answer:
            told.refused += 1
        elif answer.get("duplicate"):
            told.repeats += 1
        elif "seq" in answer:
            told.kept.add((answer["stream"], answer["seq"]))
        else:
            told.nowhere += 1
