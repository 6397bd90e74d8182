"""Break a cluster of three in each of the ways it can break, under load, and count.

    python -m bench.cluster_faults [--scenario NAME ...] [--seed N] [--agents 4]
        [--lasts SECONDS]

Three brokers run from `deploy/nats`, with TLS, accounts and three replicas; their ways to
each other and to clients lead through links that can be cut. Worker and projector are two
`echoic up`. Several agents are told events and votes, each until it is acknowledged. The node
that leads the log is the one the worker is connected to, which is the worst case. After each
fault everything is counted and proved; the exit code is 1 if something is amiss.
"""

import argparse
import asyncio
import json
import random
import signal
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.cluster import PROOFS, Programs, has_arrived, is_answered, say, until
from bench.hours import Sent
from bench.insisting import SOURCE, Found, Told, found, tell
from echoic.client.connection import Connection, connect
from echoic.config.load import load
from echoic.packs import bundled
from echoic.run.process import prepare
from projections.postgres.server import embedded_postgres
from streams.errors import LogUnavailable
from streams.jetstream.connection import call
from streams.topology import LOG
from tests.deploy.cluster import LinkedCluster, linked_cluster

BEFORE_S = (2.0, 4.0)
"""A fault begins after so many seconds of load, between these."""
LASTS_S = (20.0, 30.0)
"""So long it lasts: several times an election, so that being healed is not what helps."""
AFTER_S = 6.0
CATCH_UP_S = 300.0
"""A node that was cut off may take minutes until it has all of the log."""
LOOK_S = 0.5
PAUSE_S = 0.1
"""Between two events of one agent."""
SLOW_S = 0.1
"""By how much each piece is delayed on a slow way."""


@dataclass(frozen=True, slots=True)
class Field:
    """A cluster, which node of it leads the log, and how long a fault lasts."""

    made: LinkedCluster
    leader: int
    lasts_s: float

    @property
    def follower(self) -> int:
        """A node that does not lead the log."""
        return (self.leader + 1) % 3


async def leader_killed(field: Field) -> None:
    """SIGKILL the leader, and start it again."""
    node = field.made.nodes[field.leader]
    await asyncio.to_thread(node.stop, signal.SIGKILL)
    await asyncio.sleep(field.lasts_s)
    node.start()
    await node.healthy()


async def leader_cut_off(field: Field) -> None:
    """Cut the leader off from the other two; clients still reach it."""
    field.made.cut(field.leader)
    await asyncio.sleep(field.lasts_s)
    field.made.heal()


async def leader_unreachable(field: Field) -> None:
    """Cut the leader off from the other two and from its clients."""
    field.made.cut(field.leader)
    field.made.doors[field.leader].cut()
    await asyncio.sleep(field.lasts_s)
    field.made.heal()


async def leader_mute(field: Field) -> None:
    """Lose what the leader sends to the other two; it hears them."""
    field.made.silence(field.leader)
    await asyncio.sleep(field.lasts_s)
    field.made.heal()


async def leader_stopped(field: Field) -> None:
    """SIGSTOP the leader, and let it go on."""
    node = field.made.nodes[field.leader]
    node.signal(signal.SIGSTOP)
    await asyncio.sleep(field.lasts_s)
    node.signal(signal.SIGCONT)


async def follower_cut_off(field: Field) -> None:
    """Cut a follower off from the other two; clients still reach it."""
    field.made.cut(field.follower)
    await asyncio.sleep(field.lasts_s)
    field.made.heal()


async def leader_slow(field: Field) -> None:
    """Delay everything between the leader and the other two."""
    field.made.slow(field.leader, SLOW_S)
    await asyncio.sleep(field.lasts_s)
    field.made.heal()


async def rolling_restart(field: Field) -> None:
    """End and start one node after the other, each once the one before is healthy."""
    for node in field.made.nodes:
        await asyncio.to_thread(node.stop, signal.SIGTERM)
        node.start()
        await field.made.healthy()


SCENARIOS: dict[str, Callable[[Field], Awaitable[None]]] = {
    each.__name__: each
    for each in (
        leader_killed,
        leader_cut_off,
        leader_unreachable,
        leader_mute,
        leader_stopped,
        leader_slow,
        follower_cut_off,
        rolling_restart,
    )
}


async def measured(
    folder: Path,
    names: Sequence[str],
    seed: int,
    agents: int,
    *,
    lasts_s: tuple[float, float] = LASTS_S,
) -> dict[str, dict[str, object]]:
    """Run scenarios one after the other over one cluster; return the counts of each."""
    moments = random.Random(seed)  # moments, not secrets
    told = Told({f"companion-{number}": [] for number in range(agents)})
    async with AsyncExitStack() as stack:
        elsewhere = embedded_postgres(folder / "elsewhere")
        database = await stack.enter_async_context(elsewhere)
        sensors = [(agent, SOURCE) for agent in told.events]
        made = await stack.enter_async_context(linked_cluster(folder, sensors))
        programs = Programs(made, database.url)
        survival = ("--pack", str(bundled.PACKS / "survival"))
        await stack.enter_async_context(programs.up("worker", *survival))
        await stack.enter_async_context(programs.up("projector"))
        settings = load(
            {"data": str(made.data)}, environment=programs.variables, folder=folder
        )
        connection = await stack.enter_async_context(connect(settings))
        counts = {}
        for name in names:
            began_ns, told.sent = time.time_ns(), Sent()
            leader = await lead_where_the_worker_is(connection, made)
            say(f"{name}: {made.nodes[leader].name} leads the log and has the worker")
            field = Field(made, leader, moments.uniform(*lasts_s))
            await _under_load(connection, told, moments, SCENARIOS[name](field))
            await made.healthy()
            seen = await settled(connection, told, began_ns)
            proofs = await _proved(programs)
            is_sound = seen.is_sound and not any(proofs.values())
            counts[name] = {
                **_told(told), **_rounded(seen), **proofs, "is_sound": is_sound
            }  # fmt: skip
            say(json.dumps(counts[name]))
        return counts


async def _under_load(
    connection: Connection, told: Told, moments: random.Random, fault: Awaitable[None]
) -> None:
    end = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(tell(connection, told, PAUSE_S, end))
        await asyncio.sleep(moments.uniform(*BEFORE_S))
        await fault
        await asyncio.sleep(AFTER_S)
        end.set()


async def settled(connection: Connection, told: Told, since_ns: int = 0) -> Found:
    """Wait until all is in the log and answered, and count."""
    await until(lambda: has_arrived(connection, told.ids))
    await until(lambda: is_answered(connection, [*told.events]))
    return await found(connection.log, told, since_ns)


async def _proved(programs: Programs) -> dict[str, int]:
    await until(lambda: programs.succeeds("projection", "lag"))
    return {
        " ".join(each): await asyncio.to_thread(programs.run, *each) for each in PROOFS
    }


def _told(told: Told) -> dict[str, object]:
    return {
        "events": len(told.ids),
        "votes": len(told.votes),
        "sent_again": told.sent.sent_again,
        "longest_acknowledgement_s": round(told.sent.longest_s, 1),
    }


def _rounded(seen: Found) -> dict[str, object]:
    return {name: round(value, 1) for name, value in asdict(seen).items()}


async def lead_where_the_worker_is(
    connection: Connection, made: LinkedCluster, worker: str = "echoic"
) -> int:
    """Have the log led by the node that the worker is connected to; return its number.

    Raises:
        TimeoutError: the others did not catch up, so that none could be spared.
    """
    async with asyncio.timeout(CATCH_UP_S):
        while True:
            number = await asyncio.to_thread(_node_of, made, worker)
            # Nobody answers while another is elected.
            with suppress(LogUnavailable):
                if await _is_led_by(connection, made.nodes[number].name):
                    return number
            await asyncio.sleep(LOOK_S)


async def _is_led_by(connection: Connection, wanted: str) -> bool:
    """Whether this node leads the log, and the others have all of it; have it lead if not.

    Two may not be lost at once: while one catches up, another is not to be.
    """
    stream = LOG.name
    info = await call(connection.client, f"$JS.API.STREAM.INFO.{stream}", {})
    others = info["cluster"]["replicas"]
    if not all(each["current"] for each in others):
        return False
    if info["cluster"].get("leader") == wanted:
        return True
    there = {"placement": {"preferred": wanted}}
    step_down = f"$JS.API.STREAM.LEADER.STEPDOWN.{stream}"
    await call(connection.client, step_down, there)
    return False


def _node_of(made: LinkedCluster, worker: str) -> int:
    """Return the number of the node to which a client of this name is connected."""
    for number, node in enumerate(made.nodes):
        address = f"http://127.0.0.1:{node.monitor}/connz"
        with urllib.request.urlopen(address, timeout=10) as answer:
            clients = json.load(answer)["connections"]
        if any(each.get("name") == worker for each in clients):
            return number
    raise RuntimeError(f"no client {worker!r} is connected")


def main() -> int:
    """Run what is asked for, print the counts, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.cluster_faults", description=__doc__
    )
    parser.add_argument("--scenario", nargs="*", choices=SCENARIOS, default=())
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--lasts", type=float, metavar="SECONDS")
    given = parser.parse_args()
    lasts_s = LASTS_S if given.lasts is None else (given.lasts, given.lasts)
    say(f"seed: {given.seed}")
    names = given.scenario or [*SCENARIOS]
    with tempfile.TemporaryDirectory(prefix="echoic-cluster-") as folder:
        counts = asyncio.run(
            measured(
                Path(folder), names, given.seed, given.agents,
                lasts_s=lasts_s,
            )
        )  # fmt: skip
    print(json.dumps(counts, indent=2))
    return 0 if all(each["is_sound"] for each in counts.values()) else 1


if __name__ == "__main__":
    prepare()
    sys.exit(main())
