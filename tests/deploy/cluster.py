"""Three brokers on loopback from exactly the files of `deploy/nats`."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import urllib.request
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import permutations
from pathlib import Path
from typing import TypeVar

from echoic.client.connection import credentials_of
from echoic.client.sensor_access import accounts, sensor_credentials
from echoic.config.load import Settings, load
from streams.broker.server import server_binary
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import BrokerClient
from tests.deploy.links import BACK, THERE, Link
from tests.ports import free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
PASSWORD = "a password: @ /"  # each of these letters means something in a URL
START_S = 120.0
"""How long a node may take, on a machine that does other things."""

Sensors = Sequence[tuple[str, str]]
"""Agents and sources that have accounts."""


class Node:
    """One broker, and the environment that tells it from the others."""

    def __init__(self, folder: Path, number: int, routes: Sequence[int]) -> None:
        self.port, self.monitor = free_port(), free_port()
        self.reached = self.port
        """The port at which clients are told to find it."""
        self.name = f"nats-{number}"
        self.environment = {
            "NATS_NAME": self.name,
            "NATS_LISTEN": f"127.0.0.1:{self.port}",
            "NATS_ADVERTISE": f"localhost:{self.port}",
            "NATS_MONITOR": f"127.0.0.1:{self.monitor}",
            "NATS_ROUTE_LISTEN": f"127.0.0.1:{routes[number]}",
            "NATS_ROUTE_ADVERTISE": f"localhost:{routes[number]}",
            "NATS_ROUTES": f"[{', '.join(f'nats://localhost:{p}' for p in routes)}]",
            "NATS_STORE": str(folder / self.name),
            "NATS_STORE_MAX": "1GB",
            "NATS_TLS_CA": str(folder / "ca.pem"),
            "NATS_TLS_CERT": str(folder / "node.pem"),
            "NATS_TLS_KEY": str(folder / "node-key.pem"),
        }
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def check(self) -> "subprocess.CompletedProcess[str]":
        """What nats-server says of its configuration."""
        return subprocess.run(
            [*self._command(), "-t"],
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self) -> None:
        """Start it; `healthy` waits for it."""
        with (self._folder / f"{self.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                env={**os.environ, **self.environment},
                stdout=log,
                stderr=log,
            )

    def stop(self, number: signal.Signals) -> None:
        """End it by a signal, if it runs."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(60)
            self._process = None

    def reload(self) -> None:
        """Have it read its accounts again."""
        self.signal(signal.SIGHUP)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal; it has to run."""
        assert self._process is not None
        self._process.send_signal(number)

    async def healthy(self) -> None:
        """Wait until the probe of the manifests is answered."""
        async with asyncio.timeout(START_S):
            while not await asyncio.to_thread(self._answers):  # noqa: ASYNC110
                await asyncio.sleep(0.1)

    def said(self) -> str:
        """The whole of its log."""
        return (self._folder / f"{self.name}.log").read_text()

    def _command(self) -> list[str]:
        return [str(server_binary()), "--config", str(self._folder / "nats.conf")]

    def _answers(self) -> bool:
        address = f"http://127.0.0.1:{self.monitor}/healthz"
        try:
            with urllib.request.urlopen(address, timeout=2) as answer:
                return bool(json.load(answer)["status"] == "ok")
        except OSError:
            return False


class Cluster:
    """Three nodes, the folder with their files, and how an instance reaches them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        routes = [free_port() for _ in range(3)]
        self.nodes = [Node(folder, number, routes) for number in range(3)]

    @property
    def variables(self) -> dict[str, str]:
        """The environment of an instance over it."""
        hosts = ",".join(f"localhost:{node.reached}" for node in self.nodes)
        secret = self.folder / "nats_url"
        quoted = "a%20password%3A%20%40%20%2F"
        secret.write_text(f"tls://echoic:{quoted}@{hosts}\n")
        return {
            "NATS_URL_FILE": str(secret),
            "ECHOIC_NATS_CA": str(self.folder / "ca.pem"),
            "ECHOIC_NATS_REPLICAS": "3",
        }

    @property
    def settings(self) -> Settings:
        """The settings of an instance over it."""
        data = {"data": str(self.data)}
        return load(data, environment=self.variables, folder=self.folder)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[BrokerClient]:
        """Connect to it with all rights, for the length of the block."""
        async with connected(credentials_of(self.settings)) as client:
            yield client

    async def prepare(self, sensors: Sensors = ()) -> None:
        """Lay out the files of the repository, and those that are made for them."""
        shutil.copy(DEPLOY / "nats" / "nats.conf", self.folder)
        made = subprocess.run(  # noqa: ASYNC221  # it takes some milliseconds
            ["sh", DEPLOY / "nats" / "certificates.sh", self.folder, "nats-0"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        await self.give_accounts(sensors)

    async def give_accounts(self, sensors: Sensors) -> None:
        """Write the accounts of Echoic and of sensors."""
        settings = self.settings
        for agent, source in sensors:
            await sensor_credentials(settings, agent, source)
        (self.folder / "accounts.conf").write_text(accounts(settings))

    async def healthy(self) -> None:
        """Wait until every node that runs has caught up with the others."""
        await asyncio.gather(*(node.healthy() for node in self.nodes))


C = TypeVar("C", bound=Cluster)


@asynccontextmanager
async def cluster(folder: Path, sensors: Sensors = ()) -> AsyncIterator[Cluster]:
    """Run three nodes for the length of the block."""
    async with running(Cluster(folder), sensors) as made:
        yield made


@asynccontextmanager
async def running(made: C, sensors: Sensors = ()) -> AsyncIterator[C]:
    """Run the nodes of a cluster for the length of the block."""
    await made.prepare(sensors)
    try:
        for node in made.nodes:
            node.start()
        await made.healthy()
        yield made
    finally:
        for node in made.nodes:
            # One that is stopped by SIGSTOP ends by this as well.
            node.stop(signal.SIGKILL)


class LinkedCluster(Cluster):
    """Three nodes whose ways to each other, and from clients to them, can be cut."""

    def __init__(self, folder: Path) -> None:
        """Lead each node's ways to the others, and its clients', through links."""
        super().__init__(folder)
        routes = [
            int(node.environment["NATS_ROUTE_LISTEN"].rpartition(":")[2])
            for node in self.nodes
        ]
        self.ways = {
            (one, other): Link(free_port(), routes[other])
            for one, other in permutations(range(3), 2)
        }
        self.doors = [Link(free_port(), node.port) for node in self.nodes]
        nowhere = free_port()
        for number, (node, door) in enumerate(zip(self.nodes, self.doors, strict=True)):
            own = [way for (one, _), way in self.ways.items() if one == number]
            node.reached = door.port
            node.environment |= {
                "NATS_ADVERTISE": f"localhost:{door.port}",
                # Nodes tell each other where to find a third: nowhere beside the links.
                "NATS_ROUTE_ADVERTISE": f"localhost:{nowhere}",
                "NATS_ROUTES": f"[{', '.join(f'nats://localhost:{w.port}' for w in own)}]",
            }

    def cut(self, number: int) -> None:
        """Let nothing pass between a node and the other two; its clients still reach it."""
        for way in self._of(number):
            way.cut()

    def silence(self, number: int) -> None:
        """Let nothing pass from a node to the other two; it hears them."""
        for (one, other), way in self.ways.items():
            if number in (one, other):
                way.cut(THERE if one == number else BACK)

    def slow(self, number: int, delay_s: float) -> None:
        """Delay each piece between a node and the other two."""
        for way in self._of(number):
            way.delay_s = delay_s

    def heal(self) -> None:
        """Let everything pass again."""
        for link in (*self.ways.values(), *self.doors):
            link.heal()

    def _of(self, number: int) -> Iterator[Link]:
        return (way for ends, way in self.ways.items() if number in ends)


@asynccontextmanager
async def linked_cluster(
    folder: Path, sensors: Sensors = ()
) -> AsyncIterator[LinkedCluster]:
    """Run three nodes and the links between them for the length of the block."""
    made = LinkedCluster(folder)
    async with AsyncExitStack() as stack:
        for link in (*made.ways.values(), *made.doors):
            await stack.enter_async_context(link.listening())
        yield await stack.enter_async_context(running(made, sensors))


def settings_in(variables: Iterable[str]) -> set[str]:
    """The names of variables that are Echoic's own, secrets without `_FILE`."""
    return {name.removesuffix("_FILE") for name in variables}
