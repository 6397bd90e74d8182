"""What the log missed of what was acknowledged is named by `log verify` and by the doctor."""

import asyncio
from pathlib import Path

import pytest

from echoic.errors import FINDING
from streams.jetstream import stalls
from streams.topology import BLOBS
from tests.e2e.conftest import running_instance
from tests.echoic.cli.acting import eventually
from tests.echoic.cli.conftest import SURVIVAL, Program, Ran
from tests.echoic.cli.test_instances import running
from tests.servers import fresh_broker
from tests.streams.jetstream.passed_over import (
    BOX,
    BOXED,
    PUBLISHED,
    damage,
    logged_inputs,
    passing_over,
    publish,
)

pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]


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


def test_what_a_stopped_folder_lacks_is_named_and_a_start_mends_it(
    echoic: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missed, lost, and a pack that the broker cannot hand out, by both commands."""
    packs = {"ECHOIC_PACKS": str(SURVIVAL)}
    with monkeypatch.context() as patch:
        patch.setattr(stalls, "MISSED_LOOKS", 10**9)
        asyncio.run(pass_over(echoic.data))
    sound = checks(echoic.here("doctor", "--json", "--exit-zero", **packs))
    damage(echoic.data / "nats", BOX, b"two", b"owt")
    damage(echoic.data / "nats", BLOBS.name, b"survival", b"lavivrus")

    verified = echoic.here("log", "verify", "--json", **packs)
    told = echoic.here("log", "verify", **packs)
    doctor = echoic.here("doctor", "--json", **packs)
    with running(echoic, **packs):
        brought = eventually(lambda: sees(echoic, '"ONE"'))
        after = checks(echoic.here("doctor", "--json", "--exit-zero", **packs))

    assert [sound[each]["verdict"] for each in ("log", "packs")] == ["fine"] * 2
    assert (verified.code, doctor.code) == (FINDING, FINDING), verified.err
    assert [each["sequence"] for each in verified.json["missed"]] == [1]
    assert verified.json["lost"] == [{"stream": BOX, "first": 2, "last": 2}]
    assert len(verified.json["packs"]) == 1
    assert f"the broker lost {BOX} 2, which the log does not have" in told.err
    assert "the broker cannot hand out the pack survival" in told.err
    found = checks(doctor)
    assert found["instance"]["verdict"] == "notice"
    assert found["intake"]["verdict"] == found["packs"]["verdict"] == "problem"
    assert (
        f"lost 1 acknowledged message that the log does not have: {BOX} 2"
        in (found["intake"]["found"])
    )
    assert "survival" in found["packs"]["found"]
    assert brought.code == 0
    assert after["packs"]["verdict"] == "fine"


async def pass_over(data: Path) -> None:
    """Let the broker of an instance pass over two messages, and take a third."""
    async with running_instance(data, {}, (SURVIVAL,)) as live:
        async with passing_over(live.client):
            await publish(live.client, BOXED, "ONE", "two")
        await publish(live.client, BOXED, "three")
        while not await logged_inputs(live.client, live.log):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def checks(doctor: Ran) -> dict[str, dict[str, str]]:
    """What the doctor says of each thing."""
    return {each["name"]: each for each in doctor.json["checks"]}


def sees(echoic: Program, what: str) -> Ran:
    """Whether the log has it."""
    tail = echoic.here("log", "tail", "--json", "-n", "500")
    return Ran(0 if what in tail.out else 1, "", "")
