"""Play the demo's game for hours over a cluster of three that loses a node.

    python -m bench.cluster [--minutes 60] [--agents 4]

Three brokers run from `deploy/nats`, with TLS, accounts and three replicas; worker and
projector are two `echoic up`, over a PostgreSQL that is nobody's own. The recorded evening
is played again and again, its times shifted, as fast as its events are acknowledged. At
half of them the node that leads the log is killed, and started again at three quarters. In
the end every event is counted where it should be; the exit code is 1 if one is not.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.hours import PATIENCE_S, SOURCE, Sent, hours, play
from bench.open_loop import DECIDED
from echoic.client.connection import Connection, connect
from echoic.client.playback import PlayedEvent
from echoic.client.watch import last_answered
from echoic.config.load import load
from echoic.packs import bundled
from echoic.run.process import prepare
from projections.postgres.server import embedded_postgres
from schemas.values.subjects import inputs_of, partition_of
from streams.errors import LogUnavailable
from streams.jetstream.connection import call
from streams.log import scan
from streams.topology import LOG, STREAMS
from tests.deploy.cluster import Cluster, Node, cluster

ROOT = Path(__file__).parents[1]
EVENTS = "ev.*.in.*.sensor.>"
PROOFS = (
    ("log", "verify", "--full"),
    ("replay", "verify", "--all-agents"),
    ("projection", "rebuild", "--verify"),
)
"""The commands that must find nothing, once all is answered."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Where every event was found."""

    sent: Sent
    killed: str
    """The node that was killed."""
    lost: int
    """Acknowledged events that the log does not have."""
    stored_twice: int
    """Events sent again although they were stored: the mind refuses the second."""
    undecided: int
    decided_twice: int
    log: Mapping[str, int]
    """By node: how many messages of the log it has on its own disk."""
    proofs: Mapping[str, int]
    """The exit code of each of `PROOFS`."""
    waited_s: float
    """How long after the last acknowledgement the log had all."""

    @property
    def is_sound(self) -> bool:
        """Whether everything is there, once, on every node."""
        faults = (self.lost, self.undecided, self.decided_twice)
        return not any(faults) and is_same(self.log) and not any(self.proofs.values())

    def as_fields(self) -> dict[str, object]:
        """Return everything for JSON."""
        return {
            "events": len(self.sent.events),
            "votes": self.sent.votes,
            "sent_again": self.sent.sent_again,
            "longest_acknowledgement_s": round(self.sent.longest_s, 1),
            "arrived_after_s": round(self.waited_s, 1),
            "killed": self.killed,
            "lost": self.lost,
            "stored_twice": self.stored_twice,
            "undecided": self.undecided,
            "decided_twice": self.decided_twice,
            "log": self.log,
            "proofs": self.proofs,
            "is_sound": self.is_sound,
        }


class Programs:
    """`echoic` as people run it, over the cluster."""

    def __init__(self, made: Cluster, database_url: str) -> None:
        """Take what the environment of each command names."""
        own = {
            "DATABASE_URL": database_url,
            "OTEL_TRACES_EXPORTER": "none",
            "ECHOIC_METRICS_LISTEN": "off",
            # No limit: an hour is played in a minute or two.
            "ECHOIC_INTAKE_RATE": "0",
            # Nor any pause between responses, which would be counted as silence.
            "ECHOIC_COOLDOWN_S": "0",
            "ECHOIC_HEURISTIC_COOLDOWN_S": "0",
        }
        self.variables = made.variables | own
        self._data = made.data

    def run(
        self, *arguments: str, part: str = "worker", output: int | None = None
    ) -> int:
        """Run a command to its end and return its exit code; it prints as it does."""
        own = {
            "ECHOIC_DATA": str(self._folder(part)),
            "ECHOIC_PARTS": part,
            "PYTHONPATH": str(ROOT),
        }
        ran = subprocess.run(
            [sys.executable, "-m", "echoic", *arguments],
            env={**os.environ, **self.variables, **own},
            # Neither settings nor packs of whoever calls it.
            cwd=self._data.parent,
            stdout=output or sys.stderr,
            stderr=output,
            check=False,
        )
        return ran.returncode

    async def succeeds(self, *arguments: str) -> bool:
        """Tell whether a command finds nothing wrong; nothing of it is shown."""
        silent = partial(self.run, *arguments, output=subprocess.DEVNULL)
        return not await asyncio.to_thread(silent)

    def _folder(self, part: str) -> Path:
        # The sensors' accounts are in the worker's.
        return self._data if part == "worker" else self._data.with_name(part)

    @asynccontextmanager
    async def up(self, part: str, *arguments: str) -> AsyncIterator[None]:
        """Keep a part up for the length of the block."""
        if await asyncio.to_thread(self.run, "up", "--detach", *arguments, part=part):
            raise RuntimeError(f"{part} does not start")
        try:
            yield
        finally:
            await asyncio.to_thread(self.run, "down", part=part)


async def measured(folder: Path, minutes: float, agents: int) -> Counts:
    """Play so many minutes for each agent, lose a node and take it back, and count."""
    names = [f"companion-{number}" for number in range(agents)]
    async with AsyncExitStack() as stack:
        elsewhere = embedded_postgres(folder / "elsewhere")
        database = await stack.enter_async_context(elsewhere)
        sensors = [(name, SOURCE) for name in names]
        made = await stack.enter_async_context(cluster(folder, sensors))
        programs = Programs(made, database.url)
        survival = ("--pack", str(bundled.PACKS / "survival"))
        await stack.enter_async_context(programs.up("worker", *survival))
        await stack.enter_async_context(programs.up("projector"))
        data = {"data": str(made.data)}
        settings = load(data, environment=programs.variables, folder=folder)
        connection = await stack.enter_async_context(connect(settings))
        await _check_replicas(connection)
        sent, killed = await _played(connection, made, names, minutes)
        say(
            "all is sent; it is answered, and then proved by the program's own commands"
        )
        await made.healthy()
        waited_s = await until(lambda: has_arrived(connection, sent.events))
        await until(lambda: is_answered(connection, names))
        await until(lambda: programs.succeeds("projection", "lag"))
        proofs = {
            " ".join(each): await asyncio.to_thread(programs.run, *each)
            for each in PROOFS
        }
        return await _counted(connection, made, sent, killed.name, proofs, waited_s)


async def _check_replicas(connection: Connection) -> None:
    """Make sure that each stream is kept by three nodes."""
    for spec in STREAMS:
        found = await call(connection.client, f"$JS.API.STREAM.INFO.{spec.name}", {})
        assert found["config"]["num_replicas"] == 3, spec.name


async def _played(
    connection: Connection, made: Cluster, names: Sequence[str], minutes: float
) -> tuple[Sent, Node]:
    """Play for all agents at once; kill a node meanwhile, and start it again."""
    whole = sum(
        isinstance(each, PlayedEvent) for name in names for each in hours(name, minutes)
    )
    say(f"{whole:,} events: {minutes:g} minutes for each of {len(names)} agents")
    sent = Sent()
    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(play(connection, name, minutes, sent))
        await _has_sent(sent, whole // 2)
        leader = await _leader(connection)
        (lost,) = (node for node in made.nodes if node.name == leader)
        await asyncio.to_thread(lost.stop, signal.SIGKILL)
        say(f"{lost.name} led the log: killed after {len(sent.events):,}")
        await _has_sent(sent, whole * 3 // 4)
        lost.start()
        say(f"{lost.name} started again after {len(sent.events):,}")
    return sent, lost


async def _has_sent(sent: Sent, count: int) -> None:
    while len(sent.events) < count:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def _leader(connection: Connection) -> str:
    info = await call(connection.client, f"$JS.API.STREAM.INFO.{LOG.name}", {})
    return str(info["cluster"]["leader"])


async def has_arrived(connection: Connection, ids: Sequence[str]) -> bool:
    """Whether the log has all of these events: sensors' streams hand them on to it."""
    request = {"subjects_filter": EVENTS}
    info = await call(connection.client, f"$JS.API.STREAM.INFO.{LOG.name}", request)
    # Some of them may be in it twice, so that their number alone does not tell.
    has_enough = sum(info["state"].get("subjects", {}).values()) >= len(ids)
    return has_enough and (await _by(connection, EVENTS, "ce-id")).keys() >= {*ids}


async def _by(connection: Connection, subjects: str, header: str) -> Counter[str]:
    """Count the log's messages by a header."""
    found = scan(connection.log, subjects, 0)
    return Counter([each.headers[header] async for each in found])


async def is_answered(connection: Connection, names: Sequence[str]) -> bool:
    """Whether the last input of each agent's partition is answered."""
    for place in {partition_of(name) for name in names}:
        last = await connection.log.last_sequence(inputs_of(place))
        if await last_answered(connection.log, place) < last:
            return False
    return True


async def _counted(
    connection: Connection,
    made: Cluster,
    sent: Sent,
    killed: str,
    proofs: Mapping[str, int],
    waited_s: float,
) -> Counts:
    """Count what the log has of what was acknowledged, and what each node has of it."""
    stored = await _by(connection, EVENTS, "ce-id")
    decided = await _by(connection, DECIDED, "ce-causeid")
    held: dict[str, int] = {}

    async def is_everywhere() -> bool:
        held.update({node.name: _messages(node) for node in made.nodes})
        return is_same(held)

    await until(is_everywhere)
    return Counts(
        sent=sent,
        killed=killed,
        lost=sum(stored[id_] < 1 for id_ in sent.events),
        stored_twice=sum(count > 1 for count in stored.values()),
        undecided=sum(decided[id_] < 1 for id_ in sent.events),
        decided_twice=sum(count > 1 for count in decided.values()),
        log=held,
        proofs=proofs,
        waited_s=waited_s,
    )


def is_same(log: Mapping[str, int]) -> bool:
    """Whether three nodes have equally many messages."""
    return len(log) == 3 and len(set(log.values())) == 1


def _messages(node: Node) -> int:
    """Ask a node how many messages of the log are on its own disk; -1: it has none."""
    address = f"http://127.0.0.1:{node.monitor}/jsz?accounts=true&streams=true"
    with urllib.request.urlopen(address, timeout=10) as answer:
        accounts = json.load(answer)["account_details"]
    for stream in (each for one in accounts for each in one.get("stream_detail", ())):
        if stream["name"] == LOG.name:
            return int(stream["state"]["messages"])
    return -1


async def until(look: Callable[[], Awaitable[bool]]) -> float:
    """Wait until it holds, at most `PATIENCE_S`; return for how many seconds."""
    begun = time.monotonic()
    while time.monotonic() - begun <= PATIENCE_S:
        # The node that was lost may be the one we are connected to.
        with suppress(LogUnavailable):
            if await look():
                break
        await asyncio.sleep(0.5)
    return time.monotonic() - begun


def say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> int:
    """Play, print the counts, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.cluster", description=__doc__
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--agents", type=int, default=4)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="echoic-cluster-") as folder:
        found = asyncio.run(measured(Path(folder), given.minutes, given.agents))
    print(json.dumps(found.as_fields(), indent=2))
    return 0 if found.is_sound else 1


if __name__ == "__main__":
    prepare()
    sys.exit(main())
