"""A sensor that sends more than it may, beside a running instance."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from echoic.client import storage
from echoic.run.instance import Instance
from schemas.messages.decisions import Decided
from streams.broker.enrolment import add_sensor
from streams.jetstream.connection import connected
from streams.log import messages
from tests.e2e.conftest import running_instance
from tests.patience import PATIENCE_S
from tests.streams.sensors import send

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.services,
    pytest.mark.timeout(240),
]


LARGE = b"x" * 50_000


async def test_it_is_refused_and_named_and_its_neighbour_is_answered(
    tmp_path: Path,
) -> None:
    """The other sensor of the same companion, in the same intake stream, goes on."""
    folder = tmp_path / "nats"
    async with running_instance(tmp_path, {"ECHOIC_INTAKE_DAY_MB": "1"}, ()) as live:
        cam = await add_sensor(folder, "ada", "cam")
        mic = await add_sensor(folder, "ada", "mic")
        async with connected(cam, "cam") as flood, connected(mic, "mic") as other:
            async with asyncio.timeout(PATIENCE_S):
                while "error" not in (refused := await send(flood, CAM, LARGE)):
                    pass
            heard = await send(other, "in.ada.mic.heard", b'{"text": "hi"}', ce_id="hi")
            await decided(live, "hi")
        named = await storage.look(behind(live))

    assert refused["error"]["code"] == 503
    assert refused["stream"] == "OVER_QUOTA"
    assert "error" not in heard
    assert named.is_short
    assert named.found.startswith("refused: ada.cam, ")
    assert "intake.day_mb" in named.found
    assert "ada.mic" not in named.found


CAM = "in.ada.cam.seen"


async def decided(live: Instance, id_: str) -> None:
    """Wait until an event has its decision."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = messages(live.log, Decided, "ada")
            if id_ in [each.event_id async for _, each in found]:
                return
            await asyncio.sleep(0.1)


def behind(live: Instance) -> Any:
    """A connection as commands have it."""
    return SimpleNamespace(settings=live.settings, client=live.client)
