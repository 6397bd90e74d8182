"""How an instance begins: nothing that comes in may be older than its settings."""

import asyncio
from pathlib import Path
from typing import Any

import nats.errors
import pytest
from nats.aio.client import Client

from bench.beside import beside
from echoic.run import instance as starting
from echoic.run.instance import Instance
from schemas.values.subjects import PARTITIONS, parse
from streams.groups import groups
from streams.jetstream.connection import connected
from streams.jetstream.migrate import close_intake
from tests.e2e.conftest import running_instance
from tests.patience import PATIENCE_S
from tests.servers import fresh_server

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

AGENTS = [f"agent-{number}" for number in range(40)]
"""So many are of all partitions but few."""


async def badger(client: Client) -> None:
    """Send an event of each agent from the first moment that anybody takes it."""
    for agent in AGENTS:
        while True:
            try:
                await client.request(f"in.{agent}.game.vital", b"low", timeout=1)
                break
            except nats.errors.Error:
                await asyncio.sleep(0.001)


async def assert_settings_come_first(live: Instance, since: int = 0) -> int:
    """Each event of a partition stands behind its settings and its pack."""
    events = 0
    for partition in range(PARTITIONS):
        details = [
            parse(group.input.subject).detail
            async for group in groups(live.log, partition)
            if group.input.sequence > since
        ]
        events += details.count("game.vital")
        started = max(
            details.index("mind_started"),
            details.index("pack_loaded") if "pack_loaded" in details else 0,
        )
        assert "game.vital" not in details[:started]
        if not since:
            assert "pack_loaded" in details
    return events


async def answered(live: Instance, count: int) -> None:
    """Wait until so many events are decided on."""
    async with asyncio.timeout(PATIENCE_S):
        following = live.log.follow("ev.*.out.*.decision.decided", 0, 1)
        for _ in range(count):
            await anext(following)
        await following.aclose()


async def test_a_first_start_precedes_every_event(tmp_path: Path) -> None:
    """Sensors that were there before the log find it with its settings."""
    async with fresh_server() as server:
        core = server.core
        address = core.url.replace("://", f"://{core.user}:{core.password}@")
        async with (
            connected(core, "badger") as client,
            beside(badger(client), may_end=True) as (badgering,),
            running_instance(tmp_path, {"NATS_URL": address}) as live,
        ):
            await badgering
            await answered(live, len(AGENTS))
            events = await assert_settings_come_first(live)

    assert events == len(AGENTS)


async def test_a_later_start_holds_events_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is sent while it starts is decided by the settings that it starts with."""
    async with running_instance(tmp_path, {}) as live:
        since = await live.log.last_sequence("ev.>")
    refused: list[bool] = []

    async def close_and_send(client: Any) -> None:
        await close_intake(client)
        with pytest.raises(nats.errors.NoRespondersError):
            await client.request("svc.ada.state", b"", timeout=PATIENCE_S)
        refused.append(True)
        for agent in AGENTS:
            await client.request(f"in.{agent}.game.vital", b"low", timeout=PATIENCE_S)

    monkeypatch.setattr(starting, "close_intake", close_and_send)
    async with running_instance(tmp_path, {"ECHOIC_STRATEGY": "urgency"}) as live:
        await answered(live, len(AGENTS))
        events = await assert_settings_come_first(live, since)

    assert refused == [True]
    assert events == len(AGENTS)
