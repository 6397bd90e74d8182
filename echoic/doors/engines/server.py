"""The bridge's WebSocket: who may connect, and to which character."""

import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Origin

from echoic.doors.engines.seat import Seat, Socket
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import BrokerClient
from streams.topology import SENSOR_MESSAGE_BYTES

_Handler = Callable[[ServerConnection], Awaitable[None]]

_PREFIX = "/v1/"
"""The path before a character's name; another version of the messages would have another."""

_FRAME_BYTES = 2 * SENSOR_MESSAGE_BYTES
"""A larger message ends the connection (1009); a smaller one is refused by name."""

_PING_S = 10.0
"""Seconds between pings, and until one without an answer ends the connection."""


class Playing(Protocol):
    """What plays one character with whoever connects."""

    async def open(self) -> None:
        """Begin to hear what the character does and says."""

    def close(self) -> None:
        """Let go of what waits."""

    async def play(self, socket: Socket) -> None:
        """Serve a connection until it ends."""


class _SensorClient(BrokerClient):
    """A connection that notices when its rights are gone, and would be tried for ever."""

    is_refused = False

    async def report(self, error: Exception) -> None:
        """Log an error, and note a refusal."""
        self.is_refused |= "authorization violation" in str(error).lower()
        await super().report(error)


@dataclass(frozen=True, slots=True)
class Bridge:
    """A bridge that serves."""

    server: Server
    clients: tuple[_SensorClient, ...]

    @property
    def port(self) -> int:
        """The port that it listens on."""
        port: int = next(iter(self.server.sockets)).getsockname()[1]
        return port

    @property
    def is_refused(self) -> bool:
        """Whether the broker refuses a connection's credentials, as after a revocation."""
        return any(client.is_refused for client in self.clients)


@asynccontextmanager
async def bridge(
    access: Mapping[str, Credentials],
    source: str,
    token: str | None,
    *,
    listen: tuple[str, int],
    origins: Sequence[str] = (),
    seat: Callable[[BrokerClient, str, str], Playing] = Seat,
) -> AsyncIterator[Bridge]:
    """Serve engines for the characters with `access`, for the length of the block.

    `origins` are the web pages that may connect; programs that name none always may. Without
    a token anybody may connect, by any path, for the one character that there is.

    Raises:
        LogUnavailable: the broker does not answer, or refuses the credentials.
        OSError: the address is in use.
    """
    async with AsyncExitStack() as stack:
        seats: dict[str, Playing] = {}
        clients = []
        for agent, credentials in access.items():
            client = await stack.enter_async_context(
                connected(credentials, "echoic bridge", _SensorClient)
            )
            assert isinstance(client, _SensorClient), "of the kind that was asked for"
            clients.append(client)
            seats[_PREFIX + agent] = made = seat(client, agent, source)
            await made.open()
            stack.callback(made.close)
        assert token is not None or len(seats) == 1, "nobody says which is meant"
        admit = _Admission(token, frozenset(seats)) if token is not None else None
        host, port = listen
        server = serve(
            _handler(seats),
            host,
            port,
            process_request=admit,
            # None stands for programs that are no browsers.
            origins=[None, *map(Origin, origins)],
            max_size=_FRAME_BYTES,
            ping_interval=_PING_S,
            ping_timeout=_PING_S,
            compression=None,
            server_header=None,
        )
        yield Bridge(await stack.enter_async_context(server), tuple(clients))


class _Admission:
    """Refuses who has not the token, or asks for a character that is not served."""

    def __init__(self, token: str, paths: frozenset[str]) -> None:
        self._expected = f"Bearer {token}".encode()
        self._paths = paths

    def __call__(
        self, connection: ServerConnection, request: Request
    ) -> Response | None:
        given = request.headers.get_all("Authorization")
        # In constant time, and before anything is said of what there is.
        if len(given) != 1 or not hmac.compare_digest(
            given[0].encode(errors="replace"), self._expected
        ):
            return connection.respond(
                HTTPStatus.UNAUTHORIZED, "Authorization: Bearer <token> is needed\n"
            )
        if request.path not in self._paths:
            known = ", ".join(sorted(self._paths))
            return connection.respond(HTTPStatus.NOT_FOUND, f"there is {known}\n")
        return None


def _handler(seats: Mapping[str, Playing]) -> _Handler:
    only = next(iter(seats.values()))

    async def play(connection: ServerConnection) -> None:
        assert connection.request is not None, "it was admitted"
        with suppress(ConnectionClosed):
            await seats.get(connection.request.path, only).play(connection)

    return play
