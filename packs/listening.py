"""A simulation's connection: it publishes events and receives what the companion says."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from nats.aio.client import Client
from nats.aio.msg import Msg

from packs import broker
from schemas.values.subjects import PART

# With a quarter of a second before each, a simulation outlasts four seconds without a broker.
_RECONNECTS = 16
_UNHEARD = 1_000
"""How many received messages may wait; then the oldest, and so the stalest, is dropped."""

_KNOWN = 10_000
"""How many responses are remembered, so that none is obeyed twice."""

_Inbox = asyncio.Queue[Msg]
"""What was received; several connections may share one."""


def inbox(room: int = _UNHEARD) -> _Inbox:
    """Return a queue for so many received messages."""
    return asyncio.Queue(room)


class Broker:
    """An open connection."""

    def __init__(self, client: Client, said: "_Inbox | None" = None) -> None:
        """Take the connection, and where what it receives goes; else a queue of its own."""
        self._client = client
        self.publish = partial(broker.publish, client)
        self._said = said or inbox()
        self._known: dict[str, None] = {}
        """The ids of the latest responses: a delivery may come again, as it was."""

    async def listen(self, agent: str) -> None:
        """Subscribe to what the agent's companion says.

        The flush makes sure that the broker knows before the first event is published.
        """
        await self._client.subscribe(f"out.{agent}.>", cb=self._on_message)
        await self._client.flush()

    async def heard(self, wait_s: float) -> Sequence[Msg]:
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

    async def _on_message(self, message: Msg) -> None:
        # A simulation acts on responses alone, which come whole.
        if message.subject.endswith(f".{PART}") or self._repeats(message):
            return
        # The callback must not wait for room: that would hold up every later message.
        if self._said.full():
            self._said.get_nowait()
        self._said.put_nowait(message)

    def _repeats(self, message: Msg) -> bool:
        id_ = (message.headers or {}).get("ce-id")
        if id_ is None:
            return False
        if id_ in self._known:
            return True
        self._known[id_] = None
        if len(self._known) > _KNOWN:
            del self._known[next(iter(self._known))]
        return False


@asynccontextmanager
async def connected(
    source: str, agent: str, url: str | None, credentials: Path | None
) -> AsyncIterator[Broker]:
    """Connect and subscribe, until the end of the block.

    Raises:
        BrokerError: the broker cannot be reached or refuses the credentials.
    """
    connection = broker.connected(source, url, credentials, reconnects=_RECONNECTS)
    async with connection as client:
        heard = Broker(client)
        await heard.listen(agent)
        yield heard
