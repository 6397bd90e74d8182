"""A sensor's connection to a broker that ends before it does."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from packs import broker
from schemas.values.record import Wire
from streams.broker.server import EmbeddedServer
from tests.servers import fresh_server

pytestmark = pytest.mark.services


async def test_a_broker_that_is_gone_is_what_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not that the event which is still unsent cannot be flushed at the end either."""
    monkeypatch.setattr(broker, "_STORED_S", 0.1)
    login = tmp_path / "home.json"
    async with fresh_server() as server:
        access = await server.add_sensor("anna", "home", ())
        login.write_text(json.dumps(asdict(access)))
        with pytest.raises(broker.BrokerError, match="nobody stored"):
            await tells_a_dead_one(server, login)


async def tells_a_dead_one(server: EmbeddedServer, login: Path) -> None:
    """Publish to a broker that was killed after the sensor connected."""
    event = Wire("in.anna.home.reading", {"ce-id": "1"}, b"{}")
    async with broker.connected("home", None, login, reconnects=-1) as client:
        await server.kill()
        await broker.publish(client, event)
