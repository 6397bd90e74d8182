"""The sensor's connection: it publishes events and receives what the companion says.

It publishes only below `in.<agent>.crafter` and subscribes only to `out.<agent>` and its
own inbox; its credentials allow nothing else.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from schemas.values.record import Wire

DEFAULT_URL = "nats://127.0.0.1:4222"

# Seconds for one attempt to connect and for one acknowledgement, attempts for each event,
# and for a lost connection the attempts and the seconds between them.
_CONNECT_S = 5
_STORED_S = 5.0
_TRIES = 3
_RECONNECTS = 16
_PAUSE_S = 0.25
_UNHEARD = 1_000
"""How many received messages may wait; then the oldest, and so the stalest, is dropped."""


class BrokerError(Exception):
    """The broker cannot be reached, or refuses the sensor."""


class Broker:
    """An open connection."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._said: asyncio.Queue[bytes] = asyncio.Queue(_UNHEARD)

    async def listen(self, agent: str) -> None:
        """Subscribe to what the agent's companion says.

        The flush makes sure that the broker knows before the first event is published.
        """
        await self._client.subscribe(f"out.{agent}.>", cb=self._on_message)
        await self._client.flush()

    async def publish(self, message: Wire) -> None:
        """Send one event and wait until the broker has stored it.

        After a lost acknowledgement it is sent again: the state recognises the same ce-id.

        Raises:
            BrokerError: it was not stored.
        """
        reply = await self._request(message)
        refused = json.loads(reply.data or b"{}").get("error")
        if refused is not None:
            raise BrokerError(f"{message.subject!r} was not stored: {refused!r}")

    async def heard(self, wait_s: float) -> Sequence[bytes]:
        """Return what was received since the last call, waiting `wait_s` for the first."""
        said = []
        if wait_s:
            try:
                said.append(await asyncio.wait_for(self._said.get(), wait_s))
            except TimeoutError:
                return ()
        while not self._said.empty():
            said.append(self._said.get_nowait())
        return said

    async def _request(self, message: Wire) -> Msg:
        failure: Exception | None = None
        for _ in range(_TRIES):
            try:
                return await self._client.request(
                    message.subject,
                    message.body,
                    _STORED_S,
                    headers=dict(message.headers),
                )
            except (NatsError, OSError, TimeoutError) as error:
                failure = error
        raise BrokerError(
            f"nobody stored {message.subject!r} ({failure!r}): is Echoic up, and may "
            "these credentials publish for this agent?"
        ) from failure

    async def _on_message(self, message: Msg) -> None:
        # The callback must not wait for room: that would hold up every later message.
        if self._said.full():
            self._said.get_nowait()
        self._said.put_nowait(message.data)


@asynccontextmanager
async def connected(
    agent: str, url: str | None, credentials: Path | None
) -> AsyncIterator[Broker]:
    """Connect and subscribe, until the end of the block.

    `url` overrides the one in the credentials.

    Raises:
        BrokerError: the broker cannot be reached or refuses the credentials.
    """
    login = _login(credentials)
    named = login.pop("url", DEFAULT_URL)
    address = url or named
    try:
        client = await nats.connect(
            address,
            name="crafter",
            connect_timeout=_CONNECT_S,
            max_reconnect_attempts=_RECONNECTS,
            reconnect_time_wait=_PAUSE_S,
            error_cb=_ignore,
            **login,
        )
    except (NatsError, OSError, TimeoutError) as error:
        raise BrokerError(
            f"no broker at {address!r} ({error!r}): start one with `echoic up`, or "
            "name it with --url"
        ) from error
    broker = Broker(client)
    try:
        await broker.listen(agent)
        yield broker
    finally:
        await client.close()


def _login(credentials: Path | None) -> dict[str, Any]:
    """Return the options that log in as a file says.

    Its account may subscribe to its own inbox alone, so the file names that prefix, too.
    """
    if credentials is None:
        return {}
    if credentials.suffix == ".creds":
        return {"user_credentials": str(credentials)}
    try:
        login = json.loads(credentials.read_text(encoding="utf-8"))
        url = {"url": str(login["url"])} if "url" in login else {}
        return url | {
            "user": str(login["user"]),
            "password": str(login["password"]),
            "inbox_prefix": str(login.get("inbox_prefix", "_INBOX")).encode(),
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BrokerError(
            f"cannot read credentials from {str(credentials)!r} ({error!r}): give a "
            '.creds file or JSON {"user": …, "password": …, "inbox_prefix": …}'
        ) from error


async def _ignore(error: Exception) -> None:
    """Drop an error of the connection: the call that fails reports it."""
