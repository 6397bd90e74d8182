"""What a client may take of the door before it says who it is: connections, and time.

uvicorn waits for a request's head for ever, reads a body that nobody wants as slowly as it
comes, and knows nothing of a connection until TLS is agreed on (ADR 0065).
"""

import asyncio
import ssl
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Literal

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import get_remote_addr

from echoic.doors.http.limits import neighbourhood

_MOST = 512
"""Connections in all; a process may usually have 1,024 files."""
_MOST_OF_ADDRESS = 64


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds a client may take."""

    ask: float = 10.0
    """For a request's head, from its first byte or the beginning of the connection; and for
    agreeing on TLS."""
    body: float = 15.0
    """For a body, read by a route or not; a route that reads it answers before."""
    leave: float = 2.0
    """For the rest of a body after its answer, and to fetch a last answer."""
    stall: float = 30.0
    """To make room for more of an answer."""


_Phase = Literal["ask", "body", "linger", "leave"]

_FULL = b"HTTP/1.1 503 Service Unavailable"
_LATE = b"HTTP/1.1 408 Request Timeout"
_REST = b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


@dataclass(slots=True)
class Connections:
    """The open connections; where there are too many, one that only waits makes room."""

    most: int = _MOST
    most_of_address: int = _MOST_OF_ADDRESS
    trusted: Collection[str] = ()
    """Proxies, which bring the connections of many clients."""
    _open: dict["GuardedProtocol", str] = field(default_factory=dict)
    """Each with its address, the oldest first."""
    _of_address: Counter[str] = field(default_factory=Counter)

    def __len__(self) -> int:
        """Return how many are open."""
        return len(self._open)

    def admit(self, one: "GuardedProtocol", address: str) -> bool:
        """Count a connection; False if there is no room and none can be made."""
        is_crowded = (
            address not in self.trusted
            and self._of_address[address] >= self.most_of_address
        )
        if (is_crowded and not self._make_room(address)) or (
            len(self._open) >= self.most and not self._make_room(None)
        ):
            return False
        self._open[one] = address
        self._of_address[address] += 1
        return True

    def leave(self, one: "GuardedProtocol") -> None:
        """Count a connection no more."""
        address = self._open.pop(one, None)
        if address is None:
            return
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]

    def _make_room(self, address: str | None) -> bool:
        """End the oldest connection, of an address or of any, that waits for nothing."""
        for each, its in self._open.items():
            if each.is_waiting and address in (None, its):
                self.leave(each)
                each.transport.abort()
                return True
        return False


@dataclass(frozen=True, slots=True)
class Guard:
    """What the connections of a door share."""

    context: ssl.SSLContext | None = None
    connections: Connections = field(default_factory=Connections)
    patience: Patience = field(default_factory=Patience)


class GuardedProtocol(H11Protocol):
    """A connection with a limit to each time that its client may take."""

    def __init__(self, guard: Guard, **usual: Any) -> None:
        """Take what uvicorn gives besides."""
        super().__init__(**usual)
        self._guard = guard
        self._patience = guard.patience
        self._phase: _Phase | None = None
        self._limit: asyncio.TimerHandle | None = None
        self._stall: asyncio.TimerHandle | None = None
        self._agreeing: asyncio.Task[None] | None = None
        self._early = b""
        """What came with the end of TLS's agreement, before anybody heard of that."""

    @property
    def is_waiting(self) -> bool:
        """Whether the client has not yet asked, or was answered."""
        return self._is_answered or self.conn.their_state is h11.IDLE

    @property
    def _is_answered(self) -> bool:
        # Before the first request there is none, whatever its type says.
        return bool(self.cycle) and self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, if there is room; with TLS once that is agreed on."""
        self.transport = transport
        remote = get_remote_addr(transport)
        address = neighbourhood(remote[0]) if remote is not None else ""
        if not self._guard.connections.admit(self, address):
            if self._guard.context is None:
                transport.write(_FULL + _REST)
            transport.close()
            self._look()
        elif self._guard.context is None:
            self._begin(transport)
        else:
            # Until TLS reads: what comes first is its.
            transport.pause_reading()
            agree = self._agree(transport, self._guard.context)
            self._agreeing = self.loop.create_task(agree)

    def _begin(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._enter("ask")

    async def _agree(
        self, transport: asyncio.Transport, context: ssl.SSLContext
    ) -> None:
        try:
            secured = await self.loop.start_tls(
                transport,
                self,
                context,
                server_side=True,
                ssl_handshake_timeout=self._patience.ask,
                ssl_shutdown_timeout=self._patience.leave,
            )
        except OSError:
            secured = None
        if isinstance(secured, asyncio.Transport) and not secured.is_closing():
            self._agreeing = None
            self._begin(secured)
            if self._early:
                self.data_received(self._early)
        else:
            transport.abort()
            self._guard.connections.leave(self)

    def data_received(self, data: bytes) -> None:
        """Take in what came, and see how far the client is."""
        if self._agreeing is not None:
            self._early += data
            return
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        super().on_response_complete()
        self._look()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that nobody uses."""
        super().timeout_keep_alive_handler()
        self._look()

    def pause_writing(self) -> None:
        """Wait for a client that does not fetch its answer, but not for ever."""
        super().pause_writing()
        if self._stall is None:
            self._stall = self.loop.call_later(
                self._patience.stall, self.transport.abort
            )

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything."""
        self._guard.connections.leave(self)
        self._enter(None)
        super().connection_lost(exc)
        if self._stall is not None:
            self._stall.cancel()

    def _look(self) -> None:
        """Give the client its time for what it has to do next."""
        if self.transport.is_closing():
            self._enter("leave")
        elif self.conn.their_state is h11.IDLE:
            # Between two requests the time is uvicorn's, until the next one begins.
            has_begun = self._phase == "ask" or self.conn.trailing_data[0]
            self._enter("ask" if has_begun else None)
        elif self.conn.their_state is h11.SEND_BODY:
            self._enter("linger" if self._is_answered else "body")
        else:
            self._enter(None)

    def _enter(self, phase: _Phase | None) -> None:
        if phase == self._phase:
            return
        self._phase = phase
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
        if phase is not None:
            seconds = {
                "ask": self._patience.ask,
                "body": self._patience.body,
                "linger": self._patience.leave,
                "leave": self._patience.leave,
            }[phase]
            self._limit = self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        """End a connection whose client took too long."""
        if self._phase == "ask" and not self.transport.is_closing():
            self.transport.write(_LATE + _REST)
            self.transport.close()
            self._look()
        else:
            self.transport.abort()
