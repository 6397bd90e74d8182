"""A worker that owns all partitions or stands by, as what runs in a process of its own."""

import asyncio
import logging
import signal

from bench.beside import beside
from handlers.worker.charge import Charge
from handlers.worker.loop import Worker
from schemas.values.subjects import ALL_PARTITIONS
from streams.jetstream.accounts import Credentials
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.connection import connected
from streams.jetstream.migrate import epoch_of
from streams.jetstream.owners import OwnerBucket
from streams.jetstream.read import JetStreamReader
from tests.minds import bringer, started

SETTINGS = started()


def stand_for_ever(credentials: Credentials, name: str) -> None:
    """Own or stand by until killed, or told to leave by SIGTERM."""
    logging.basicConfig(level=logging.WARNING, format=f"{name}: %(message)s")
    asyncio.run(_stand(credentials, name))


async def _stand(credentials: Credentials, name: str) -> None:
    async with connected(credentials, name) as client:
        log = JetStreamReader(client, await epoch_of(client))
        bucket = OwnerBucket(client)
        await bucket.prepare()
        worker = Worker(
            log,
            JetStreamWriter(client),
            bringer(log),
            SETTINGS,
            checkpoints=JetStreamCheckpoints(client),
        )
        charge = Charge(bucket, ALL_PARTITIONS, name, worker.ready)
        worker.tenure = charge
        leaving = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leaving.set)
        async with beside(charge.run(worker.run)):
            await worker.ready.wait()
            # Says that it stands: nobody else writes such a key.
            await bucket.write(f"test.{name}", b"1", 0)
            await leaving.wait()
