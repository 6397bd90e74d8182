"""Waiting for an instance that is not there yet."""

import asyncio
from pathlib import Path

import pytest

from echoic.client import connection
from echoic.client.connection import connect_when_up
from echoic.config.load import Settings, load
from streams.broker.server import EmbeddedServer
from streams.errors import LogForbidden
from streams.jetstream.migrate import migrate
from tests.patience import PATIENCE_S
from tests.servers import fresh_server

pytestmark = pytest.mark.services


def settings_for(server: EmbeddedServer, folder: Path, password: str) -> Settings:
    """Those of a door whose broker is somebody else's."""
    core = server.core
    url = core.url.replace("://", f"://{core.user}:{password}@")
    return load({"data": str(folder)}, environment={"NATS_URL": url}, folder=folder)


async def test_a_broker_that_comes_and_gets_its_log_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First nothing answers, then a broker without a log, then there is one."""
    monkeypatch.setattr(connection, "LOOK_S", 0.05)
    said, is_told = list[str](), asyncio.Event()

    def hear(line: str) -> None:
        said.append(line)
        is_told.set()

    async def seen(settings: Settings) -> str:
        async with connect_when_up(settings, hear) as found:
            return str(found.log.epoch)

    async with fresh_server() as server, asyncio.timeout(PATIENCE_S):
        settings = settings_for(server, tmp_path, server.core.password)
        await server.kill()
        waiting = asyncio.create_task(seen(settings))
        await is_told.wait()
        await server.restart()
        client = await server.connect()
        try:
            epoch = await migrate(client)
        finally:
            await client.close()

        assert await waiting == str(epoch)
    assert said[0].startswith("no broker answers at ")
    assert said[0].endswith("; it is waited for")
    assert said[1:] == ["the instance is there"]


async def test_a_door_with_a_wrong_password_ends(tmp_path: Path) -> None:
    """Nobody will let it in later."""
    async with fresh_server() as server, asyncio.timeout(PATIENCE_S):
        settings = settings_for(server, tmp_path, "guess")
        with pytest.raises(LogForbidden):
            async with connect_when_up(settings, print):
                raise AssertionError("it was let in")
