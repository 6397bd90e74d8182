"""Streams are made once, as they must be, and what differs stops the program."""

from dataclasses import replace
from pathlib import Path

import pytest

from schemas.values.subjects import partition_of
from streams.errors import TopologyDrift
from streams.jetstream.migrate import (
    check,
    close_intake,
    epoch_of,
    migrate,
    open_intake,
)
from streams.jetstream.read import JetStreamReader
from streams.topology import LOG, STREAMS, configuration, differences
from tests.servers import Broker, fresh_server

pytestmark = pytest.mark.services


async def test_a_second_migration_changes_nothing(broker: Broker) -> None:
    """The epoch is drawn once and stays."""
    assert await migrate(broker.client) == broker.reader.epoch
    assert await check(broker.client) == broker.reader.epoch
    assert await epoch_of(broker.client) == broker.reader.epoch


async def test_missing_streams_are_named() -> None:
    """Without a migration the check names every stream, and what to do."""
    async with fresh_server() as server:
        client = await server.connect()
        try:
            with pytest.raises(TopologyDrift, match="run the migration") as missing:
                await check(client)
            with pytest.raises(TopologyDrift, match="migrate first"):
                await epoch_of(client)
        finally:
            await client.close()

    assert all(repr(spec.name) in str(missing.value) for spec in STREAMS)


async def test_every_differing_field_is_named(broker: Broker) -> None:
    """The error holds stream, field, live value and expected value, of all at once."""
    jetstream = broker.client.jetstream()
    log = (await jetstream.stream_info("LOG")).config
    await jetstream.update_stream(replace(log, max_age=3600, allow_msg_ttl=True))
    box = (await jetstream.stream_info("IN")).config
    await jetstream.update_stream(replace(box, max_msg_size=1000))

    with pytest.raises(TopologyDrift) as drift:
        await migrate(broker.client)

    said = str(drift.value)
    assert "LOG.max_age is 3600000000000, expected 0" in said
    assert "LOG.allow_msg_ttl is True, expected None" in said
    assert "IN.max_msg_size is 1000, expected 60000" in said
    assert "nats stream edit" in said


async def test_the_log_refuses_to_be_changed(broker: Broker) -> None:
    """No message can be deleted, and nothing purged, with any right."""
    jetstream = broker.client.jetstream()
    await broker.client.request("in.ada.cam.x", b"{}")

    with pytest.raises(Exception, match="10057"):
        await jetstream.delete_msg("LOG", 1)
    with pytest.raises(Exception, match="10110"):
        await jetstream.purge_stream("LOG")


def test_the_operators_fields_are_free() -> None:
    """Replicas, placement, metadata and words are no drift; all else is."""
    expected = configuration(LOG)
    free = {"placement": {"cluster": "x"}, "description": "of an older version"}
    live = configuration(LOG, replicas=3) | free

    assert differences(expected, live) == ()
    assert differences(expected, live | {"sealed": True}) == (("sealed", True, None),)


def test_only_one_replica_may_be_compressed() -> None:
    """A killed node damages the compressed blocks of its copy when it cuts it back."""
    alone, kept_by_three = configuration(LOG), configuration(LOG, 3)

    assert (alone["compression"], kept_by_three["compression"]) == ("s2", "none")
    assert differences(alone, kept_by_three) == ()
    compressed = kept_by_three | {"compression": "s2"}
    assert differences(kept_by_three, compressed) == (("compression", "s2", "none"),)


async def test_the_broker_hashes_agents_as_we_do(broker: Broker) -> None:
    """The partition of an agent is the same whoever computes it."""
    agents = [f"agent-{n}" for n in range(40)]
    for agent in agents:
        await broker.client.publish(f"in.{agent}.s.t", b"{}")
    found: list[str] = []
    async for page in broker.reader.follow("ev.*.in.>", 0, 100):
        found.extend(record.subject for record in page)
        if len(found) == len(agents):
            break

    assert sorted(found) == sorted(
        f"ev.{partition_of(agent)}.in.{agent}.sensor.s.t" for agent in agents
    )


async def test_a_fresh_log_takes_nothing_until_it_is_opened() -> None:
    """What sensors send waits, and comes once, in order, however often it is closed."""
    async with fresh_server() as server:
        client = await server.connect()
        try:
            reader = JetStreamReader(client, await migrate(client))
            with pytest.raises(TopologyDrift, match="LOG takes nothing from IN"):
                await check(client)
            jetstream = client.jetstream()
            for number in range(60):
                headers = {"ce-id": str(number)}
                await jetstream.publish("in.ada.cam.seen", b"x", headers=headers)
                if number % 20 == 10:
                    assert number > 10 or await reader.last_sequence("ev.>") == 0
                    await open_intake(client)
                    await open_intake(client)
                if number % 20 == 15:
                    await close_intake(client)
            await open_intake(client)
            assert await check(client) == reader.epoch
            found: list[str] = []
            async for page in reader.follow("ev.*.in.>", 0, 100):
                found.extend(record.headers["ce-id"] for record in page)
                if len(found) >= 60:
                    break
        finally:
            await client.close()

    assert found == [str(number) for number in range(60)]


async def test_no_log_is_begun_in_place_of_one_that_is_gone(broker: Broker) -> None:
    """A server that passed over the log's stream at its start is not taken for a new one."""
    await broker.server.stop()
    lose_log(broker.server._folder)
    await broker.server.start()

    with pytest.raises(TopologyDrift, match="No other log is begun in its place"):
        await migrate(broker.client)


def lose_log(server: Path) -> None:
    """Move the stream of the log out of a server's store."""
    (stream,) = server.glob(f"jetstream/jetstream/*/streams/{LOG.name}")
    stream.rename(server / "aside")
