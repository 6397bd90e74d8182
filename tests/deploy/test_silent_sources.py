"""Sources that a cluster's log hears nothing of, and the leader that asks for them anew."""

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from streams.jetstream.connection import insist
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import have_consumers, migrate, open_intake
from streams.jetstream.registry import load as segments_of
from streams.jetstream.silent_sources import (
    Looked,
    Silent,
    is_due,
    led_for_s,
    look,
    silent,
    successor_of,
)
from streams.topology import LOG
from tests.deploy.cluster import cluster
from tests.patience import PATIENCE_S

BOX = "IN_3"


def test_a_source_without_a_sign_of_life_is_silent() -> None:
    """One that was never heard since the leader leads, or not for some seconds."""
    told = [("IN", 900_000_000), ("IN_1", -1), ("IN_2", 3_100_000_000), ("IN_3", 0)]
    sources = [{"name": name, "active": active} for name, active in told]
    durable = [{"name": "IN_1", "consumer": {"name": "LOG"}}, {"name": "IN_2"}]
    info = {"config": {"sources": durable}, "sources": sources}

    assert silent(info) == [
        Silent("IN_1", "$JS.API.CONSUMER.INFO.IN_1.LOG", was_heard=False),
        Silent("IN_2", "$JS.API.STREAM.INFO.IN_2", was_heard=True),
    ]
    assert silent({"config": {}}) == []


def test_who_has_all_of_the_log_is_to_lead_it() -> None:
    """Of those the one that was heard last; nobody, as long as all lack something."""
    behind = {"name": "nats-0", "current": False, "active": 1}
    gone = {"name": "nats-1", "current": True, "active": 2, "offline": True}
    able = {"name": "nats-2", "current": True, "active": 900}
    heard = {"name": "nats-3", "current": True, "active": 400}

    assert (
        successor_of({"cluster": {"replicas": [behind, gone, able, heard]}}) == "nats-3"
    )
    assert successor_of({"cluster": {"replicas": [behind, gone]}}) is None
    assert successor_of({}) is None


def test_a_leader_has_led_for_as_long_as_the_server_says() -> None:
    """By one clock, the server's; who does not tell counts as new."""
    info = {
        "ts": "2026-11-23T10:26:09.428073586Z",
        "cluster": {"leader_since": "2026-11-23T10:26:08Z"},
    }

    assert led_for_s(info) == pytest.approx(1.428, abs=0.001)
    assert led_for_s({"ts": info["ts"], "cluster": {"leader": "nats-0"}}) == 0


def test_leaders_have_more_and_more_time() -> None:
    """Little at first; a cluster that is too busy for that comes to its answers, too."""
    info = {
        "ts": "2026-11-23T10:26:11Z",
        "cluster": {"leader_since": "2026-11-23T10:26:08Z"},
    }

    assert [is_due(info, tried) for tried in range(6)] == [True] * 4 + [False] * 2
    assert not is_due(info, 3, turns=2)


needs_cluster = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="no openssl here"
)


@pytest.mark.services
@needs_cluster
async def test_a_leader_that_does_not_hear_a_source_hands_over(tmp_path: Path) -> None:
    """One that asked for it when nobody could answer, once somebody could."""
    async with cluster(tmp_path) as made, made.client() as client:
        await migrate(client, 3)
        await open_intake(client)
        before = await once(client, lambda info: not silent(info))
        assert await look(client, LOG.name, Looked("nats-9", tried=3)) == Looked(
            before["cluster"]["leader"]
        )

        await insist(client, f"$JS.API.CONSUMER.DELETE.{BOX}.{LOG.name}", {})
        await insist(client, f"$JS.API.STREAM.LEADER.STEPDOWN.{LOG.name}", {})
        deaf = await once(client, lambda info: names(silent(info)) == [BOX])
        first = await look(client, LOG.name, Looked())
        assert first == Looked(deaf["cluster"]["leader"], frozenset({BOX}))
        assert await look(client, LOG.name, first) == first, "nobody could be heard"

        (segment,) = (await segments_of(client))[0].open
        await have_consumers(client, segment)
        await once(
            client, lambda info: successor_of(info) is not None and is_due(info, 0)
        )
        assert await look(client, LOG.name, first) == Looked(tried=1)
        after = await once(client, lambda info: not silent(info))
    assert deaf["cluster"]["leader"] != before["cluster"]["leader"]
    assert after["cluster"]["leader"] != deaf["cluster"]["leader"]


@pytest.mark.services
@needs_cluster
async def test_a_source_that_was_heard_is_waited_for(tmp_path: Path) -> None:
    """It is heard again by itself; a new leader would ask others that are not led yet."""
    async with cluster(tmp_path) as made, made.client() as client:
        await migrate(client, 3)
        await open_intake(client)
        before = await once(client, lambda info: not silent(info))

        await insist(client, f"$JS.API.CONSUMER.DELETE.{BOX}.{LOG.name}", {})
        await once(client, lambda info: names(silent(info)) == [BOX])
        missed = await look(client, LOG.name, Looked())
        assert missed.missing == {BOX}
        (segment,) = (await segments_of(client))[0].open
        await have_consumers(client, segment)
        assert not (await look(client, LOG.name, missed)).tried, "it was replaced"
        after = await once(client, lambda info: not silent(info))
    assert after["cluster"]["leader"] == before["cluster"]["leader"]


def names(sources: Sequence[Silent]) -> list[str]:
    """How they are called."""
    return [each.name for each in sources]


async def once(
    client: BrokerClient, is_so: Callable[[Mapping[str, Any]], bool]
) -> dict[str, Any]:
    """What the broker tells of the log, once it is so."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = await insist(client, f"$JS.API.STREAM.INFO.{LOG.name}", {})
            if is_so(found):
                return found
            await asyncio.sleep(0.1)
