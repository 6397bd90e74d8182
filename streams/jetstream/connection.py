"""Connections to the broker, and requests to its JetStream API.

A connection reconnects for ever and logs that it does; a request has a deadline, and an
error reply is raised as an error of `streams.errors`.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from streams.errors import IntakeFull, LogForbidden, LogFull, LogRefused, LogUnavailable
from streams.jetstream.accounts import Credentials
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.majority import has_another, keep_to_majority
from streams.jetstream.reading_client import ReadingClient
from streams.topology import BOUNDED, OVER_QUOTA

DEADLINE_S = 20.0
"""Seconds for which an operation is tried before it fails; longer than a leader election."""

ATTEMPT_S = 2.0
"""Seconds that one attempt may take."""

_RECONNECT_S = 0.2
"""Seconds between two attempts to reconnect."""

_PAUSES_S = (0.05, 0.1, 0.2, 0.5, 1.0)
"""Seconds between attempts: short at first, for a lost answer, then as a restart needs."""

_FULL = {10023, 10047, 10077, 10116}
"""Error codes: insufficient resources, storage, store failed, limit of the stream."""
_PASSING = {10005, 10008, 10009, 10039, 10076, 10109, 10118, 10203}
"""Error codes of a server that is starting, stopping or changing its leader, of a cluster whose
nodes do not know yet that the others are there, and of a segment that was just sealed: what
follows it takes the message in a moment."""


_REFUSED = "authorization violation"
"""What the server says of credentials that it does not know; one that is slow to greet, or to
be greeted, says something else."""


class ApiError(LogRefused):
    """An error reply of the JetStream API."""

    def __init__(self, subject: str, error: Mapping[str, Any]) -> None:
        self.code = int(error.get("err_code", 0))
        """The server's own code, such as 10071 for a stale expectation."""
        self.status = int(error.get("code", 0))
        super().__init__(
            f"the broker refused {subject!r}: {error.get('description')!r}"
            f" ({self.code})"
        )


async def connect(
    credentials: Credentials,
    name: str = "echoic",
    kind: type[BrokerClient] = BrokerClient,
) -> BrokerClient:
    """Open a connection that survives restarts of the broker.

    Raises:
        LogUnavailable: the broker does not answer.
        LogForbidden: it refuses the credentials.
    """
    client = kind()
    try:
        await client.connect(
            credentials.servers,
            name=name,
            tls=_tls_of(credentials),
            # Without a user of their own, the credentials may stand in the address.
            user=credentials.user or None,
            password=credentials.password or None,
            inbox_prefix=credentials.inbox_prefix.encode(),
            connect_timeout=int(ATTEMPT_S),
            # A first connection that fails is told at once; later ones are tried for ever.
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=_RECONNECT_S,  # type: ignore[arg-type]  # takes floats
            ping_interval=10,
            max_outstanding_pings=2,
            error_cb=client.report,
        )
        # The library reads these at each disconnect, so they may change once connected.
        client.options |= {"allow_reconnect": True, "max_reconnect_attempts": -1}
        return client
    except BaseException as error:
        await client.close()
        if not isinstance(error, (OSError, nats.errors.Error)):
            raise
        is_refused = _REFUSED in str(error).lower()
        raise (LogForbidden if is_refused else LogUnavailable)(
            f"no broker answers at {credentials.url!r} as {credentials.user!r}:"
            f" {error!r}; check that it runs and that the credentials are its own"
        ) from error


def _tls_of(credentials: Credentials) -> ssl.SSLContext | None:
    """Return by whom the broker's certificate must be signed; None: there is no TLS.

    Raises:
        OSError: the authority's file cannot be read, or is none.
    """
    if not credentials.url.startswith("tls://"):
        return None
    return ssl.create_default_context(cafile=credentials.ca)


@asynccontextmanager
async def connected(
    credentials: Credentials,
    name: str = "echoic",
    kind: type[BrokerClient] = BrokerClient,
) -> AsyncIterator[BrokerClient]:
    """Open a connection and close it at the end of the block.

    Of several nodes it stays with the majority.
    """
    client = await connect(credentials, name, kind)
    watch = None
    if has_another(client):
        # A sensor may not ask about the log.
        staying = keep_to_majority(client, is_asking=not credentials.is_of_sensor)
        watch = asyncio.create_task(staying)
    try:
        yield client
    finally:
        if watch is not None:
            watch.cancel()
        await client.close()


reading = partial(connected, kind=ReadingClient)
"""Opens a connection that can only read."""


async def call(client: Client, subject: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Ask the JetStream API once.

    Raises:
        ApiError: the answer is an error.
        LogUnavailable: no answer came.
    """
    return answer(subject, await request(client, subject, json.dumps(body).encode()))


async def insist(
    client: Client, subject: str, body: Mapping[str, Any]
) -> dict[str, Any]:
    """Ask the JetStream API until it answers or the deadline passes.

    Only for idempotent requests: one whose answer was lost is sent again.
    """
    async for last in attempts():
        try:
            return await call(client, subject, body)
        except LogUnavailable:
            if last or client.is_closed:
                raise
    raise AssertionError("unreachable")


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Raise `LogUnavailable` for any error of the client library inside the block."""
    try:
        yield
    except (nats.errors.Error, TimeoutError, OSError) as error:
        raise LogUnavailable(
            f"the broker did not answer {what}: {error!r}; is it running?"
        ) from error


async def request(
    client: Client, subject: str, body: bytes, headers: Mapping[str, str] | None = None
) -> Msg:
    """Send a request and wait for the one answer; `LogUnavailable` if none comes."""
    with translated(repr(subject)):
        return await client.request(
            subject, body, ATTEMPT_S, headers=dict(headers) if headers else None
        )


def answer(subject: str, message: Msg) -> dict[str, Any]:
    """Return the reply's JSON, or raise what its error means.

    Raises:
        LogFull: there is no room; `IntakeFull`: none in an intake stream.
        LogUnavailable: the server is not ready now.
        ApiError: any other error.
    """
    parsed: dict[str, Any] = json.loads(message.data) if message.data else {}
    error = parsed.get("error")
    if error is None:
        return parsed
    refusal = ApiError(subject, error)
    stream = parsed.get("stream")
    if refusal.code in _FULL and stream == OVER_QUOTA.name:
        raise LogFull(
            f"{refusal}: its sender is over its bounds; `echoic doctor` names by which, and"
            " when it is let in again"
        )
    if refusal.code in _FULL and stream in BOUNDED:
        raise IntakeFull(f"{refusal}: {stream} is full; see `echoic doctor`")
    if refusal.code in _FULL:
        raise LogFull(f"{refusal}; free disk space or raise the stream's limits")
    if refusal.code in _PASSING:
        raise LogUnavailable(str(refusal))
    raise refusal


async def attempts(within_s: float | None = None) -> AsyncIterator[bool]:
    """Yield until the deadline, with pauses; the value tells whether it is the last.

    The caller raises after the last one, so that the error names what was tried.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + (within_s or DEADLINE_S)
    # The deadline ends it after some 25 attempts; the range only bounds the loop.
    for turn in range(10_000):
        pause = _PAUSES_S[min(turn, len(_PAUSES_S) - 1)]
        last = loop.time() + pause >= end
        yield last
        if last:
            return
        await asyncio.sleep(pause)
