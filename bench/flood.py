"""How long another agent waits while one sensor floods: `python -m bench.flood`.

    python -m bench.flood [--messages 31600] [--seconds 5] [--unlimited]
    python -m bench.flood --disk-mb 260 [--senders 4] [--seconds 40]

A sensor of one agent, with credentials of its own, publishes far more than anybody can
answer. An agent of another partition is told an event twenty times a second all the while;
what counts is how long each of its decisions takes, before, during and after the flood.

With `--disk-mb` some sensors send 59 kB each as fast as they are answered, on a disk that has
no more than so much by the sizes of files; three others send twenty small events a second, one
of them into the intake stream of a flood. What counts is that nobody starves, and what is left.
"""

import argparse
import asyncio
import json
import os
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from bench import flooding
from bench.beside import beside
from bench.live import with_packs
from bench.rig import PATIENCE_S as ANSWERED_S
from bench.rig import Rig, answered, child, rig
from echoic.run.process import prepare
from schemas.values.record import Record
from schemas.values.subjects import inputs_of, partition_of
from streams.bounds import Limits, Room
from streams.broker.data_folder import recall
from streams.broker.intake_watch import LOOK_S, IntakeWatch, Traffic
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected
from streams.jetstream.draining import keep_drained
from streams.log import scan

AGENT = "ben"
# Far below what a worker can answer, so that only the flood can delay an event.
PER_S = 20
BEFORE_S, AFTER_S = 3.0, 5.0
PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Told:
    """One event of the other agent; all times in nanoseconds since 1970."""

    sent_ns: int
    stored_ns: int
    """When it came into the log."""
    decided_ns: int
    """When the log had its decision."""
    seen_ns: int
    """When a follower had it."""


async def measured(
    running: Rig, messages: int, seconds: float, *, limited: bool
) -> dict[str, object]:
    """Measure latency in milliseconds before, during and after the flood."""
    # Within one partition inputs are answered in order, so a flood there does delay others.
    assert partition_of(AGENT) != partition_of(flooding.AGENT)
    sensor = await running.server.add_sensor(flooding.AGENT, flooding.SOURCE)
    arguments = ("limited",) if limited else ()
    span = BEFORE_S + seconds + AFTER_S
    after = await running.log.last_sequence(">")
    async with child(running, "bench.worker", *arguments):
        flooding_with = (str(messages), str(seconds), str(BEFORE_S))
        async with child(
            running, "bench.flooding", *flooding_with, credentials=sensor, may_end=True
        ) as flood:
            seeing = asyncio.create_task(_see(running, after, int(span * PER_S)))
            telling = asyncio.create_task(_tell(running, int(span * PER_S)))
            assert flood.stdout is not None
            assert await flood.stdout.readline() == b"begun\n"
            begun_ns = time.time_ns()
            took = (await flood.stdout.readline()).decode().split()[-1]
            ended_ns = time.time_ns()
            # Events go on after the flood: how long its backlog delays them counts, too.
            sent = await telling
        told = await asyncio.wait_for(_told(running, after, sent, seeing), PATIENCE_S)
    return {
        "flood": {"messages": messages, "seconds": float(took)},
        "before": _figures([each for each in told if each.sent_ns < begun_ns]),
        "during": _figures(
            [each for each in told if begun_ns <= each.sent_ns < ended_ns]
        ),
        "after": _figures([each for each in told if each.sent_ns >= ended_ns]),
    }


async def _tell(running: Rig, count: int) -> dict[str, int]:
    """Publish as another sensor would; return when each event was sent."""
    sent: dict[str, int] = {}
    begun = time.perf_counter()
    for number in range(count):
        early = begun + number / PER_S - time.perf_counter()
        if early > 0:
            await asyncio.sleep(early)
        id_ = f"told-{number}"
        body = (
            b'{"text": "The oven is getting too hot: heat 93", "fields": {"heat": 93}}'
        )
        sent[id_] = time.time_ns()
        await running.client.publish(
            f"in.{AGENT}.home.oven", body, headers={"ce-id": id_}
        )
    return sent


async def _see(running: Rig, after: int, count: int) -> dict[str, tuple[int, Record]]:
    """Follow the other agent's decisions alone, until all events have one."""
    found: dict[str, tuple[int, Record]] = {}
    subjects = f"ev.{partition_of(AGENT)}.out.{AGENT}.decision.decided"
    async with aclosing(running.log.follow(subjects, after, 1000)) as following:
        async for records in following:
            now_ns = time.time_ns()
            for record in records:
                found[record.headers["ce-causeid"]] = now_ns, record
            if len(found) >= count:
                break
    return found


async def _told(
    running: Rig,
    after: int,
    sent: dict[str, int],
    seeing: "asyncio.Task[dict[str, tuple[int, Record]]]",
) -> list[Told]:
    seen = await seeing
    subjects = f"ev.{partition_of(AGENT)}.in.{AGENT}.sensor.>"
    events = scan(running.log, subjects, after)
    stored = {each.headers["ce-id"]: each.time_ns async for each in events}
    return [
        Told(sent[id_], stored[id_], record.time_ns, seen_ns)
        for id_, (seen_ns, record) in seen.items()
    ]


MB = 10**6
HONEST = ("flood0.mic", "ben.mic", "fay.mic")
"""Agents and sources; the first one's intake stream is that of a flood."""


async def on_small_disk(
    running: Rig, senders: int, seconds: float, disk: int
) -> dict[str, object]:
    """Return what floods and honest sensors were answered, and how much room was left."""
    looks: list[Room] = []
    named = [f"flood{number}.cam" for number in range(senders)]
    # One after the other, and before anybody is refused: each writes the configuration.
    known: dict[str, Credentials] = {}
    for each in (*named, *HONEST):
        agent, source = each.split(".")
        known[each] = await running.server.add_sensor(agent, source)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(child(running, "bench.worker", "limited"))
        watching = _watched(running, disk, looks), keep_drained(running.client)
        await stack.enter_async_context(beside(*watching))
        floods = []
        for each in named:
            told = "bench.flooding", f"in.{each}.seen", str(seconds)
            flood = child(running, *told, credentials=known[each], may_end=True)
            floods.append(await stack.enter_async_context(flood))
        asked = (_honest(known[each], f"in.{each}.heard", seconds) for each in HONEST)
        honest = await asyncio.gather(*asked)
        flooded = [
            json.loads(await each.stdout.readline()) for each in floods if each.stdout
        ]
        for each in HONEST:
            # Whatever waits before it is answered first.
            inputs = inputs_of(partition_of(each.split(".")[0]))
            last = await running.log.last_sequence(inputs)
            await asyncio.wait_for(answered(running, last), ANSWERED_S)
    return {
        "floods": flooded,
        "honest": dict(zip(HONEST, honest, strict=True)),
        "least_free_mb": round(min(each.free for each in looks) / MB, 1),
    }


async def _watched(running: Rig, disk: int, looks: list[Room]) -> None:
    """Hold sensors within their bounds, as an instance does, and note what room was left."""
    limits = Limits(waiting=256 * MB, day=8_192 * MB, floor=512 * MB)
    identity = recall(running.server.folder)
    assert identity is not None

    def room(folder: Path) -> Room:
        sizes = (each.stat().st_size for each in folder.rglob("*.blk"))
        looks.append(Room(max(0, disk - sum(sizes)), disk))
        return looks[-1]

    async with Traffic(identity.system) as traffic:
        watch = IntakeWatch(
            running.client,
            limits,
            folder=running.server.folder,
            traffic=traffic,
            room=room,
        )
        while True:
            await watch.look()
            await asyncio.sleep(LOOK_S)


async def _honest(
    sensor: Credentials, subject: str, seconds: float
) -> dict[str, float]:
    """Send small events, and return how many were refused, and how long answers took."""
    took_ns: list[int] = []
    refused = 0
    async with connected(sensor, "bench honest") as client:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            begun_ns = time.perf_counter_ns()
            told = await client.request(subject, b'{"text": "hello"}', timeout=10)
            took_ns.append(time.perf_counter_ns() - begun_ns)
            refused += "error" in json.loads(told.data)
            await asyncio.sleep(1 / PER_S)
    return {
        "sent": len(took_ns),
        "refused": refused,
        "p50": _part(took_ns, 0.5),
        "p95": _part(took_ns, 0.95),
        "most": _part(took_ns, 1.0 - 1e-9),
    }


def _figures(told: Sequence[Told]) -> dict[str, float]:
    return {
        "events": len(told),
        "p50": _part([each.seen_ns - each.sent_ns for each in told], 0.5),
        "p95": _part([each.seen_ns - each.sent_ns for each in told], 0.95),
        "p95_to_log": _part([each.stored_ns - each.sent_ns for each in told], 0.95),
        "p95_to_decided": _part(
            [each.decided_ns - each.stored_ns for each in told], 0.95
        ),
    }


def _part(nanoseconds: Sequence[int], part: float) -> float:
    ordered = sorted(nanoseconds)
    return round(ordered[int(len(ordered) * part)] / 1e6, 1) if ordered else 0.0


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.flood", description=__doc__)
    parser.add_argument("--messages", type=int, default=31_600)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--unlimited", action="store_true")
    parser.add_argument("--disk-mb", type=int)
    parser.add_argument("--senders", type=int, default=4)
    given = parser.parse_args()
    if given.disk_mb is not None:
        async with rig() as running:
            disk = given.disk_mb * MB
            found = await on_small_disk(running, given.senders, given.seconds, disk)
        print(json.dumps(found, indent=2))
        return
    async with with_packs(1_000) as running:
        found = await measured(
            running, given.messages, given.seconds, limited=not given.unlimited
        )
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    prepare()
    asyncio.run(main())
