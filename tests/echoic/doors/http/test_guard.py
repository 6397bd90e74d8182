"""The door's server among clients that take their time, take its connections, and lie."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

pytest.importorskip("fastapi", reason="the extra `http` is not installed")

import trustme
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from bench.beside import beside
from echoic.doors.http import bodies, server
from echoic.doors.http.guard import Connections, Guard, Patience
from echoic.doors.http.limits import neighbourhood
from echoic.doors.http.server import serve
from tests.patience import PATIENCE_S

IMPATIENT = Patience(ask=2.0, body=2.0, leave=0.5, stall=2.0)
GET = b"GET /ok HTTP/1.1\r\nHost: a\r\n\r\n"
LAST = b"GET /ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@dataclass
class Door:
    """A server with a few routes, and what its guard counts."""

    guard: Guard
    port: int = 0
    tls: ssl.SSLContext | None = None
    """For clients."""
    streams: int = 0
    """How many streams are open."""
    chunks: int = 0
    """How many parts of them were taken."""
    open: list[asyncio.StreamWriter] = field(default_factory=list)

    async def connect(
        self, data: bytes = b"", *, plainly: bool = False
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect and send something; a small buffer, as that of a slow client."""
        context = None if plainly else self.tls
        name = None if context is None else "127.0.0.1"
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, limit=1024, ssl=context, server_hostname=name
        )
        writer.write(data)
        self.open.append(writer)
        return reader, writer

    async def ask(self, data: bytes = LAST) -> bytes:
        """Send something, and return all that comes until the server has closed."""
        reader, _ = await self.connect(data)
        return await ended(reader)

    async def serves(self) -> None:
        """Fail unless a client that behaves is answered."""
        assert (await self.ask()).startswith(b"HTTP/1.1 200")

    async def is_empty(self) -> None:
        """Wait until the last connection was let go."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self.guard.connections) or self.streams:  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def ended(reader: asyncio.StreamReader) -> bytes:
    """Return all that comes before the server closes the connection."""
    found = b""
    async with asyncio.timeout(PATIENCE_S):
        try:
            while part := await reader.read(65_536):
                found += part
        except OSError:
            return found
    return found


@asynccontextmanager
async def door(guard: Guard | None = None) -> AsyncIterator[Door]:
    """A server for the length of the block."""
    made = Door(guard or Guard(patience=IMPATIENT))
    listens: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    at = "127.0.0.1", 0
    async with beside(serve(_app(made), at, made.guard, begun=listens.set_result)):
        made.port = int((await listens).rpartition(":")[2])
        try:
            yield made
        finally:
            for writer in made.open:
                writer.transport.abort()


def _app(made: Door) -> FastAPI:
    app = FastAPI()

    @app.get("/ok")
    async def ok() -> str:
        return "ok"

    @app.post("/body")
    async def body(request: Request) -> int:
        _, told = await bodies.read(request, bodies.PLAIN)
        return len(told)

    @app.get("/stream")
    async def stream() -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            made.streams += 1
            try:
                while True:
                    made.chunks += 1
                    yield b"x" * 65_536
                    await asyncio.sleep(0)
            finally:
                made.streams -= 1

        return StreamingResponse(parts())

    return app


async def drip(writer: asyncio.StreamWriter, data: Iterable[bytes]) -> None:
    """Send a little at a time, for ever if there is always more."""
    try:
        for each in data:
            writer.write(each)
            await writer.drain()
            await asyncio.sleep(0.02)
    except OSError:
        return


def endless(first: bytes, more: bytes) -> Iterable[bytes]:
    """One thing, and then another again and again."""
    yield first
    while True:
        yield more


@pytest.mark.parametrize(
    ("first", "more", "answer"),
    [
        (b"", b"", b""),
        (b"GET /ok HTTP/1.1\r\nHost: a\r\n", b"a: b\r\n", b"HTTP/1.1 408"),
        (b"G", b"E", b"HTTP/1.1 408"),
        (b"GET /ok HTTP/1.1\r\nHost: a\r\nContent-Length: 999999\r\n\r\n", b"x", b""),
        (
            b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 999999\r\n\r\n",
            b" ",
            b"",
        ),
        (
            b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"1\r\n \r\n",
            b"",
        ),
        # The second request of a connection has the same time.
        (GET + b"GET /ok", b"x", b"HTTP/1.1 200"),
    ],
)
async def test_a_client_that_takes_its_time_is_let_go(
    first: bytes, more: bytes, answer: bytes
) -> None:
    """However it goes on sending a little; others are served meanwhile."""
    async with door() as made:
        slow = [await made.connect() for _ in range(8)]
        drips = [
            asyncio.create_task(drip(writer, endless(first, more)))
            for _, writer in slow
        ]
        await made.serves()
        heard = [await ended(reader) for reader, _ in slow]
        await made.serves()
        await made.is_empty()
        for each in drips:
            each.cancel()

    # What goes on sending may meet a closed connection before it has read the answer.
    assert {each[: len(answer)] for each in heard} <= {answer, b""}


async def test_a_client_that_never_reads_is_cut_off() -> None:
    """Its stream ends, having held a bounded part of what there was."""
    async with door() as made:
        deaf = [
            await made.connect(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
            for _ in range(8)
        ]
        async with asyncio.timeout(PATIENCE_S):
            while not made.streams:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await made.serves()
        await made.is_empty()
        await made.serves()

        # What the kernel's buffers took, and one part in hand: 8 MB each would be plenty.
        assert made.chunks < len(deaf) * 128


@pytest.mark.parametrize(
    "connections", [Connections(most=8), Connections(most_of_address=8)]
)
async def test_connections_that_only_wait_make_room(connections: Connections) -> None:
    """A hundred of them keep nobody out, nor end a request that is being answered."""
    guard = Guard(None, connections, Patience(ask=60, stall=60))
    async with door(guard) as made:
        await made.connect(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        async with asyncio.timeout(PATIENCE_S):
            while not made.streams:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        for _ in range(100):
            await made.connect(b"GET /ok HT")
            assert len(connections) <= 8
        await made.serves()

        assert made.streams == 1


async def test_where_all_are_in_use_a_client_is_told_so() -> None:
    """A request in the works is not ended for another."""
    guard = Guard(None, Connections(most_of_address=2), Patience(stall=60))
    async with door(guard) as made:
        for number in range(2):
            await made.connect(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
            async with asyncio.timeout(PATIENCE_S):
                while made.streams <= number:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        reader, _ = await made.connect()

        assert (await ended(reader)).startswith(b"HTTP/1.1 503")
        assert made.streams == 2


async def test_a_proxy_has_as_many_as_there_are() -> None:
    """Behind it are many clients."""
    connections = Connections(most_of_address=1, trusted=("127.0.0.1",))
    async with door(Guard(None, connections)) as made:
        for _ in range(5):
            await made.connect(b"GET /ok HT")
        await made.serves()

        assert len(connections) >= 5


async def test_silence_instead_of_tls_has_an_end_too() -> None:
    """Connections count before anything is agreed on, and those that agree are served."""
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    async with door(Guard(context, Connections(most=8), IMPATIENT)) as made:
        made.tls = ssl.create_default_context()
        authority.configure_trust(made.tls)
        silent = [await made.connect(plainly=True) for _ in range(20)]
        plain = [await made.connect(GET, plainly=True) for _ in range(2)]
        await made.serves()
        assert len(made.guard.connections) <= 8
        for reader, _ in silent + plain:
            assert b"200" not in await ended(reader)
        await made.serves()
        await made.is_empty()


@pytest.mark.parametrize(
    ("head", "code"),
    [
        (b"Host: a\r\n" + b"a: b\r\n" * server.HEADERS, b"431"),
        (b"Host: a\r\na: " + b"b" * server.HEAD_BYTES + b"\r\n", b"431"),
        (b"Host: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n", b"400"),
        (b"Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n", b"400"),
        (b"Host: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n", b"400"),
        (b"Host: a\r\nContent-Length: +3\r\n", b"400"),
        (b"Host: a\r\nContent-Length: 0x3\r\n", b"400"),
        (b"Host: a\r\nContent-Length : 3\r\n", b"400"),
        (b"Host: a\r\nContent-Length: 99999999999999999999\r\n", b"413"),
        (b"Host: a\r\nContent-Length: 1048577\r\n", b"413"),
        (b"Host: a\r\nTransfer-Encoding: identity\r\n", b"400"),
        (b"Host: a\r\nTransfer-Encoding: chunked, chunked\r\n", b"400"),
        (b"Host: a\r\nTransfer-Encoding: xchunked\r\n", b"400"),
        (b"Host: a\r\nHost: b\r\n", b"400"),
        (b"a: b\r\n", b"400"),
        (b"Host: a\r\nAuthorization: Bearer x\r\nAuthorization: Bearer y\r\n", b"400"),
        (b"Host: a\r\nIdempotency-Key: x\r\nIdempotency-Key: y\r\n", b"400"),
        (b"Host: a\r\na\x00: b\r\n", b"400"),
        (b"Host: a\r\na: b\x00c\r\n", b"400"),
    ],
)
async def test_a_head_that_two_could_read_differently_is_refused(
    head: bytes, code: bytes
) -> None:
    """And what follows it is not taken for another request."""
    async with door() as made:
        heard = await made.ask(b"POST /body HTTP/1.1\r\n" + head + b"\r\n" + LAST)

    codes = [line.split()[1] for line in heard.split(b"\r\n") if b"HTTP/1.1 " in line]
    assert codes == [code]


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("a name", "a name"),
    ],
)
def test_who_has_one_address_of_a_network_has_all(host: str, counted: str) -> None:
    """IPv6 is counted by networks."""
    assert neighbourhood(host) == counted
