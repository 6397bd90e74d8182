"""A member's own key: made when it joins, renewed while it goes on, gone when it leaves."""

import asyncio
import os
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import msgspec

from handlers.worker.leases import registry
from handlers.worker.leases.registry import Bucket, MemberKey
from handlers.worker.leases.rules import RENEW_S, Member, Term
from streams.errors import LogUnavailable


class Membership:
    """Whether this process takes part, and as whom; the `Tenure` of its worker."""

    def __init__(
        self, bucket: Bucket, name: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take part by `bucket`, as what people know by `name`; not yet joined."""
        self._bucket = bucket
        self._name = name
        self._clock = clock
        self._since = datetime.now(UTC)
        self._term = Term(float("-inf"))
        self._doubts: list[asyncio.Future[bool]] = []
        self.me: Member | None = None
        """None before it has joined, and once its key is gone."""
        self.joined_at = float("-inf")
        """By the clock given, as is all that follows."""
        self.renewed_at = float("-inf")
        self.wanted = asyncio.Event()
        """Set when somebody waits for a renewal."""

    @property
    def is_due(self) -> bool:
        """Whether to renew now."""
        return bool(self._doubts) or self._clock() >= self.renewed_at + RENEW_S

    def lapsed(self) -> bool:
        """Tell whether nothing may be decided now."""
        return self._term.lapsed(self._clock())

    async def look(self) -> bool:
        """Renew now; tell whether what is held is still its own, once that is known."""
        if self._term.is_over:
            return False
        doubt: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._doubts.append(doubt)
        self.wanted.set()
        return await doubt

    async def join(self) -> None:
        """Become a member, another one each time.

        Raises:
            LogUnavailable: no answer came.
        """
        asked, self._since = self._clock(), datetime.now(UTC)
        # Keys that name an older id give the new one nothing.
        identity = f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
        identity = "".join(each if each.isalnum() else "-" for each in identity)
        revision = await self._bucket.write(
            registry.MEMBER + identity, self._value(0), 0
        )
        if revision is None:
            raise LogUnavailable(f"the key of {identity!r} is another's")
        self.me = Member(identity, revision, revision, self._name)
        self._term = Term(asked)
        self.joined_at = self.renewed_at = asked
        await self._bucket.tell()

    async def renew(self) -> None:
        """Renew the key; without one that is still there, be no member any more.

        Raises:
            LogUnavailable: no answer came.
        """
        me = self.me
        if me is None:
            return
        asked, doubts = self._clock(), tuple(self._doubts)
        value = self._value(me.joined)
        revision = await self._bucket.write(self._key(me), value, me.revision)
        if revision is None and await self._has_moved(me, value):
            # It was a renewal whose answer was lost; the next one follows it.
            await self.renew()
            return
        if revision is None:
            self._term.end()
            self.me = None
            # Also who asked meanwhile: there is nothing left to be renewed.
            doubts = tuple(self._doubts)
        else:
            self.me = replace(me, revision=revision)
            self._term.renewed(asked)
            self.renewed_at = asked
        for doubt in doubts:
            self._doubts.remove(doubt)
            if not doubt.done():
                doubt.set_result(revision is not None)

    async def leave(self) -> None:
        """Take the key away.

        Raises:
            LogUnavailable: no answer came; the others find out by its standing still.
        """
        me, self.me = self.me, None
        self._term.end()
        if me is not None:
            await self._bucket.write(self._key(me), b"", me.revision)
            await self._bucket.tell()

    async def _has_moved(self, me: Member, value: bytes) -> bool:
        """Tell whether the key was moved by this process; False if it is gone.

        Raises:
            LogUnavailable: what was read is older than what is known.
        """
        found = (await self._bucket.read()).get(self._key(me))
        if found is None:
            return False
        if found.revision <= me.revision:
            raise LogUnavailable("what was read of the leases lags behind")
        if found.value != value:
            return False
        self.me = replace(me, revision=found.revision)
        return True

    def _value(self, joined: int) -> bytes:
        return msgspec.json.encode(
            MemberKey(
                name=self._name,
                host=socket.gethostname(),
                pid=os.getpid(),
                since=self._since,
                joined=joined,
            )
        )

    @staticmethod
    def _key(me: Member) -> str:
        return registry.MEMBER + me.id
