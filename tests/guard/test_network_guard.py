"""The guard that keeps the whole test run on this machine."""

import asyncio
import socket
import subprocess
import sys

import pytest

_PROBE = """
import socket
try:
    socket.create_connection(("192.0.2.1", 80), timeout=1)
except OSError as error:
    print(type(error).__name__)
"""


def test_a_foreign_address_is_refused() -> None:
    """Connecting to an address outside this machine fails at once, with the reason."""
    with socket.socket() as client, pytest.raises(OSError, match="loopback"):
        client.connect(("192.0.2.1", 80))


def test_a_foreign_datagram_is_refused() -> None:
    """Datagrams are refused as connections are."""
    with (
        socket.socket(type=socket.SOCK_DGRAM) as client,
        pytest.raises(OSError, match="loopback"),
    ):
        client.sendto(b"x", ("192.0.2.1", 53))


def test_a_foreign_name_is_not_looked_up() -> None:
    """Not even the name of another machine is asked for."""
    with pytest.raises(OSError, match=r"example\.org"):
        socket.getaddrinfo("example.org", 80)


async def test_asyncio_is_guarded_too() -> None:
    """Connections of an event loop go through the same guard."""
    with pytest.raises(OSError, match="loopback"):
        await asyncio.open_connection("192.0.2.1", 80)


async def test_loopback_works() -> None:
    """Servers on a loopback address, named or numbered, can be reached."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1")
    async with server:
        port = server.sockets[0].getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
            await writer.wait_closed()


def test_children_are_guarded() -> None:
    """A Python process that a test starts is refused as the test itself is."""
    child = subprocess.run(
        [sys.executable, "-c", _PROBE], capture_output=True, text=True, check=True
    )

    assert child.stdout.strip() == "NetworkRefusedError"
