"""The list of a log's segments, in the KV bucket `SEGMENTS`, changed by compare-and-set.

A log that was never segmented has no such bucket. A reader loads the list once, and hears of
a change by a plain subscription: what is not segmented costs one request at the beginning.
"""

import asyncio
import base64
import json
from contextlib import suppress
from typing import Any

import msgspec
from nats.aio.client import Client
from nats.aio.subscription import Subscription

from streams.errors import LogRefused, StreamsError
from streams.jetstream.connection import ApiError, answer, insist, request, translated
from streams.jetstream.hardened_client import BrokerClient
from streams.segments import ALONE, Segments

_BUCKET = "SEGMENTS"
STREAM = f"KV_{_BUCKET}"
_SUBJECT = f"$KV.{_BUCKET}.log"
_HISTORY = 64
"""How many versions of the list are kept, to look at."""

_STREAM_NOT_FOUND = 10059
_NO_MESSAGE = 10037
_NAME_IN_USE = 10058
_STALE = 10071


class _Changed(LogRefused):
    """Somebody else changed the list of segments in between."""


async def load(client: Client) -> tuple[Segments, int]:
    """Return the segments and the revision of their list; 0 if there is no list."""
    try:
        found = await insist(
            client, f"$JS.API.STREAM.MSG.GET.{STREAM}", {"last_by_subj": _SUBJECT}
        )
    except ApiError as error:
        if error.code in (_STREAM_NOT_FOUND, _NO_MESSAGE):
            return ALONE, 0
        raise
    message = found["message"]
    body = base64.b64decode(message.get("data", ""))
    return msgspec.json.decode(body, type=Segments), int(message["seq"])


async def replace(
    client: Client, segments: Segments, revision: int, replicas: int = 1
) -> int:
    """Put a new list in place of the one at `revision`, and return the new revision.

    Raises:
        _Changed: another one stands there by now.
    """
    if revision == 0:
        await _create(client, replicas)
    body = msgspec.json.encode(segments)
    headers = {"Nats-Expected-Last-Subject-Sequence": str(revision)}
    try:
        message = await request(client, _SUBJECT, body, headers)
        return int(answer(_SUBJECT, message)["seq"])
    except ApiError as error:
        if error.code != _STALE:
            raise
    # An acknowledgement may have been lost: then the list that stands there is ours.
    found, at = await load(client)
    if found != segments:
        raise _Changed(f"the list of segments has changed meanwhile, to revision {at}")
    return at


async def _create(client: Client, replicas: int) -> None:
    """Create the bucket, as NATS's own clients would."""
    config: dict[str, Any] = {
        "name": STREAM,
        "description": "The key-value bucket SEGMENTS: the streams of the log.",
        "subjects": [f"$KV.{_BUCKET}.>"],
        "storage": "file",
        "discard": "new",
        "num_replicas": replicas,
        "max_msgs_per_subject": _HISTORY,
        "allow_rollup_hdrs": True,
        "deny_delete": True,
        "allow_direct": True,
    }
    try:
        await insist(client, f"$JS.API.STREAM.CREATE.{STREAM}", config)
    except ApiError as error:
        if error.code != _NAME_IN_USE:
            raise


class Registry:
    """The segments as one connection knows them; it loads them anew when they change."""

    def __init__(self, client: BrokerClient) -> None:
        """Use a connection, which the caller closes."""
        self._client = client
        self._known: Segments | None = None
        self._listening: Subscription | None = None
        self._reconnects = 0
        self._looking: asyncio.Task[None] | None = None
        self.version = 0
        """Differs once the segments may have changed."""

    @property
    def known(self) -> Segments | None:
        """The segments, unless they must be loaded first."""
        # What was published while the connection was away did not arrive. Looked for
        # beside: nobody may wait for a cluster that elects, and changes are rare.
        if self._client.stats["reconnects"] != self._reconnects and self._known:
            self._reconnects = self._client.stats["reconnects"]
            self._looking = asyncio.create_task(self._look())
        return self._known

    async def current(self) -> Segments:
        """Return the segments; load them if they have changed."""
        return self.known or await self._load()

    async def _look(self) -> None:
        before = self._known
        with suppress(StreamsError):
            segments, _ = await load(self._client)
            if segments != before:
                self._hear()

    async def _load(self) -> Segments:
        # Heard first and loaded then, so that no change falls in between.
        if self._listening is None:
            with translated("what hears of new segments"):
                self._listening = await self._client.receive(_SUBJECT, self._hear)
        self._reconnects, version = self._client.stats["reconnects"], self.version
        segments, _ = await load(self._client)
        if version == self.version:
            self._known = segments
        return segments

    def _hear(self, *_: bytes) -> None:
        self.version += 1
        self._known = None


def listed(segments: Segments) -> str:
    """Return the list as JSON, for people."""
    return json.dumps(msgspec.to_builtins(segments), indent=2)
