"""Keeping leases: a member takes partitions, hands them over, and buries who is silent.

A partition belongs to the member that its key names, for as long as that member's own key is
there. Only the member renews that; whoever finds it standing still takes it away. Both are
compare-and-set on one key, so one of them wins, and a member whose key is gone knows that all
it held is others'. What it may still write is refused by the fence of the log.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import msgspec

from handlers.worker.leases import registry, rules
from handlers.worker.leases.membership import Membership
from handlers.worker.leases.registry import Bucket, PartitionKey
from handlers.worker.leases.rules import MOVED_AT_ONCE, RENEW_S, Lease, Stillness, View
from streams.cancellation import heed_cancellation
from streams.errors import LogUnavailable
from streams.jetstream.leases import Entry

LOOK_S = 1.0
"""Seconds between two looks at the keys, at most."""

SETTLE_S = 1.0
"""Seconds for which one that joined takes nothing: others may be joining as well."""

AGAIN_S = 0.2
"""Seconds before a request that was not answered is sent again."""

_log = logging.getLogger(__name__)


class Holder(Protocol):
    """Whoever works on the partitions."""

    @property
    def holding(self) -> frozenset[int]:
        """The partitions whose inputs it answers."""
        ...

    async def take(self, partition: int) -> None:
        """Work on a partition from now on."""
        ...

    async def give(self, partition: int) -> None:
        """Finish the write under way, save what is known, and work on it no more."""
        ...

    async def drop(self) -> None:
        """Work on none any more: others do."""
        ...


@dataclass(frozen=True, slots=True)
class Holding:
    """What a member owns, for whoever wants to know of changes."""

    member: str
    partitions: tuple[int, ...]
    members: int
    """How many take part."""


def tell_nobody(_: object) -> None:
    """Ignore what there is to tell."""


class Keeper:
    """The leases of one member."""

    def __init__(
        self,
        bucket: Bucket,
        membership: Membership,
        *,
        changed: Callable[[Holding], None] = tell_nobody,
        seen: Callable[[Mapping[str, Entry]], None] = tell_nobody,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep the leases of `membership`, whose clock is the same.

        `seen` is given all keys at each look, and may raise what ends this member.
        """
        self.settled = asyncio.Event()
        """Set once it has its share for the first time."""
        self._bucket = bucket
        self._membership = membership
        self._changed = changed
        self._seen = seen
        self._clock = clock
        self._looked_at = float("-inf")
        self._known: dict[str, Entry] = {}
        self._stillness = Stillness()
        self._moves: dict[int, asyncio.Task[None]] = {}
        """What is being taken or handed over, by partition."""
        self._given: dict[int, int] = {}
        """The last term of each partition that it gave up: never worked on again."""
        self._told: Holding | None = None

    @property
    def view(self) -> View:
        """The members and leases as it knows them."""
        return registry.view_of(self._known)

    def wake(self) -> None:
        """Look at the keys now: some have changed."""
        self._membership.wanted.set()

    async def run(self, holder: Holder) -> None:
        """Take part until cancelled; `leave` afterwards.

        Raises what the holder raises of a partition that it cannot work on.
        """
        try:
            while True:
                heed_cancellation()
                self._membership.wanted.clear()
                try:
                    await self._turn(holder)
                except LogUnavailable as error:
                    _log.info("the leases are out of reach: %s", error)
                    await asyncio.sleep(AGAIN_S)
                    continue
                await self._pause()
        finally:
            await self._end_moves()

    async def leave(self) -> None:
        """Hand over what it holds, once nobody works on it, and be no member any more."""
        me = self._membership.me
        own = rules.held(self.view, me.id) if me is not None else []
        with suppress(LogUnavailable):
            await asyncio.gather(*(self._free(partition) for partition in own))
            await self._membership.leave()

    async def _turn(self, holder: Holder) -> None:
        membership = self._membership
        if membership.me is None:
            await self._join(holder)
        elif membership.is_due:
            await membership.renew()
        await self._see()
        me = membership.me
        if me is not None:
            await self._bury(me.id)
            await self._balance(holder, me.id)

    async def _pause(self) -> None:
        """Wait until the next look or renewal is due, or somebody calls."""
        due = min(self._membership.renewed_at + RENEW_S, self._looked_at + LOOK_S)
        with suppress(TimeoutError):
            async with asyncio.timeout(max(due - self._clock(), 0.0)):
                await self._membership.wanted.wait()

    async def _join(self, holder: Holder) -> None:
        """Become a member; work on nothing that was held as another."""
        await self._end_moves()
        if holder.holding:
            _log.warning("silent for too long: others have what was held")
            await holder.drop()
        # Should the bucket be a new one, what was known of the old one would mislead.
        self._known = {}
        await self._membership.join()

    async def _see(self) -> None:
        self._known = registry.newest(self._known, await self._bucket.read())
        self._looked_at = self._clock()
        self._seen(self._known)

    async def _bury(self, me: str) -> None:
        """Take away the keys of members that stand still."""
        for each in self._stillness.silent(self.view, self._clock()):
            if each.id == me:
                continue
            key = registry.MEMBER + each.id
            revision = await self._bucket.write(key, b"", each.revision)
            if revision is not None:
                _log.warning("%s is silent: its partitions are free", each.name)
                self._known[key] = Entry(b"", revision)
                await self._bucket.tell()

    async def _balance(self, holder: Holder, me: str) -> None:
        """Begin what is to be taken or handed over now, and tell what changed."""
        for partition, move in [*self._moves.items()]:
            if move.done():
                del self._moves[partition]
                # What a partition cannot be worked on for is the end of this process.
                move.result()
        if self._clock() >= self._membership.joined_at + SETTLE_S:
            wanted = rules.to_take(self.view, me)[
                : max(MOVED_AT_ONCE - len(self._moves), 0)
            ]
            await asyncio.gather(*(self._claim(me, partition) for partition in wanted))
            if wanted:
                await self._bucket.tell()
        for partition in rules.to_hand_over(self.view, me):
            self._begin(partition, self._hand_over(holder, partition))
        own = self._own(me)
        # Also what was claimed while the answer was lost.
        for partition in own - holder.holding:
            self._begin(partition, holder.take(partition))
        for partition in holder.holding - own:
            self._begin(partition, holder.give(partition))
        self._tell(holder, me)

    def _own(self, me: str) -> frozenset[int]:
        """Return the partitions to be worked on."""
        leases = self.view.leases
        return frozenset(
            each
            for each in rules.held(self.view, me)
            # What was read may be from before it was handed over.
            if leases[each].term > self._given.get(each, 0)
        )

    def _begin(self, partition: int, move: Coroutine[Any, Any, None]) -> None:
        """Move a partition beside all else, unless it is being moved."""
        if partition in self._moves:
            move.close()
            return
        task = asyncio.create_task(move)
        self._moves[partition] = task
        task.add_done_callback(lambda _: self.wake())

    async def _end_moves(self) -> None:
        for move in self._moves.values():
            move.cancel()
        await asyncio.gather(*self._moves.values(), return_exceptions=True)
        self._moves.clear()

    async def _claim(self, me: str, partition: int) -> None:
        """Take a free partition, unless another was quicker."""
        before = self.view.leases.get(partition, Lease(None, 0, 0))
        await self._write(partition, me, before.term + 1, before.revision)

    async def _hand_over(self, holder: Holder, partition: int) -> None:
        await holder.give(partition)
        self._given[partition] = self.view.leases[partition].term
        while True:
            heed_cancellation()
            with suppress(LogUnavailable):
                await self._free(partition)
                await self._bucket.tell()
                return
            await asyncio.sleep(AGAIN_S)

    async def _free(self, partition: int) -> None:
        lease = self.view.leases[partition]
        await self._write(partition, None, lease.term, lease.revision)

    async def _write(
        self, partition: int, owner: str | None, term: int, revision: int
    ) -> None:
        key = f"{registry.PARTITION}{partition}"
        held = PartitionKey(owner=owner, term=term, since=datetime.now(UTC))
        value = msgspec.json.encode(held)
        stored = await self._bucket.write(key, value, revision)
        if stored is not None:
            self._known[key] = Entry(value, stored)

    def _tell(self, holder: Holder, me: str) -> None:
        view, own = self.view, tuple(sorted(holder.holding))
        if self._moves:
            return
        if rules.shares(view).get(me) == len(own):
            self.settled.set()
        told = Holding(me, own, len(view.members))
        if told != self._told:
            self._told = told
            self._changed(told)
