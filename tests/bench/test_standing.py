"""A broker that stands still: nothing acknowledged is lost, and the checker would see it."""

import time
from pathlib import Path

import pytest

from bench.enduring import standing
from bench.enduring.standing import Stood, compare, stand_still, unused
from echoic.client.sensor_access import sensor_credentials
from schemas.values.subjects import PARTITIONS, partition_of
from streams.broker import data_folder
from tests.e2e.conftest import running_instance

pytestmark = [pytest.mark.services, pytest.mark.timeout(180)]


def test_each_agent_has_an_intake_of_its_own() -> None:
    """So that each stands for an intake stream that was never used."""
    assert sorted(map(partition_of, unused("still-"))) == list(range(PARTITIONS))


async def test_nothing_is_lost_while_the_broker_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small: `python -m bench.kills` does it for half a minute with twelve intake streams."""
    async with running_instance(tmp_path, {}) as live:
        names = unused("still-")
        sensors = {
            agent: await sensor_credentials(live.settings, agent, "cam")
            for agent, _ in zip(names, range(2), strict=False)
        }
        process_id = data_folder.running(tmp_path / "nats")
        assert process_id is not None

        stood = await stand_still(
            process_id, live.credentials, sensors, events=4, seconds=3.0
        )

        monkeypatch.setattr(standing, "RETURN_S", 0.1)
        found = Stood()
        # As if one more of the first agent's had been acknowledged.
        sent = [f"{next(iter(sensors))}/{number}" for number in range(5)]
        await compare(live.credentials, sent, found, time.monotonic())

    assert (stood.faults, stood.acknowledged) == ([], 8)
    assert found.lost == [sent[-1]]
    assert [each.split()[0] for each in found.faults] == ["1", "1"]
