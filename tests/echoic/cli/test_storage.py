"""A sensor that sends more than it may, beside a running instance."""

import asyncio
import json
from typing import Any

import pytest

from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected
from tests.echoic.cli.acting import eventually
from tests.echoic.cli.conftest import Program, Ran
from tests.echoic.cli.test_instances import running
from tests.streams.sensors import send

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(120)]


def test_who_sends_more_than_a_day_s_bytes_is_refused_and_named(
    echoic: Program,
) -> None:
    """The other sensor of the same companion is answered, and so is a person."""
    with running(echoic, ECHOIC_INTAKE_DAY_MB="1"):
        for source in ("cam", "mic"):
            echoic.here("sensor", "access", source)
        refused = asyncio.run(told(echoic, "cam", b"x" * 50_000, 1_000))
        heard = asyncio.run(told(echoic, "mic", b"hello", 20))
        spoken = echoic.here("pub", "hello", "--wait")
        doctor = eventually(lambda: names(echoic, "companion.cam"))
        screen = echoic.here("status")

    assert refused["error"]["code"] == 503
    assert refused["stream"] == "OVER_QUOTA"
    assert "error" not in heard
    assert spoken.code == 0
    assert "companion.cam" in doctor.out
    assert "companion.mic" not in doctor.out
    assert "companion.cam" in screen.out


async def told(echoic: Program, source: str, body: bytes, most: int) -> Any:
    """Send so often, or until it is refused; return the last answer."""
    file = echoic.data / "sensors" / f"companion.{source}.json"
    credentials = Credentials(**json.loads(file.read_text()))
    answer: Any = None
    async with connected(credentials, source) as client:
        for _ in range(most):
            answer = await send(client, f"in.companion.{source}.seen", body)
            if "error" in answer:
                break
    return answer


def names(echoic: Program, sensor: str) -> Ran:
    """Whether the doctor names a sensor as refused."""
    found = echoic.here("doctor", "--json", "--exit-zero", ECHOIC_INTAKE_DAY_MB="1")
    (check,) = (each for each in found.json["checks"] if each["name"] == "storage")
    is_named = check["verdict"] == "notice" and sensor in check["found"]
    return Ran(0 if is_named else 1, check["found"], "")
