"""The sensor against a real broker."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from nats.aio.msg import Msg

from packs.survival.sensor.main import main
from streams.broker.server import embedded_server
from streams.jetstream.migrate import migrate, open_intake

pytestmark = pytest.mark.services


async def test_a_session_over_a_broker_hears_and_reports(tmp_path: Path) -> None:
    """With a sensor's own credentials events are stored, and advice comes back reported."""
    async with embedded_server(tmp_path / "nats") as server:
        client = await server.connect()
        await migrate(client)
        await open_intake(client)
        credentials = await server.add_sensor("steve", "crafter")
        file = tmp_path / "sensor.json"
        file.write_text(json.dumps(asdict(credentials)))
        reports: list[dict[str, str]] = []

        async def answer(message: Msg) -> None:
            body = json.loads(message.data)
            if "in_reply_to" in body:
                reports.append(body)
                return
            advice = {
                "decision_id": message.headers["ce-id"] if message.headers else "",
                "action": {"type": "gather", "target": "wood", "params": {}},
            }
            await client.publish("out.steve.say", json.dumps(advice).encode())

        # What a sensor publishes comes into our account as its partition's.
        await client.subscribe("ip.*.steve.crafter.*", cb=answer)
        status = await asyncio.to_thread(
            main,
            ["--agent", "steve", "--credentials", str(file), "--steps", "60",
             "--rate", "0", "--lockstep", "100", "--follow", "1"],
        )  # fmt: skip
        await client.drain()

    assert status == 0
    assert "succeeded" in [report["outcome"] for report in reports]


def test_a_broker_that_is_away_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error says where it looked and what to do, without a traceback."""
    status = main(["--agent", "steve", "--url", "nats://127.0.0.1:1", "--steps", "1"])

    assert status == 1
    assert "nats://127.0.0.1:1" in capsys.readouterr().err
