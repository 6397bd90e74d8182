"""The bucket of the owners: keys that are written by compare-and-set, and read at once.

Each request is tried once and for a second: who keeps a key renewed has to know soon that it
cannot, and tries again by itself.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass

from nats.aio.msg import Msg

from streams.errors import LogUnavailable
from streams.jetstream.connection import ApiError, answer, insist, translated
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import ensure
from streams.topology import OWNERS

ATTEMPT_S = 1.0
"""Seconds that a request may take."""

_GONE_S = 3600
"""Seconds for which a key that was given up is kept, empty."""

_PREFIX = "$KV.OWNERS."
_NEWS = "svc._.ranges"
"""Says that a key has changed; whoever misses it looks a second later."""
_NO_STREAM = 10059
_MOVED_ON = {10071, 10164}
"""Error codes: the last sequence of the subject is another than expected."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A key as it was read."""

    value: bytes
    """Empty for one that is gone."""
    revision: int
    at: str = ""
    """When the broker stored it, by its own clock: RFC 3339, in UTC."""


class OwnerBucket:
    """The keys of the bucket `OWNERS`, over a connection."""

    def __init__(self, client: BrokerClient) -> None:
        """Use a connection, which the caller closes."""
        self._client = client

    async def prepare(self, replicas: int = 1) -> None:
        """Create the bucket if it is missing.

        Raises:
            TopologyDrift: it exists with another configuration.
            LogUnavailable: the broker does not answer.
        """
        await ensure(self._client, OWNERS, replicas)

    async def exists(self) -> bool:
        """Tell whether the broker has the bucket.

        Raises:
            LogUnavailable: it does not answer.
        """
        try:
            await insist(self._client, f"$JS.API.STREAM.INFO.{OWNERS.name}", {})
        except ApiError as error:
            if error.code == _NO_STREAM:
                return False
            raise
        return True

    async def read(self) -> dict[str, Entry]:
        """Return all keys; a replica that lags may give older ones.

        Raises:
            LogUnavailable: the broker does not answer, or has no such bucket.
        """
        found: dict[str, Entry] = {}
        status: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def take(message: Msg) -> None:
            headers = message.headers or {}
            if "Nats-Subject" in headers:
                key = headers["Nats-Subject"].removeprefix(_PREFIX)
                revision = int(headers["Nats-Sequence"])
                found[key] = Entry(
                    message.data, revision, headers.get("Nats-Time-Stamp", "")
                )
            elif not status.done():
                status.set_result(headers.get("Status", ""))

        inbox = self._client.new_inbox()
        with translated("who owns what"):
            subscription = await self._client.subscribe(inbox, cb=take)
            try:
                wanted = json.dumps({"multi_last": [f"{_PREFIX}>"]}).encode()
                subject = f"$JS.API.DIRECT.GET.{OWNERS.name}"
                await self._client.publish(subject, wanted, reply=inbox)
                async with asyncio.timeout(ATTEMPT_S):
                    code = await status
            finally:
                await subscription.unsubscribe()
        # 204 ends what there is; 404 says that there is none.
        if code not in ("204", "404"):
            raise LogUnavailable(f"the broker does not say who owns what ({code})")
        return found

    async def write(self, key: str, value: bytes, revision: int) -> int | None:
        """Set a key whose revision is this one, 0 for none; return its new revision.

        None: its revision is another. An empty value takes the key away.

        Raises:
            LogUnavailable: no answer came; it may have been written or not.
        """
        headers = {"Nats-Expected-Last-Subject-Sequence": str(revision)}
        if not value:
            headers |= {"KV-Operation": "DEL", "Nats-TTL": f"{_GONE_S}s"}
        subject = _PREFIX + key
        with translated(repr(subject)):
            reply = await self._client.request(
                subject, value, ATTEMPT_S, headers=headers
            )
        try:
            return int(answer(subject, reply)["seq"])
        except ApiError as error:
            if error.code in _MOVED_ON:
                return None
            raise

    async def tell(self) -> None:
        """Tell the other workers to look at the keys now."""
        with translated("that an owner has changed"):
            await self._client.publish(_NEWS)

    async def on_news(self, look: Callable[[], None]) -> None:
        """Call `look` whenever another worker tells that keys have changed."""

        async def hear(_: Msg) -> None:
            look()

        await self._client.subscribe(_NEWS, cb=hear)
