"""A worker that takes part in sharing the partitions: by leases, from any machine."""

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from echoic.client.owners import Desk
from echoic.run.shared_settings import Unchanged
from handlers.worker.holdings import Holdings
from handlers.worker.leases.keeper import Holding, Keeper
from handlers.worker.leases.membership import Membership
from handlers.worker.leases.sharing import share
from handlers.worker.loop import Worker
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.keys import Keyring
from streams.jetstream.leases import LeaseBucket

Changed = Callable[[Holding], None]
"""Called with what a member owns, whenever that has changed."""


class Member:
    """The part that a process has in the leases."""

    def __init__(
        self,
        client: BrokerClient,
        name: str,
        settings: Mapping[str, Any],
        keys: Keyring | None,
        changed: Changed,
    ) -> None:
        """Take part by a connection, which the caller closes, while the settings are these.

        `keys` are those of a sealed log.
        """
        self._keys = keys
        self._bucket = LeaseBucket(client)
        self._membership = Membership(self._bucket, f"{socket.gethostname()}/{name}")
        self._keeper = Keeper(
            self._bucket, self._membership, changed=changed, seen=Unchanged(settings)
        )
        self.settled = self._keeper.settled
        """Set once it has its share for the first time."""

    async def run(self, worker: Worker, desk: Desk) -> None:
        """Answer the inputs of whatever partitions come by the leases, until cancelled."""
        await self._bucket.on_news(self._keeper.wake)
        await desk.start()
        holder = _Served(worker.holdings, desk, self._keys)
        await share(worker, self._membership, self._keeper, holder)


@dataclass(frozen=True, slots=True)
class _Served:
    """Partitions for which other processes are answered as well."""

    holdings: Holdings
    desk: Desk
    keys: Keyring | None

    @property
    def holding(self) -> frozenset[int]:
        return self.holdings.holding

    async def take(self, partition: int) -> None:
        await self.holdings.take(partition)
        await self.desk.open(partition)

    async def give(self, partition: int) -> None:
        # First, so that whoever asks from now on waits for the next owner.
        await self.desk.close(partition)
        await self.holdings.give(partition)
        self._forget([partition])

    async def drop(self) -> None:
        held = sorted(self.holding)
        for partition in held:
            await self.desk.close(partition)
        await self.holdings.drop()
        self._forget(held)

    def _forget(self, partitions: Sequence[int]) -> None:
        for partition in partitions:
            if self.keys is not None:
                self.keys.let_go(partition)
