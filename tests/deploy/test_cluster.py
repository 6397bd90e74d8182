"""Echoic on a cluster of three, made of exactly the files in `deploy/`."""

import asyncio
import os
import shutil
import signal
import ssl
import subprocess
import sys
from pathlib import Path

import nats
import pytest
from nats.errors import Error as NatsError

from echoic.client import verify_log
from echoic.client.connection import connect
from echoic.config.load import load
from echoic.run.instance import Instance
from echoic.run.projector_alone import projector_alone
from projections.postgres.server import embedded_postgres
from projections.store.store import Store
from streams.errors import LogUnavailable
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import call, connected
from streams.topology import STREAMS
from tests.deploy.cluster import Cluster, cluster
from tests.e2e.companion import GAME, Companion, companion
from tests.e2e.conftest import running_instance
from tests.patience import PATIENCE_S
from tests.servers import fresh_server

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here"),
]


async def test_the_broker_takes_the_configuration(tmp_path: Path) -> None:
    """`nats-server -t` finds nothing wrong, with the accounts of two sensors."""
    made = Cluster(tmp_path)
    await made.prepare([("ada", "door"), ("bob", "game")])

    checked = made.nodes[0].check()

    assert checked.returncode == 0, checked.stderr
    written = (tmp_path / "accounts.conf").read_text()
    assert written.count("$2a$10$") == 3
    assert "password: @" not in written
    assert '"SENSOR.ada.door"' in written


async def test_a_node_that_lacks_a_variable_does_not_start(tmp_path: Path) -> None:
    """Its name is said, so that nobody has to search."""
    made = Cluster(tmp_path)
    await made.prepare()
    del made.nodes[0].environment["NATS_STORE_MAX"]

    checked = made.nodes[0].check()

    assert checked.returncode != 0
    assert "NATS_STORE_MAX" in checked.stderr


@pytest.mark.slow
async def test_a_node_is_lost_and_comes_back(tmp_path: Path) -> None:
    """What was sent meanwhile is answered, projected, and kept by all three; the log is
    sound. Worker and projector run apart, over a database that is nobody's own."""
    sensors = [("ada", GAME), ("ada", "desk")]
    async with (
        embedded_postgres(tmp_path / "elsewhere", durable=False) as database,
        cluster(tmp_path, sensors) as made,
    ):
        variables = made.variables | {"DATABASE_URL": database.url}
        data = {"data": str(tmp_path / "projector")}
        settings = load(data, environment=variables, folder=tmp_path)
        alone = variables | {"ECHOIC_PARTS": "worker"}
        async with (
            running_instance(made.data, alone) as live,
            projector_alone(settings, print),
            companion(live, "ada") as ada,
        ):
            assert (await replicas(live)) == {3}
            assert await asyncio.to_thread(desk, made, "ada") == 0
            assert await live.log.last_sequence(
                f"ev.{ada.partition}.in.ada.sensor.desk.>"
            )
            await ada.senses("Player health is low", fields={"health": 1})
            leader = await leader_of(live, "LOG")
            (lost,) = (node for node in made.nodes if node.name == leader)

            lost.stop(signal.SIGKILL)
            events = [await published(ada, number) for number in range(20)]
            for event in events:
                await ada.decided(event)
            lost.start()
            await made.healthy()
            await ada.senses("Player health is low", fields={"health": 1})

            await eventually(lambda: is_projected(live, database.url, ada.partition))
            await eventually(lambda: all_follow(live))
            async with connect(live.settings) as connection:
                found = await verify_log.verify(
                    connection.log, made.data, lambda _: None, full=True
                )
            assert found.is_sound, found.counts()


async def test_only_the_authority_is_trusted(tmp_path: Path) -> None:
    """A broker whose certificate another signed gets no password; nor one without TLS."""
    async with cluster(tmp_path) as made:
        host = f"localhost:{made.nodes[0].port}"
        stranger = Credentials(f"tls://{host}", "echoic", "secret")
        with pytest.raises(LogUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            async with connected(stranger):
                raise AssertionError("it connected")

    async with fresh_server() as plain:
        core = plain.core
        address = core.url.replace("nats://", "tls://")
        with pytest.raises(LogUnavailable, match=r"secure|SecureConn"):
            async with connected(Credentials(address, core.user, core.password)):
                raise AssertionError("it connected")


async def test_a_sensor_comes_by_a_reload(tmp_path: Path) -> None:
    """New accounts are taken by a running cluster, and only with their own password."""
    async with cluster(tmp_path) as made:
        await made.give_accounts([("ada", "door")])
        for node in made.nodes:
            node.reload()
        from echoic.client.sensor_access import sensor_credentials

        access = await sensor_credentials(made.settings, "ada", "door")
        context = ssl.create_default_context(cafile=access.ca)

        async with asyncio.timeout(PATIENCE_S):
            while not await lets_in(access, context):  # noqa: ASYNC110
                await asyncio.sleep(0.1)

        wrong = Credentials(access.url, access.user, "wrong", ca=access.ca)
        assert not await lets_in(wrong, context)


async def lets_in(access: Credentials, context: ssl.SSLContext) -> bool:
    """Whether a broker takes these credentials."""
    try:
        client = await nats.connect(
            access.servers[0], user=access.user, password=access.password, tls=context,
            allow_reconnect=False,
        )  # fmt: skip
    except NatsError:
        return False
    await client.close()
    return True


def desk(made: Cluster, agent: str) -> int:
    """Run the sensor of the machine once, by TLS as any other; return its exit code."""
    own = {"ECHOIC_DATA": str(made.data), "ECHOIC_AGENT": agent}
    ran = subprocess.run(
        [sys.executable, "-m", "echoic", "sensor", "desk", "--count", "1"],
        env={**os.environ, **made.variables, **own},
        timeout=PATIENCE_S,
        check=False,
    )
    return ran.returncode


async def published(ada: Companion, number: int) -> str:
    """Send an event, again until it is stored: a broker may just have died."""
    id_ = f"018f0000-0000-7000-8000-{number:012d}"
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await ada.publish("Player health is low", id_=id_)
            except (NatsError, LogUnavailable, TimeoutError):
                await asyncio.sleep(0.2)


async def replicas(live: Instance) -> set[int]:
    """On how many nodes the streams are kept."""
    found = [
        await call(live.client, f"$JS.API.STREAM.INFO.{spec.name}", {})
        for spec in STREAMS
    ]
    return {each["config"]["num_replicas"] for each in found}


async def leader_of(live: Instance, stream: str) -> str:
    """The node that leads a stream."""
    info = await call(live.client, f"$JS.API.STREAM.INFO.{stream}", {})
    return str(info["cluster"]["leader"])


async def all_follow(live: Instance) -> bool:
    """Whether the log's other two nodes have all of it."""
    info = await call(live.client, "$JS.API.STREAM.INFO.LOG", {})
    others = info["cluster"]["replicas"]
    return len(others) == 2 and all(each["current"] for each in others)


async def is_projected(live: Instance, url: str, partition: int) -> bool:
    """Whether the tables stand at the last answered input."""
    from echoic.client.watch import last_answered

    answered = await last_answered(live.log, partition)
    with Store(url) as store:
        position = store.positions(store.serving().number).get(partition)
    return position is not None and position.sequence == answered


async def eventually(look) -> None:
    """Wait until it holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not await look():  # noqa: ASYNC110
            await asyncio.sleep(0.2)
