"""A worker that shares the partitions by leases, as what runs in a process of its own."""

import asyncio
import logging
import signal

from bench.beside import beside
from handlers.worker.leases.keeper import Keeper
from handlers.worker.leases.membership import Membership
from handlers.worker.leases.sharing import share
from handlers.worker.loop import Worker
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
        leaving = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leaving.set)
        async with beside(share(worker, membership, keeper)):
            await leaving.wait()
