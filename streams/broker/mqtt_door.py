"""The door of the embedded broker for MQTT: what it cannot carry is mapped, not starved.

nats-server ends the connection of a client that publishes a topic with a blank or a dot,
and MQTT 3.1.1 lets no server refuse one message: a device with a persistent session sends
it again first, for ever, and nothing behind it arrives. So clients connect here, and the
broker's own listener, on a port of loopback, is reached through this alone (ADR 0078).
"""

import asyncio
import errno
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from streams.broker.mqtt_packets import NotMqttError, forward
from streams.errors import PortTaken

_CONNECT_S = 5.0
_CHUNK = 64 * 1024
_log = logging.getLogger(__name__)


@asynccontextmanager
async def mqtt_door(listen: str, broker: str) -> AsyncIterator[None]:
    """Serve MQTT at `host:port` for the length of the block, in front of the broker's own.

    Raises:
        PortTaken: another program listens there.
    """
    host, port = _address(listen)
    target = _address(broker)
    open_: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_.add(task)
        try:
            await _serve(reader, writer, target)
        finally:
            open_.discard(task)
            writer.close()

    try:
        server = await asyncio.start_server(serve, host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(taken_message("nats.mqtt", listen)) from error
        why = f"nats.mqtt is {listen}, where nothing can listen: {error.strerror}"
        raise PortTaken(why) from error
    try:
        yield
    finally:
        server.close()
        for task in tuple(open_):
            task.cancel()
        await asyncio.gather(*open_, return_exceptions=True)


def taken_message(setting: str, listen: str) -> str:
    """Return what is wrong where another program listens at an operator's address."""
    port = listen.rpartition(":")[2]
    return (
        f"{setting} is {listen}, and another program listens there: choose"
        f" another port for it, or end that program (`ss -ltnp 'sport = :{port}'`"
        " names it)"
    )


async def _serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: tuple[str, int]
) -> None:
    """Join a client and the broker until one of them leaves."""
    try:
        async with asyncio.timeout(_CONNECT_S):
            from_broker, to_broker = await asyncio.open_connection(*target)
    except (OSError, TimeoutError) as error:
        # The client connects again, as it does when a broker is away.
        _log.info("no MQTT listener behind the door: %s", error)
        return
    ways = {
        asyncio.ensure_future(forward(reader, to_broker)),
        asyncio.ensure_future(_copy(from_broker, writer)),
    }
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        for ended in await asyncio.gather(*ways, return_exceptions=True):
            if isinstance(ended, NotMqttError):
                _log.info("an MQTT client was sent away: %s", ended)
        to_broker.close()
        with suppress(OSError):
            await to_broker.wait_closed()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while part := await source.read(_CHUNK):
        sink.write(part)
        await sink.drain()


def _address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    return host.strip("[]"), int(port)
