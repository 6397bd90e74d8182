"""How the bundled sensors reach the broker: each event is published and acknowledged.

A sensor's credentials let it publish below `in.<agent>.<source>`, and subscribe to
`out.<agent>` and to its own inbox; nothing else.
"""

import asyncio
import json
import ssl
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client
from nats.errors import Error as NatsError

from schemas.values.record import Wire
from schemas.values.subjects import SubjectError

Publish = Callable[[Wire], Awaitable[None]]
"""Publishes one event of a sensor's."""

_DEFAULT_URL = "nats://127.0.0.1:4222"

# Seconds for one attempt to connect, for one acknowledgement and for a close, and how often
# an event is sent before giving up.
_CONNECT_S = 5
_STORED_S = 5.0
_CLOSE_S = 5.0
_TRIES = 3
_PAUSE_S = 0.25


class BrokerError(Exception):
    """The broker cannot be reached, or refuses the sensor."""


@asynccontextmanager
async def connected(
    name: str, url: str | None, credentials: Path | None, *, reconnects: int
) -> AsyncIterator[Client]:
    """Connect until the end of the block; `url` overrides the one in the credentials.

    A connection is tried `reconnects` times; -1: once at first, for ever when it is lost.

    Raises:
        BrokerError: the broker cannot be reached or refuses the credentials.
    """
    login = _login(credentials)
    named, ca = login.pop("url", _DEFAULT_URL), login.pop("ca", None)
    address = url or named
    # The nodes of a cluster are divided by commas.
    scheme, _, hosts = address.rpartition("://")
    try:
        client = await nats.connect(
            [f"{scheme or 'nats'}://{host}" for host in hosts.split(",")],
            tls=ssl.create_default_context(cafile=ca) if scheme == "tls" else None,
            name=name,
            connect_timeout=_CONNECT_S,
            # The first connection is not tried for ever: it fails with a message.
            max_reconnect_attempts=max(1, reconnects),
            reconnect_time_wait=_PAUSE_S,
            error_cb=_ignore,
            **login,
        )
    except (NatsError, OSError, TimeoutError) as error:
        raise BrokerError(
            f"no broker at {address!r} ({error!r}): start one with `echoic up`, or "
            "name it with --url"
        ) from error
    client.options["max_reconnect_attempts"] = reconnects
    try:
        yield client
    finally:
        await _closed(client)


async def _closed(client: Client) -> None:
    """Close it; nothing that fails takes the place of the error that ended the block.

    What is unsent cannot be flushed to a broker that is gone, and the library may leave a
    cancellation in the socket, which is none of this task.
    """
    closing = asyncio.create_task(client.close())
    try:
        await asyncio.wait({closing}, timeout=_CLOSE_S)
    finally:
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        # It may have been cut off before it came to the socket.
        writer = getattr(client._transport, "_io_writer", None)
        if writer is not None:
            writer.close()


async def publish(client: Client, message: Wire) -> None:
    """Send an event and wait until the broker has stored it.

    After a lost acknowledgement it is sent again: the state recognises the same ce-id.

    Raises:
        BrokerError: it was not stored.
    """
    failure: Exception | None = None
    for _ in range(_TRIES):
        try:
            # A request, since JetStream acknowledges by a reply what it has stored.
            reply = await client.request(
                message.subject, message.body, _STORED_S, headers=dict(message.headers)
            )
        except (NatsError, OSError, TimeoutError) as error:
            failure = error
            continue
        # JetStream's reply holds stream and sequence once stored,
        # or `error` in their place.
        refused = json.loads(reply.data or b"{}").get("error")
        if refused is not None:
            raise BrokerError(f"{message.subject!r} was not stored: {refused!r}")
        return
    raise BrokerError(
        f"nobody stored {message.subject!r} ({failure!r}): is Echoic up, and may these "
        "credentials publish for this agent?"
    ) from failure


def parser(name: str, description: str) -> ArgumentParser:
    """Return the options that all sensors have."""
    made = ArgumentParser(prog=name, description=description)
    add = made.add_argument
    add("--agent", required=True, help="whose companion hears of it")
    add("--url", help=f"the broker; default: the credentials', else {_DEFAULT_URL}")
    add(
        "--credentials",
        type=Path,
        help="JSON with user, password, inbox_prefix, url, ca",
    )
    return made


def simulated(name: str, description: str, follow: float) -> ArgumentParser:
    """Return the options of a simulation that hears advice and may follow it."""
    made = parser(name, description)
    add = made.add_argument
    add("--out", metavar="FILE", help="write events as JSON lines instead; no advice")
    add("--follow", type=_unit, default=follow, help="probability of following advice")
    add("--lockstep", type=float, default=0.0, metavar="MS",
        help="wait so long for advice after what is published")  # fmt: skip
    add("--run", help="event ids derive from it; default: new ones each time")
    return made


def _unit(text: str) -> float:
    """Read an option that is a probability."""
    value = float(text)
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} is no probability: give 0 to 1")
    return value


def date(text: str) -> datetime:
    """Read an option that is a date: its first moment, in UTC."""
    return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)


def status_of(name: str, run: Callable[[], None]) -> int:
    """Run a sensor and return its exit status, as shells expect it.

    0 at its end, 1 without a broker, 130 when interrupted.
    """
    try:
        run()
    except (BrokerError, SubjectError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{name}: stopped", file=sys.stderr)
        return 130
    return 0


def counted(outcomes: Sequence[str]) -> str:
    """Return how often each outcome came, for a summary; empty without any."""
    return ", ".join(
        f"{outcomes.count(outcome)} {outcome}" for outcome in sorted(set(outcomes))
    )


@contextmanager
def into_file(path: str) -> Iterator[Publish]:
    """Publish into a file of JSON lines for the length of the block."""
    with Path(path).open("w", encoding="utf-8") as file:

        async def publish(message: Wire) -> None:
            file.write(as_line(message) + "\n")

        yield publish


def as_line(message: Wire) -> str:
    """Return an event as a line of JSON, as `echoic pub --file` reads it."""
    line = {
        "subject": message.subject,
        "headers": dict(message.headers),
        "body": json.loads(message.body),
    }
    return json.dumps(line, ensure_ascii=False)


def _login(credentials: Path | None) -> dict[str, Any]:
    """Return the options that log in as a file says.

    Its account may subscribe to its own inbox alone, so the file names that prefix, too.

    Raises:
        BrokerError: the file cannot be read, or is no credentials.
    """
    if credentials is None:
        return {}
    # NATS's own format, of a token and a key, which its client reads by itself.
    if credentials.suffix == ".creds":
        return {"user_credentials": str(credentials)}
    try:
        login = json.loads(credentials.read_text(encoding="utf-8"))
        where = {key: str(login[key]) for key in ("url", "ca") if login.get(key)}
        return where | {
            "user": str(login["user"]),
            "password": str(login["password"]),
            "inbox_prefix": str(login.get("inbox_prefix", "_INBOX")).encode(),
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BrokerError(
            f"cannot read credentials from {str(credentials)!r} ({error!r}): give a "
            '.creds file or JSON {"user": …, "password": …, "inbox_prefix": …}'
        ) from error


async def _ignore(error: Exception) -> None:
    """Drop an error of the connection: the call that fails reports it."""
