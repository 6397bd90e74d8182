"""A worker that shares the partitions with others, from its joining to its leaving."""

import asyncio

from handlers.worker.leases.keeper import Holder, Keeper
from handlers.worker.leases.membership import Membership
from handlers.worker.loop import Worker
from streams.cancellation import ended

STOP_S = 12.0
"""Seconds that a worker may take to save its checkpoints, and hand over: more than
`checkpointing.END_S`."""


async def share(
    worker: Worker, membership: Membership, keeper: Keeper, holder: Holder | None = None
) -> None:
    """Answer the inputs of whatever partitions come by the leases, until cancelled.

    `holder` stands between the leases and the worker; the worker's own holdings if there is
    none. Raises what either raises.
    """
    worker.tenure = membership
    working = asyncio.create_task(worker.run())
    keeping = asyncio.create_task(keeper.run(holder or worker.holdings))
    try:
        done, _ = await asyncio.wait(
            {working, keeping}, return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            task.result()
    finally:
        # The worker first: what it holds is its own while it saves that.
        await ended([working], STOP_S)
        await ended([keeping])
        await keeper.leave()
