"""Start an instance over a backlog on a busy machine: `python -m bench.busy_start`.

    python -m bench.busy_start [--waiting 60000] [--busy 20]

Half of the events wait in the log, unanswered as after a killed instance, half in the intake
streams. `echoic up` then starts while so many processes do nothing but take the processors.
It must come up, and afterwards, with the processors its own, answer all of them.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from bench import world
from echoic.client.connection import addresses
from echoic.config.load import load
from schemas.values.subjects import PARTITIONS, inputs_of, outputs_of, partition_of
from streams.broker.server import embedded_server
from streams.jetstream.connection import connected, insist
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import close_intake, epoch_of, migrate, open_intake
from streams.jetstream.read import JetStreamReader

AT_ONCE = 500
"""Events that wait for their acknowledgements at a time."""

PATIENCE_S = 900.0
"""Seconds that the start, and then all answers, may take."""

_POLL_S = 1.0


async def leave_waiting(folder: Path, count: int) -> None:
    """Leave so many events in a broker's folder: half of them in the log."""
    async with embedded_server(folder) as server:
        client = await server.connect("bench")
        try:
            await migrate(client)
            await _send(client, range(count // 2))
            await open_intake(client)
            while await _stored(client, "LOG") < count // 2:  # noqa: ASYNC110
                await asyncio.sleep(_POLL_S)
            await close_intake(client)
            await _send(client, range(count // 2, count))
        finally:
            await client.close()


async def _send(client: BrokerClient, numbers: range) -> None:
    """Send events as sensors do, and wait until the intake streams have them."""
    for start in range(numbers.start, numbers.stop, AT_ONCE):
        at_once = range(start, min(start + AT_ONCE, numbers.stop))
        # Acknowledged: of what nobody waits for the server drops what it has no room for.
        await asyncio.gather(*(_sent(client, number) for number in at_once))


async def _sent(client: BrokerClient, number: int) -> None:
    agent = world.AGENTS[number % len(world.AGENTS)]
    subject = f"ip.{partition_of(agent)}.{agent}.home.noticed"
    body = orjson.dumps({"text": f"The kettle was filled for the {number}th time"})
    headers = {"ce-id": f"waiting-{number}"}
    await client.request(subject, body, PATIENCE_S, headers=headers)


async def _stored(client: BrokerClient, stream: str) -> int:
    found = await insist(client, f"$JS.API.STREAM.INFO.{stream}", {})
    return int(found["state"]["messages"])


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep the processors busy with so many processes during the block."""
    spinning = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(spinning) for _ in range(count)]
    try:
        yield
    finally:
        for each in processes:
            each.kill()
            each.wait()


def up(data: Path) -> float:
    """Start an instance; return the seconds that it took.

    Raises:
        RuntimeError: it did not start, with what it said.
    """
    began = time.monotonic()
    _echoic("up", data, "--detach")
    return time.monotonic() - began


def _echoic(command: str, data: Path, *options: str) -> None:
    called = [sys.executable, "-P", "-m", "echoic", command, *options]
    ran = subprocess.run(
        [*called, "--data", str(data)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        cwd=data,
        check=False,
    )
    print(ran.stdout + ran.stderr, file=sys.stderr)
    if ran.returncode != 0:
        raise RuntimeError(f"echoic {command} ended with {ran.returncode}")


async def answered(data: Path, count: int) -> float:
    """Wait until the log has all of them, answered; return the seconds that it took."""
    began = time.monotonic()
    credentials, _ = addresses(load({"data": str(data)}))
    async with asyncio.timeout(PATIENCE_S), connected(credentials, "bench") as client:
        log = JetStreamReader(client, await epoch_of(client))
        while not (await _arrived(client) >= count and await _is_answered(log)):  # noqa: ASYNC110
            await asyncio.sleep(_POLL_S)
    return time.monotonic() - began


async def _arrived(client: BrokerClient) -> int:
    wanted = {"subjects_filter": "ev.*.in.*.sensor.>"}
    found = await insist(client, "$JS.API.STREAM.INFO.LOG", wanted)
    return sum(found["state"].get("subjects", {}).values())


async def _is_answered(log: JetStreamReader) -> bool:
    for partition in range(PARTITIONS):
        last = await log.last_sequence(inputs_of(partition))
        output = await log.record(await log.last_sequence(outputs_of(partition)))
        if last and (output is None or int(output.headers["ce-causeseq"]) < last):
            return False
    return True


def measure(waiting: int, spinning: int) -> dict[str, float]:
    """Start over so many events beside so many processes; return what it took."""
    with TemporaryDirectory(prefix="echoic-bench-") as folder:
        data = Path(folder)
        asyncio.run(leave_waiting(data / "nats", waiting))
        with busy(spinning):
            started_s = up(data)
        print(f"started in {started_s:.1f} s", file=sys.stderr)
        try:
            answered_s = asyncio.run(answered(data, waiting))
        finally:
            _echoic("down", data)
    return {
        "waiting": waiting,
        "busy": spinning,
        "started_s": round(started_s, 1),
        "answered_s": round(answered_s, 1),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.busy_start",
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--waiting", type=int, default=60_000)
    parser.add_argument("--busy", type=int, default=20)
    given = parser.parse_args()
    print(json.dumps(measure(given.waiting, given.busy)))


if __name__ == "__main__":
    main()
