"""A sensor that sends far too much, alone in a process: `python -m bench.flooding`.

It publishes at the given rate and waits for no acknowledgement, as a faulty device would; or,
of another subject, large messages as fast as they are answered.
"""

import asyncio
import sys
import time
from collections import Counter
from random import Random

import orjson
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NatsTimeoutError

from bench.rig import connected_child

AGENT, SOURCE = "ada", "cam"
BODY = b'{"text": "The kettle is running low: level 7", "fields": {"level": 7}}'
LARGE, AT_ONCE = 58_500, 8
# Messages between two sleeps: asyncio cannot sleep as briefly as single ones would need.
_TOGETHER = 20


async def main(count: int, seconds: float, wait_s: float) -> None:
    """Wait, then publish so many messages in so many seconds, evenly."""
    client = await connected_child()
    print("ready", flush=True)
    await asyncio.sleep(wait_s)
    print("begun", flush=True)
    begun = time.perf_counter()
    for number in range(count):
        headers = {"ce-specversion": "1.0", "ce-id": f"flood-{number}"}
        await client.publish(f"in.{AGENT}.{SOURCE}.seen", BODY, headers=headers)
        early = begun + (number + 1) * seconds / count - time.perf_counter()
        if number % _TOGETHER == 0 and early > 0:
            await asyncio.sleep(early)
    # Only a flush waits for the broker: until then messages may stand in this process.
    await client.flush()
    print(f"done {time.perf_counter() - begun:.2f}", flush=True)
    await client.close()


async def insist(subject: str, seconds: float) -> None:
    """Send bodies of 59 kB, some at once, and count what the broker answers."""
    client, drawn, answers = await connected_child(), Random(subject), Counter[str]()

    async def ask() -> None:
        try:
            told = await client.request(subject, drawn.randbytes(LARGE), timeout=5)
        except (NoRespondersError, NatsTimeoutError):
            answers["unanswered"] += 1
            return
        answers["refused" if "error" in orjson.loads(told.data) else "taken"] += 1

    print("ready", flush=True)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
    await client.close()
    print(orjson.dumps(answers).decode(), flush=True)


if __name__ == "__main__":
    first, *rest = sys.argv[1:]
    if first.startswith("in."):
        asyncio.run(insist(first, float(rest[0])))
    else:
        asyncio.run(main(int(first), *map(float, rest)))
