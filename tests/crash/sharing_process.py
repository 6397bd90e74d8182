"""A worker that shares the partitions by leases, as what runs in a process of its own."""

import asyncio
import logging
import signal

from handlers.worker.leases.keeper import Keeper
from handlers.worker.leases.membership import Membership
from handlers.worker.leases.sharing import STOP_S, share
from handlers.worker.loop import Worker
from streams.cancellation import ended
from streams.jetstream.accounts import Credentials
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.connection import connected
from streams.jetstream.leases import LeaseBucket
from streams.jetstream.migrate import epoch_of
from streams.jetstream.read import JetStreamReader
from tests.minds import bringer, started

SETTINGS = started()


def share_for_ever(credentials: Credentials, name: str) -> None:
    """Share until killed, or told to leave by SIGTERM."""
    logging.basicConfig(level=logging.WARNING, format=f"{name}: %(message)s")
    asyncio.run(_share(credentials, name))


async def _share(credentials: Credentials, name: str) -> None:
    async with connected(credentials, name) as client:
        log = JetStreamReader(client, await epoch_of(client))
        bucket = LeaseBucket(client)
        await bucket.prepare()
        membership = Membership(bucket, name)
        keeper = Keeper(bucket, membership)
        await bucket.on_news(keeper.wake)
        worker = Worker(
            log,
            JetStreamWriter(client),
            bringer(log),
            SETTINGS,
            partitions=(),
            checkpoints=JetStreamCheckpoints(client),
        )
        running = asyncio.create_task(share(worker, membership, keeper))
        leaving = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leaving.set)
        told = asyncio.create_task(leaving.wait())
        await asyncio.wait({running, told}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        await ended([running], STOP_S)
