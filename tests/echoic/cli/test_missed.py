"""What the log missed of what was acknowledged is named by `log verify` and by the doctor."""

import pytest

from echoic.errors import FINDING
from tests.echoic.cli.conftest import Program
from tests.servers import fresh_broker
from tests.streams.jetstream.passed_over import (
    BOX,
    BOXED,
    PUBLISHED,
    logged_inputs,
    passing_over,
    publish,
)

pytestmark = [pytest.mark.services, pytest.mark.timeout(120)]


async def test_what_was_acknowledged_and_never_came_is_named(echoic: Program) -> None:
    """By agent, subject and sequence, of an operator's own broker as well."""
    async with fresh_broker() as broker:
        core = broker.server.core
        address = core.url.replace("://", f"://{core.user}:{core.password}@")
        async with passing_over(broker.client):
            await publish(broker.client, BOXED, "ONE")
            await publish(broker.client, PUBLISHED, "two")
        before = await logged_inputs(broker.client, broker.reader)

        verified = echoic("log", "verify", "--json", NATS_URL=address)
        told = echoic("log", "verify", "--full", NATS_URL=address)
        doctor = echoic("doctor", "--json", NATS_URL=address)

        # Who only looks changes nothing.
        assert before == await logged_inputs(broker.client, broker.reader) == []

    lost = f"ev.{BOX.removeprefix('IN_')}.in.ada.sensor.cam.seen"
    assert verified.code == told.code == FINDING, verified.err
    assert verified.json["missed_messages"] == 2
    assert verified.json["missed"] == [
        {"stream": "IN", "sequence": 1, "agent": "ada", "subject": PUBLISHED},
        {"stream": BOX, "sequence": 1, "agent": "ada", "subject": lost},
    ]
    assert f"ada: the log missed {lost}, 1 of {BOX}" in " ".join(told.err.split())
    (intake,) = (each for each in doctor.json["checks"] if each["name"] == "intake")
    assert doctor.code == FINDING
    assert intake["verdict"] == "problem"
    assert (
        "missed 2 acknowledged messages: ada: IN 1 (in.ada.cam.seen)"
        in (intake["found"])
    )
