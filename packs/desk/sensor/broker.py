"""The sensor's connection: each event is published and its storage acknowledged.

It publishes only below `in.<agent>.desk`; its credentials allow nothing else.
"""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client
from nats.errors import Error as NatsError

from schemas.values.record import Wire

SOURCE = "desk"
DEFAULT_URL = "nats://127.0.0.1:4222"

Publish = Callable[[Wire], Awaitable[None]]

# Seconds for one acknowledgement, and how often an event is sent before giving up.
_STORED_S = 5.0
_TRIES = 3


class BrokerError(Exception):
    """The broker cannot be reached, or refuses the sensor."""


async def connect(url: str | None, credentials: Path | None) -> Client:
    """Open a connection; `url` overrides the one in the credentials.

    Raises:
        BrokerError: the broker cannot be reached or refuses the credentials.
    """
    login = _login(credentials)
    address = url or login.pop("url", DEFAULT_URL)
    login.pop("url", None)
    try:
        client = await nats.connect(
            address,
            name=SOURCE,
            connect_timeout=5,
            max_reconnect_attempts=1,
            reconnect_time_wait=1,
            error_cb=_ignore,
            **login,
        )
    except (NatsError, OSError, TimeoutError) as error:
        raise BrokerError(
            f"no broker at {address!r} ({error!r}): start one with `echoic up`, or "
            "name it with --url"
        ) from error
    # The first connection fails fast, with a message; once connected, the client retries
    # for ever, so that a restart of the broker does not end the sensor.
    client.options["max_reconnect_attempts"] = -1
    return client


def to_broker(client: Client) -> Publish:
    """Return a function that publishes over an open connection."""

    async def publish(message: Wire) -> None:
        """Send an event and wait until it is stored; its id makes a repeat harmless."""
        for _ in range(_TRIES):
            try:
                # A request, since JetStream acknowledges by a reply what it has stored.
                answer = await client.request(
                    message.subject,
                    message.body,
                    _STORED_S,
                    headers=dict(message.headers),
                )
            except (NatsError, OSError, TimeoutError):
                # The event may be stored and only the reply lost: the state recognises a
                # repeat by its ce-id.
                continue
            refused = json.loads(answer.data or b"{}").get("error")
            if refused is not None:
                raise BrokerError(f"{message.subject!r} was refused: {refused!r}")
            return
        raise BrokerError(
            f"nobody stored {message.subject!r}: is Echoic up, and may these "
            "credentials publish for this agent?"
        )

    return publish


def _login(credentials: Path | None) -> dict[str, Any]:
    """Return the options that log in as a file says.

    Its account may subscribe to its own inbox alone, so the file names that prefix, too.

    Raises:
        BrokerError: the file cannot be read, or is no credentials.
    """
    if credentials is None:
        return {}
    if credentials.suffix == ".creds":
        return {"user_credentials": str(credentials)}
    try:
        login = json.loads(credentials.read_text(encoding="utf-8"))
        return {
            "url": login.get("url", DEFAULT_URL),
            "user": login["user"],
            "password": login["password"],
            "inbox_prefix": login.get("inbox_prefix", "_INBOX").encode(),
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BrokerError(
            f"cannot read credentials from {str(credentials)!r} ({error!r}): give a "
            '.creds file or JSON {"user": …, "password": …, "inbox_prefix": …}'
        ) from error


async def _ignore(error: Exception) -> None:
    """Drop an error of the connection: the call that fails reports it."""
