"""The home's sensor against a real broker."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from nats.aio.msg import Msg

from packs.home.sensor.main import main
from streams.broker.server import embedded_server
from streams.jetstream.migrate import migrate, open_intake

pytestmark = pytest.mark.services


async def test_a_day_over_a_broker_hears_and_reports(tmp_path: Path) -> None:
    """The house speaks with its own rights, people with theirs; advice is reported on."""
    async with embedded_server(tmp_path / "nats") as server:
        client = await server.connect()
        await migrate(client)
        await open_intake(client)
        files = []
        for source, grants in (("home", ()), ("user", ("feedback",))):
            access = await server.add_sensor("anna", source, grants)
            files.append(tmp_path / f"{source}.json")
            files[-1].write_text(json.dumps(asdict(access)))
        told: list[str] = []
        outcomes: list[str] = []

        async def answer(message: Msg) -> None:
            _, _, _, source, type_ = message.subject.split(".")
            told.append(f"{source}.{type_}")
            body = json.loads(message.data)
            outcomes.extend([body["outcome"]] if "outcome" in body else [])
            if type_ in ("oven_still_on", "reading"):
                id_ = message.headers["ce-id"] if message.headers else ""
                said = {
                    "decision_id": id_,
                    "action": {"type": "turn-off", "target": "oven"},
                }
                await client.publish("out.anna.say", json.dumps(said).encode())

        # What a sensor publishes comes into our account as its partition's.
        await client.subscribe("ip.*.anna.*.*", cb=answer)
        status = await asyncio.to_thread(
            main,
            ["--agent", "anna", "--credentials", str(files[0]),
             "--person-credentials", str(files[1]),
             "--pace", "0", "--lockstep", "20", "--follow", "1"],
        )  # fmt: skip
        await client.drain()

    assert status == 0
    assert "succeeded" in outcomes
    assert {"home.day_ended", "user.message", "user.feedback"} <= set(told)
