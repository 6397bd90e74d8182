"""The bare loop: what reading, parsing and writing cost with no mind in between.

An ordered consumer of nats-py, JSON parsed, three empty outputs for each input, written in
fenced atomic batches of at most 192 inputs. `python -m bench.bare` answers until the
parent terminates it.
"""

import asyncio
import json
from uuid import uuid4

from nats.aio.client import Client
from nats.aio.msg import Msg

from bench.beside import until_terminated
from bench.rig import connected_child

# As many as the worker takes (`handlers.worker.loop`), so that the two compare.
INPUTS_AT_ONCE = 192
OUTPUTS = 3
PARTITION = 0
INPUT = f"ev.{PARTITION}.in.ada.sensor.home.noticed"
OUTPUT = f"ev.{PARTITION}.out.ada.note.handled"
FENCE = f"ev.{PARTITION}.out.>"


async def main() -> None:
    """Answer inputs with empty outputs until terminated."""
    client = await connected_child()
    waiting: asyncio.Queue[Msg] = asyncio.Queue()
    await client.jetstream().subscribe(
        f"ev.{PARTITION}.in.>", stream="LOG", ordered_consumer=True, cb=waiting.put
    )
    await until_terminated(_answer(client, waiting))
    await client.close()


async def _answer(client: Client, waiting: "asyncio.Queue[Msg]") -> None:
    last = 0
    while True:
        inputs = [await waiting.get()]
        while len(inputs) < INPUTS_AT_ONCE and not waiting.empty():
            inputs.append(waiting.get_nowait())
        for message in inputs:
            json.loads(message.data)
        last = await _write(client, len(inputs) * OUTPUTS, last)


async def _write(client: Client, count: int, last: int) -> int:
    batch = {"Nats-Batch-Id": uuid4().hex}
    fence = {
        "Nats-Expected-Last-Subject-Sequence": str(last),
        "Nats-Expected-Last-Subject-Sequence-Subject": FENCE,
    }
    for place in range(1, count):
        headers = {**batch, **fence, "Nats-Batch-Sequence": str(place)}
        await client.publish(OUTPUT, b"{}", headers=headers)
        # The first message's condition is that of the whole batch; the rest carry none.
        fence = {}
    closing = {"Nats-Batch-Sequence": str(count), "Nats-Batch-Commit": "1"}
    headers = {**batch, **closing}
    answered = await client.request(OUTPUT, b"{}", 10, headers=headers)
    return int(json.loads(answered.data)["seq"])


if __name__ == "__main__":
    asyncio.run(main())
