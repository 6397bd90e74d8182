"""A broker with all of its doors."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from streams.broker.server import embedded_server
from streams.jetstream.accounts import Listeners
from tests.ports import free_port
from tests.servers import Broker, opened


@pytest.fixture
def listeners() -> Listeners:
    """Free addresses on loopback."""
    return Listeners(f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}")


@pytest.fixture
async def listening(tmp_path: Path, listeners: Listeners) -> AsyncIterator[Broker]:
    """A broker that listens for MQTT and WebSockets, too."""
    folder = tmp_path / "nats"
    async with (
        embedded_server(folder, listeners=listeners) as server,
        opened(server) as broker,
    ):
        yield broker
