"""A sensor that sends far too much, alone in a process: `python -m bench.flooding`.

It publishes at the given rate and waits for no acknowledgement, as a faulty device would.
"""

import asyncio
import sys
import time

from bench.rig import connected_child

AGENT, SOURCE = "ada", "cam"
BODY = b'{"text": "The kettle is running low: level 7", "fields": {"level": 7}}'
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


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])))
