"""The nats.py client, hardened against what a sensor may send, and made faster.

It overrides private methods of the library, so its tests compare the two: an update of the
library that moves them fails there.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count
from typing import Any

from nats.aio.client import Client, Srv
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import (
    ConnectionClosedError,
    ConnectionReconnectingError,
    NoRespondersError,
    ProtocolError,
    SecureConnRequiredError,
    TimeoutError,
)
from nats.protocol.parser import Parser

from streams.cancellation import heed_cancellation
from streams.headers import block_of, parse_headers, status_of
from streams.jetstream.closing import closed, cut, drop_unsent, stop_reconnecting
from streams.jetstream.majority import has_another, leave, named

_MISSING_S = 2.5
"""Seconds for which a node of a cluster may leave every request unanswered."""

_log = logging.getLogger(__name__)

_Receiver = Callable[[bytes, bytes, bytes, bytes], None]
"""Called with a message: subject, reply, header block (empty for none), body."""

Admit = Callable[[str, int], None]
"""Called with a sender, and the bytes that it is about to publish; raises if it may not."""

Framed = tuple[str, bytes, bytes]
"""A message to be sent: subject, header block (never empty), body."""


class MessageParser(Parser):
    """Parse messages here, and leave every other line to the library's parser.

    The library's expressions take a form feed or vertical tab in a subject for a blank, and
    end the connection at a line that they then cannot read. The server writes single spaces.
    """

    nc: "BrokerClient"

    def reset(self) -> None:
        """Drop what is unread, for a new connection."""
        super().reset()
        self._unread = bytearray()
        self._needed = 0

    async def parse(self, data: bytes = b"") -> None:
        """Hand on the messages that are whole; keep the rest for the next time."""
        self._unread += data
        # While a large message comes, looking at its part again each time would be quadratic.
        while len(self._unread) >= self._needed and (line := await self._messages()):
            await super().parse(line)

    async def _messages(self) -> bytes:
        """Hand on messages up to a line that is none, and return that line.

        Raises:
            ProtocolError: a line that begins like a message's is none.
        """
        # One copy for all whole messages: slices of `bytes` are the values handed on.
        received, start, self._needed = bytes(self._unread), 0, 0
        while (end := received.find(_CRLF, start)) >= 0:
            words = received[start:end].split(b" ")
            if words[0] not in _MESSAGE_WORDS:
                del self._unread[: end + 2]
                return received[start : end + 2]
            # MSG <subject> <sid> [reply] <size>; HMSG has the size of the headers before
            # the total. The sizes are read from the end, as the reply may be absent.
            try:
                head = int(words[-2]) if words[0] == b"HMSG" else 0
                body, after = end + 2 + head, end + 2 + int(words[-1])
                sid = int(words[2])
            except (IndexError, ValueError):
                raise ProtocolError(f"nats: malformed {words[0]!r}") from None
            if after + 2 > len(received):
                self._needed = after + 2 - start
                break
            reply = words[3] if len(words) > _MESSAGE_WORDS[words[0]] else b""
            message = words[1], reply, received[end + 2 : body], received[body:after]
            start = after + 2
            if sid in self.nc.receivers:
                self.nc.receivers[sid](*message)
            else:
                await self.nc.hand_on(sid, *message)
        del self._unread[:start]
        return b""


_CRLF = b"\r\n"
_MESSAGE_WORDS = {b"MSG": 4, b"HMSG": 5}
"""How many words a message's line has without the subject to reply to."""


class BrokerClient(Client):
    """A client that no subject can disconnect, with cheaper headers and requests.

    It belongs to one event loop: parser, receivers and requests all run there.
    """

    _reported = ""

    admit: Admit | None = None
    """Counts the bytes that a sender publishes by Echoic's own account, and refuses too many.
    None: the broker's watch counts those of the account that this is a connection of."""

    def __init__(self) -> None:
        """Make a client that is not connected yet."""
        super().__init__()
        self._ps = MessageParser(self)
        self.receivers: dict[int, _Receiver] = {}
        """By the id of their subscription."""
        self._answers_to = ""
        # By token of the reply subject; each entry is removed by the request that made it.
        self._asked: dict[bytes, asyncio.Future[Msg]] = {}
        self._tokens = count()
        self._missing_since: float | None = None
        self._answered_at = 0.0

    async def receive(self, subject: str, receiver: _Receiver) -> Subscription:
        """Subscribe; `receiver`, which may not raise, is called as each message is parsed.

        It runs inside the read loop, so that an error would end the connection. The
        library's queue and task would double the cost of a message.
        """
        subscription = await self.subscribe(subject)
        self.receivers[subscription._id] = receiver
        return subscription

    async def hand_on(
        self, sid: int, subject: bytes, reply: bytes, block: bytes, body: bytes
    ) -> None:
        """Pass a message of an ordinary subscription on to the library."""
        # The library would end its connection at a subject that is not UTF-8.
        readable = subject.decode(errors="replace").encode()
        await self._process_msg(sid, readable, reply, body, block)

    async def _request_new_style(
        self,
        subject: str,
        payload: bytes,
        timeout: float = 1,  # the library's
        headers: dict[str, Any] | None = None,
    ) -> Msg:
        """Send a request without the library's queue, task and timeout for each reply.

        Raises:
            TimeoutError: nats.errors', no reply came within `timeout` seconds.
        """

        async def send(reply: str) -> None:
            await self.publish(subject, payload, reply=reply, headers=headers)

        return await self._replied(send, timeout)

    async def ask(self, messages: Sequence[Framed], timeout_s: float) -> Msg:
        """Send messages with one write, and return the reply to the last of them.

        Raises:
            TimeoutError: nats.errors', no reply came in time.
            NoRespondersError: nobody listens to the last one's subject.
        """

        async def send(reply: str) -> None:
            *others, last = messages
            commands = [_command(each, "") for each in others]
            command = b"".join([*commands, _command(last, reply)])
            if self.is_closed:
                raise ConnectionClosedError
            self.stats["out_msgs"] += len(messages)
            self.stats["out_bytes"] += sum(len(body) for *_, body in messages)
            await self._dispatch(command)

        answer = await self._replied(send, timeout_s)
        if answer.headers and answer.headers.get("Status") == "503":
            raise NoRespondersError
        return answer

    async def _replied(
        self, send: Callable[[str], Awaitable[None]], timeout_s: float
    ) -> Msg:
        """Call `send` with a subject to reply to, and return the reply."""
        # One wildcard subscription serves all requests of the connection.
        if not self._answers_to:
            self._answers_to = self.new_inbox() + "."
            await self.receive(self._answers_to + "*", self._answered)
        loop, token = asyncio.get_running_loop(), str(next(self._tokens))
        answer: asyncio.Future[Msg] = loop.create_future()
        self._asked[token.encode()] = answer
        timer, asked = loop.call_later(timeout_s, _expire, answer), loop.time()
        try:
            await send(self._answers_to + token)
            found = await answer
        except TimeoutError:
            await self._miss(asked)
            raise
        finally:
            timer.cancel()
            del self._asked[token.encode()]
        if found.headers and found.headers.get("Status") == "503":
            await self._miss(asked)
        else:
            self._missing_since, self._answered_at = None, loop.time()
        return found

    async def _miss(self, asked: float) -> None:
        """Note a request without an answer; leave a node that has given none for a while."""
        self._missing_since = self._missing_since or max(asked, self._answered_at)
        missing_s = asyncio.get_running_loop().time() - self._missing_since
        if missing_s < _MISSING_S or not has_another(self):
            return
        self._missing_since = None
        if self.is_connected:
            _log.warning("%s does not answer; trying another", named(self))
            await leave(self)

    async def _attempt_reconnect(self) -> None:
        """Connect to the next node; what waits for an answer is told, and may ask again."""
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(ConnectionReconnectingError())
        self._missing_since = None
        # The library waits until what it sent is read, which a stopped node never does.
        cut(self)
        await super()._attempt_reconnect()

    def _answered(self, subject: bytes, _: bytes, block: bytes, body: bytes) -> None:
        # A reply that comes after its request timed out finds no entry, and is dropped.
        answer = self._asked.get(subject.rpartition(b".")[2])
        if answer is not None and not answer.done():
            headers, status = parse_headers(block), status_of(block)[0]
            if status:
                headers["Status"] = status
            answer.set_result(
                Msg(self, subject.decode(), data=body, headers=headers or None)
            )

    def _remove_sub(self, sid: int, max_msgs: int = 0) -> None:
        self.receivers.pop(sid, None)
        super()._remove_sub(sid, max_msgs)

    async def close(self) -> None:
        """Close, whatever fails at it: nothing is raised but this task's cancellation."""
        await closed(self, super().close())

    async def _close(self, status: int, do_cbs: bool = True) -> None:
        """Close; what was never sent is dropped if the broker is away."""
        await stop_reconnecting(self)
        if not self.is_connected:
            drop_unsent(self)
        await super()._close(status, do_cbs)

    def _connect_command(self) -> bytes:
        """Return the line that logs in; refuse to send it in the clear instead of by TLS.

        Raises:
            SecureConnRequiredError: the address is `tls://`, and the server offers no TLS.
        """
        # The library leaves it to the server, and so to whoever stands in its place.
        server = self._current_server
        is_tls = server is not None and server.uri.scheme == "tls"
        if is_tls and not self._server_info.get("tls_required"):
            raise SecureConnRequiredError
        return super()._connect_command()

    async def _send_ping(self, future: "asyncio.Future[bool] | None" = None) -> None:
        """Send a PING behind all that was sent before: its PONG says that that arrived.

        The library's overtakes what it has not written yet, as a subscription made just now.
        """
        if self._pending and self.is_connected:
            unwritten, self._pending, self._pending_data_size = self._pending, [], 0
            self._transport.writelines(unwritten)  # type: ignore[union-attr]
        await super()._send_ping(future)

    async def _process_pong(self) -> None:
        """Take an answer to a PING, also where nobody waits for it any more.

        The library would stop reading for good, while the connection stays open.
        """
        if self._pongs and self._pongs[0].done():
            self._pongs[0] = asyncio.get_running_loop().create_future()
        await super()._process_pong()

    async def _connect_to_server(self, server: Srv) -> None:
        # The library's loop would try again.
        heed_cancellation()
        # Of one that was let in, and whose flush nobody answered, the library leaves all.
        cut(self)
        for task in (self._reading_task, self._ping_interval_task, self._flusher_task):
            if task is not None:
                task.cancel()
        await super()._connect_to_server(server)

    async def _process_connect_init(self) -> None:
        """Do the handshake, and close the socket if it fails."""
        try:
            await super()._process_connect_init()
            _tell_that_it_is_over_tls(getattr(self._transport, "_io_writer", None))
        except BaseException:
            # The library leaves it open, one more for each failed attempt; and the end of TLS
            # takes an answer, which one that failed may never give.
            cut(self)
            self._transport = None
            raise

    async def report(self, error: Exception) -> None:
        """Log an error, but not the same one twice in a row."""
        if repr(error) != self._reported:
            self._reported = repr(error)
            _log.warning("connection to the broker: %r", error)

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        return parse_headers(raw)

    async def _send_publish(
        self,
        subject: str,
        reply: str,
        payload: bytes,
        payload_size: int,
        headers: Mapping[str, Any] | None,
    ) -> None:
        block = block_of(headers) if headers and subject else None
        # A message without headers, or with one that is not plain, is left to the library.
        if block is None:
            given = None if headers is None else dict(headers)
            await super()._send_publish(subject, reply, payload, payload_size, given)
            return
        self.stats["out_msgs"] += 1
        self.stats["out_bytes"] += payload_size
        command = _command((subject, block, payload), reply)
        if reply:
            await self._dispatch(command)
        else:
            await self._queue(command)

    async def _dispatch(self, command: bytes) -> None:
        """Send what somebody waits for the reply to."""
        if self.is_connected and not self._pending:
            # It has nothing to be sent with it, so it is written at once: the library's
            # flusher task would send it a turn later.
            self._transport.write(command)  # type: ignore[union-attr]
            return
        await self._queue(command)

    async def _queue(self, command: bytes) -> None:
        await self._send_command(command)
        if self._flush_queue is not None and self._flush_queue.empty():
            await self._flush_pending()


def _tell_that_it_is_over_tls(writer: asyncio.StreamWriter | None) -> None:
    """Do what asyncio does for its own connections: else it warns at the end of each."""
    if writer is None or writer.get_extra_info("sslcontext") is None:
        return
    # One that was lost in the handshake has no protocol any more.
    if (protocol := writer.transport.get_protocol()) is not None:
        protocol._over_ssl = True  # type: ignore[attr-defined]


def _command(message: Framed, reply: str) -> bytes:
    """Return the protocol's line, headers and body of a message."""
    subject, block, body = message
    sizes = f"{len(block)} {len(block) + len(body)}"
    line = f"HPUB {subject} {reply} {sizes}\r\n".encode()
    return b"".join((line, block, body, b"\r\n"))


def _expire(answer: asyncio.Future[Msg]) -> None:
    if not answer.done():
        answer.set_exception(TimeoutError())
