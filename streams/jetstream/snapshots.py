"""Snapshots of streams by the broker's own API: taken at one point, and put back.

A snapshot of nats-server 2.15 holds the messages up to the sequence at which it was asked
for, with their sequences and times, which no copy by publishing could keep (ADR 0066).
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import TimeoutError as NatsTimeoutError

from streams.errors import LogRefused, LogUnavailable
from streams.jetstream.connection import answer, call, translated
from streams.jetstream.hardened_client import BrokerClient

CHUNK_BYTES = 256_000
"""Bytes of one message of a snapshot; the server's limit of a message is 1 MB."""

_SILENCE_S = 20.0
"""Seconds without a message after which a snapshot or its restoration has failed."""

_MARK = b"NATSARC1"
"""What the archive of nats-server 2.15 begins with, behind the header of its compression. An
older server copies its files one after the other, which is not one point."""
_MARK_WITHIN = 64


class Taking:
    """A snapshot that is being sent."""

    def __init__(self, subscription: Subscription, begun: dict[str, Any]) -> None:
        self._subscription = subscription
        self.config: dict[str, Any] = begun["config"]
        """Of the stream."""
        self.state: dict[str, Any] = begun["state"]
        """Of the stream at the point of the snapshot."""

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the snapshot.

        Raises:
            LogUnavailable: the broker stopped sending.
            LogRefused: it says that it cannot, or is too old.
        """
        is_first = True
        while (message := await self._next()).data:
            if is_first and _MARK not in message.data[:_MARK_WITHIN]:
                raise LogRefused(
                    "the broker is older than nats-server 2.15: its snapshots are not"
                    " of one moment"
                )
            is_first = False
            yield message.data
            # An acknowledgement lets the server send more; the last chunk asks for none.
            if message.reply:
                await message.respond(b"")
        status = (message.headers or {}).get("Status", "")
        if status.startswith(("4", "5")):
            about = (message.headers or {}).get("Description", "")
            raise LogRefused(f"the broker ended the snapshot: {status} {about}")

    async def _next(self) -> Msg:
        try:
            return await self._subscription.next_msg(_SILENCE_S)
        except NatsTimeoutError as error:
            raise LogUnavailable(
                f"the broker sent nothing of the snapshot for {_SILENCE_S:.0f} s"
            ) from error


@asynccontextmanager
async def taking(client: BrokerClient, stream: str) -> AsyncIterator[Taking]:
    """Ask for a snapshot of a stream, without its consumers; its point is now.

    Raises:
        LogRefused: there is no such stream, or the credentials may not.
        LogUnavailable: the broker does not answer.
    """
    inbox = client.new_inbox()
    with translated(repr(inbox)):
        subscription = await client.subscribe(inbox)
    try:
        wanted = {
            "deliver_subject": inbox,
            "no_consumers": True,
            "chunk_size": CHUNK_BYTES,
        }
        begun = await call(client, f"$JS.API.STREAM.SNAPSHOT.{stream}", wanted)
        yield Taking(subscription, begun)
    finally:
        if not client.is_closed:
            await subscription.unsubscribe()


async def put_back(
    client: BrokerClient,
    config: dict[str, Any],
    state: dict[str, Any],
    chunks: Iterable[bytes],
) -> dict[str, Any]:
    """Make a stream of a snapshot, and return its state.

    Raises:
        LogRefused: there is such a stream, or it cannot be made of this.
        LogUnavailable: the broker does not answer.
    """
    subject = f"$JS.API.STREAM.RESTORE.{config['name']}"
    begun = await call(client, subject, {"config": config, "state": state})
    to = begun["deliver_subject"]
    for chunk in chunks:
        # An empty answer means: go on.
        answer(subject, await _sent(client, to, chunk))
    done = answer(subject, await _sent(client, to, b""))
    found: dict[str, Any] = done["state"]
    return found


async def _sent(client: BrokerClient, subject: str, body: bytes) -> Msg:
    with translated("while a stream was put back"):
        return await client.request(subject, body, _SILENCE_S)
