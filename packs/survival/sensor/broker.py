"""The sensor's connection: events go out, what the companion says comes in.

Its rule: the sensor publishes only below `in.<agent>.crafter` and hears only
`out.<agent>`; that is all its credentials allow.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from schemas.record import Wire

_CONNECT_S = 5
_UNHEARD = 1_000
"""So many messages may wait to be heard; beyond them the oldest is dropped."""


class BrokerError(Exception):
    """The broker cannot be reached, or refuses the sensor."""


class Broker:
    """An open connection."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._said: asyncio.Queue[bytes] = asyncio.Queue(_UNHEARD)

    async def listen(self, agent: str) -> None:
        """Start to hear what the agent's companion says, before anything is played."""
        await self._client.subscribe(f"out.{agent}.>", cb=self._on_message)
        await self._client.flush()

    async def publish(self, message: Wire) -> None:
        """Send one event."""
        await self._client.publish(
            message.subject, message.body, headers=dict(message.headers)
        )

    async def heard(self, wait_s: float) -> Sequence[bytes]:
        """What was said since last asked, waiting so long for the first of it."""
        said = []
        if wait_s:
            try:
                said.append(await asyncio.wait_for(self._said.get(), wait_s))
            except TimeoutError:
                return ()
        else:
            # Without a pause a fast game would never let the connection read.
            await asyncio.sleep(0)
        while not self._said.empty():
            said.append(self._said.get_nowait())
        return said

    async def _on_message(self, message: Msg) -> None:
        if self._said.full():
            self._said.get_nowait()
        self._said.put_nowait(message.data)


@asynccontextmanager
async def connected(
    url: str, agent: str, credentials: Path | None
) -> AsyncIterator[Broker]:
    """Connect, hear the agent's companion, and at the end send what is still unsent.

    Raises:
        BrokerError: the broker cannot be reached or refuses the credentials.
    """
    try:
        client = await nats.connect(
            url,
            name="crafter",
            connect_timeout=_CONNECT_S,
            max_reconnect_attempts=10,
            allow_reconnect=True,
            error_cb=_ignore,
            **_login(credentials),
        )
    except (NatsError, OSError, TimeoutError) as error:
        raise BrokerError(
            f"no broker at {url!r} ({error}): start one with `echoic up`, or name it "
            "with --url"
        ) from error
    broker = Broker(client)
    try:
        await broker.listen(agent)
        yield broker
    finally:
        await client.drain()


def _login(credentials: Path | None) -> dict[str, str]:
    """The options that log in with a `.creds` file or one of user and password."""
    if credentials is None:
        return {}
    if credentials.suffix == ".creds":
        return {"user_credentials": str(credentials)}
    try:
        login = json.loads(credentials.read_text(encoding="utf-8"))
        return {"user": str(login["user"]), "password": str(login["password"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BrokerError(
            f"cannot read credentials from {str(credentials)!r} ({error!r}): give a "
            '.creds file or JSON {"user": …, "password": …}'
        ) from error


async def _ignore(error: Exception) -> None:
    """Connection errors are told once, by the call that fails."""
