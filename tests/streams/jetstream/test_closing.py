"""What comes of a close: the attempts to connect again end, and it replaces no error."""

import ast
import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlparse

import nats.errors
import pytest
import trustme
from nats.aio.client import Client
from nats.aio.transport import TcpTransport

from handlers import broker as effects_broker
from handlers.broker import faststream_broker, start, stop
from packs import broker as sensors
from streams.jetstream import closing
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected, reading
from tests.minds import until
from tests.patience import PATIENCE_S
from tests.servers import fresh_server
from tests.test_architecture import FOLDERS, ROOT, python_files

pytestmark = pytest.mark.services

Made = Callable[[Credentials], AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def effects(core: Credentials) -> AsyncIterator[Client]:
    """The connection of the effects."""
    broker = faststream_broker(core)
    client = await broker.connect()
    await start(broker)
    try:
        yield client
    finally:
        await stop(broker)


@pytest.mark.parametrize("made", [connected, effects])
async def test_its_attempts_end_with_it(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever swallows that they are cancelled; else they would go on for ever."""
    tries = asyncio.Event()

    async def swallow(*_: object, **__: object) -> None:
        tries.set()
        # As `asyncio.wait_for` does, if what it waits for comes at the same moment.
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        raise ConnectionRefusedError

    async with fresh_server() as server:
        async with asyncio.timeout(PATIENCE_S), made(server.core) as client:
            monkeypatch.setattr(TcpTransport, "connect", swallow)
            await server.kill()
            await tries.wait()
        monkeypatch.undo()

        attempts = client._reconnection_task
        assert attempts is not None
        assert attempts.done()
        assert client.is_closed


@asynccontextmanager
async def sensor(core: Credentials) -> AsyncIterator[Client]:
    """The connection of a bundled sensor."""
    with TemporaryDirectory() as folder:
        login = Path(folder) / "login.json"
        login.write_text(json.dumps(asdict(core)))
        async with sensors.connected("home", None, login, reconnects=-1) as client:
            yield client


EVERY = (connected, reading, effects, sensor)
"""Whatever opens a connection, which it closes as well."""


async def hang() -> None:
    """Never end, as where a node that stands still reads nothing."""
    await asyncio.get_running_loop().create_future()


def failing(error: BaseException) -> Callable[[], None]:
    """Return what raises it."""

    def fail() -> None:
        raise error

    return fail


FAULTS: dict[str, Callable[[], object]] = {
    "a cancellation of another task": failing(asyncio.CancelledError()),
    "a socket that was cut": failing(ConnectionResetError("cut")),
    "an error of the library": failing(nats.errors.StaleConnectionError()),
    "anything": failing(RuntimeError("closed twice")),
    "a group": failing(ExceptionGroup("several", [OSError("one")])),
    "no end": hang,
}


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have each close end with a fault, and none take long."""
    for place, name in ((effects_broker, "_STOP_S"), (sensors, "_CLOSE_S")):
        monkeypatch.setattr(place, name, 0.3)
    # `closed` takes it as its default.
    monkeypatch.setattr(closing.closed, "__defaults__", (0.3,))

    def fail(fault: str) -> None:
        async def wait_closed(_: TcpTransport) -> None:
            found = FAULTS[fault]()
            if asyncio.iscoroutine(found):
                await found

        monkeypatch.setattr(TcpTransport, "wait_closed", wait_closed)

    return fail


class Trouble(Exception):
    """What led to a close."""


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("made", EVERY)
async def test_no_close_replaces_the_error_that_led_to_it(
    made: Made, fault: str, fails: Callable[[str], None]
) -> None:
    """Whatever it ends with itself, and for every kind of connection."""
    async with fresh_server() as server, asyncio.timeout(PATIENCE_S):
        opened = list[Client]()

        async def end_in_trouble() -> None:
            async with made(server.core) as client:
                opened.append(client)
                fails(fault)
                raise Trouble

        with pytest.raises(Trouble):
            await end_in_trouble()

        assert opened[0].is_closed


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("made", EVERY)
async def test_a_cancellation_of_ones_own_is_heeded(
    made: Made, fault: str, fails: Callable[[str], None]
) -> None:
    """Whether it led to the close, or comes in the middle of it."""
    is_open = asyncio.Event()

    async def stay() -> None:
        async with made(server.core):
            fails(fault)
            is_open.set()
            await hang()

    async with fresh_server() as server:
        for times in (1, 2):
            task = asyncio.create_task(stay())
            async with asyncio.timeout(PATIENCE_S):
                await is_open.wait()
                is_open.clear()
            for _ in range(times):
                task.cancel()
                await asyncio.sleep(0)
            await asyncio.wait({task}, timeout=PATIENCE_S)
            assert task.cancelled()


async def test_a_broker_killed_twice_is_what_is_told() -> None:
    """The library leaves a cancellation in the socket at which it waits itself."""

    async def end_in_trouble(core: Credentials) -> None:
        async with connected(core) as client:
            assert client._transport is not None
            awaited = asyncio.create_task(client._transport.wait_closed())
            await asyncio.sleep(0)
            # As the attempts to connect again, which are ended before the close.
            awaited.cancel()
            await asyncio.wait({awaited})
            raise Trouble

    async with fresh_server() as server:
        with pytest.raises(Trouble):
            await end_in_trouble(server.core)


_MAKERS = {"NatsBroker", "Client", "BrokerClient", "ReadingClient"}
_KNOWN = {"packs/broker.py", "streams/jetstream/connection.py"}


def test_connections_are_made_only_where_these_tests_look() -> None:
    """One that is made elsewhere has a close of its own."""
    product = tuple(each for each in FOLDERS if each not in ("tests", "bench", "docs"))
    found = {
        str(path.relative_to(ROOT))
        for path in python_files(product)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and _opens(node)
    }

    assert found == _KNOWN


def _opens(call: ast.Call) -> bool:
    match call:
        case ast.Call(func=ast.Name(name)) if name in _MAKERS:
            return True
        case ast.Call(func=ast.Attribute(ast.Name("nats"), "connect")):
            return True
        # `connect` makes what it was given.
        case ast.Call(func=ast.Name("kind"), args=[], keywords=[]):
            return True
        case _:
            return False


@asynccontextmanager
async def deaf(tls: ssl.SSLContext | None) -> AsyncIterator[str]:
    """A server that lets clients connect and then reads nothing; yield its address."""
    opened: list[asyncio.StreamWriter] = []

    async def stand_still(
        _: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        assert isinstance(writer.transport, asyncio.ReadTransport)
        writer.transport.pause_reading()
        opened.append(writer)

    server = await asyncio.start_server(stand_still, "127.0.0.1", 0, ssl=tls)
    try:
        yield f"nats://localhost:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for each in opened:
            each.transport.abort()


@pytest.mark.parametrize("has_tls", [False, True], ids=["plain", "TLS"])
async def test_a_socket_whose_close_waits_is_cut(has_tls: bool) -> None:
    """Else it stays open for good: what is unsent, or TLS's farewell, waits for the node."""
    authority = trustme.CA()
    of_server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(of_server)
    of_client = ssl.create_default_context()
    authority.configure_trust(of_client)
    client = Client()
    client._transport = transport = TcpTransport()

    async def close() -> None:
        transport.close()
        await transport.wait_closed()

    async with deaf(of_server if has_tls else None) as address:
        at = urlparse(address)
        await transport.connect(at, 1024, 10)
        assert transport._bare_io_writer is not None
        socket = transport._bare_io_writer.get_extra_info("socket")
        if has_tls:
            await transport.connect_tls(at, of_client, 1024, 10)
        transport.write(bytes(32 << 20))

        await closing.closed(client, close(), within_s=0.2)

        await until(lambda: socket.fileno() == -1, "the socket is closed")
