"""The client reads the protocol as the library does, however its bytes are cut."""

import asyncio
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import (
    FlushTimeoutError,
    NoRespondersError,
    ProtocolError,
    TimeoutError,
)
from nats.protocol.parser import Parser

from handlers.broker import settle
from streams.jetstream.hardened_client import BrokerClient, MessageParser
from tests.patience import PATIENCE_S
from tests.servers import Broker, opened

MESSAGES = (
    b"MSG a.b 1 5\r\nhello\r\n",
    b"PING\r\n",
    b"HMSG ev.1.in.ana.sensor.x.y 2 $JS.ACK.LOG.c.1.2.3.4.5 22 27\r\n"
    b"NATS/1.0\r\nce-id: 1\r\n\r\nworld\r\n",
    b"MSG a 2 _INBOX.x 0\r\n\r\n",
    b"+OK\r\n",
    b"HMSG a.b 1 12 12\r\nNATS/1.0\r\n\r\n\r\n",
    b"MSG a 1 19\r\nMSG a 1 2\r\nPING\r\n\r\n\r\n",
    b"-ERR 'Slow Consumer'\r\n",
)


class Heard:
    """What a parser hands on: messages and lines, in order."""

    def __init__(self) -> None:
        self.receivers = {2: self.received}
        self.heard: list[object] = []

    def received(self, subject, reply, block, body):
        self.heard.append((2, subject, reply, block, body))

    async def hand_on(self, sid, subject, reply, block, body):
        self.heard.append((sid, subject, reply, block, body))

    async def _process_msg(self, sid, subject, reply, body, block):
        self.heard.append((sid, subject, reply, block or b"", body))

    async def _process_ping(self):
        self.heard.append("ping")

    async def _process_err(self, error):
        self.heard.append(error)


async def heard(kind: type[Parser], pieces: list[bytes]) -> list[object]:
    client = Heard()
    parser = kind(client)
    for piece in pieces:
        await parser.parse(piece)
    return client.heard


@given(st.lists(st.sampled_from(MESSAGES), max_size=8), st.data())
async def test_bytes_are_read_as_the_library_reads_them(messages, data) -> None:
    """Every message and line once and in order, whatever comes together."""
    stream = b"".join(messages)
    cuts = data.draw(st.sets(st.integers(0, len(stream)), max_size=8))
    pieces = [stream[a:b] for a, b in pairwise(sorted({0, len(stream), *cuts}))]

    assert await heard(MessageParser, pieces) == await heard(Parser, [stream])


async def test_a_blank_of_another_kind_ends_no_word() -> None:
    """A sensor's subject may hold what the library takes for the end of a word."""
    (found,) = await heard(MessageParser, [b"MSG a\x0bb\x0c.c 1 2\r\nok\r\n"])

    assert found == (1, b"a\x0bb\x0c.c", b"", b"", b"ok")


@pytest.mark.parametrize("line", [b"MSG a 1 x\r\n", b"MSG a\r\n", b"HMSG a 1\r\n"])
async def test_what_only_begins_like_a_message_is_an_error(line) -> None:
    """The library then connects again."""
    with pytest.raises(ProtocolError):
        await heard(MessageParser, [line])


@pytest.mark.services
async def test_each_answer_finds_who_asked(broker: Broker) -> None:
    """Many ask at once, before anything else was asked over the connection."""

    async def answer(message: Msg) -> None:
        await other.client.publish(
            message.reply, message.data + b"!", headers={"a": "b"}
        )

    async with opened(broker.server) as other:
        await other.client.subscribe("svc._.echo", cb=answer)
        await other.client.flush()
        asked = [b"%d" % number for number in range(50)]
        answers = await asyncio.gather(
            *(broker.client.request("svc._.echo", each, PATIENCE_S) for each in asked)
        )

    assert [each.data for each in answers] == [each + b"!" for each in asked]
    assert answers[0].headers == {"a": "b"}


@pytest.mark.services
async def test_a_flush_is_behind_what_was_sent_before(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So its answer says that the server knows of a subscription."""
    written: list[bytes] = []
    transport = broker.client._transport
    assert transport is not None
    monkeypatch.setattr(transport, "write", written.append)
    monkeypatch.setattr(transport, "writelines", written.extend)
    flushing = asyncio.ensure_future(flushed(broker.client))
    while b"PING\r\n" not in written:  # noqa: ASYNC110  # it is written by the library
        await asyncio.sleep(0)
    flushing.cancel()
    monkeypatch.undo()

    (subscribed,) = (at for at, each in enumerate(written) if b"svc._.late" in each)
    assert written.index(b"PING\r\n") > subscribed


async def flushed(client: BrokerClient) -> None:
    """Subscribe, and wait until the server knows."""
    await client.subscribe("svc._.late")
    await client.flush()


@pytest.mark.services
async def test_messages_made_ready_arrive_in_order_and_the_last_is_answered(
    broker: Broker,
) -> None:
    """With their headers and bodies; where nobody listens, that is said."""
    arrived: list[Msg] = []

    async def hear(message: Msg) -> None:
        arrived.append(message)
        if message.reply:
            await message.respond(b"done")

    block = b"NATS/1.0\r\na: b\r\n\r\n"
    async with opened(broker.server) as other:
        heard = await other.client.subscribe("svc._.*", cb=hear)
        await settle(other.client)
        sent = [(f"svc._.s{place}", block, b"%d" % place) for place in range(3)]
        answer = await broker.client.ask(sent, PATIENCE_S)
        # The server may take a while to notice a closed connection; this it knows at once.
        await heard.unsubscribe()
        await settle(other.client)

    assert answer.data == b"done"
    assert [each.data for each in arrived] == [b"0", b"1", b"2"]
    assert all(each.headers == {"a": "b"} for each in arrived)
    with pytest.raises(NoRespondersError):
        await broker.client.ask(sent, PATIENCE_S)


@pytest.mark.services
async def test_nobody_there_and_no_answer_are_told_apart(broker: Broker) -> None:
    """As by the library: at once where nobody listens, else when time is up."""
    with pytest.raises(NoRespondersError):
        await broker.client.request("svc._.nobody", b"", 5)
    await broker.client.subscribe("svc._.silent")
    with pytest.raises(TimeoutError):
        await broker.client.request("svc._.silent", b"", 0.05)


@pytest.mark.services
async def test_a_flush_that_was_given_up_leaves_the_connection_open(
    broker: Broker,
) -> None:
    """Its late PONG is taken, and whatever is asked next is answered."""
    flushing = asyncio.create_task(broker.client.flush())
    # Once the PING is on its way, and before an answer can be read.
    await asyncio.sleep(0)
    flushing.cancel()
    await asyncio.wait({flushing})

    await broker.client.flush()

    assert await broker.reader.last_sequence(">") >= 0


class Unanswered(BrokerClient):
    """One whose first flush after it has connected again finds no answer."""

    left: asyncio.StreamWriter | None = None
    """What it was connected by then."""

    @property
    def writer(self) -> asyncio.StreamWriter:
        """What it is connected by."""
        found: asyncio.StreamWriter = getattr(self._transport, "_io_writer")  # noqa: B009
        return found

    async def flush(self, timeout: int = 10) -> None:
        """Fail once, as over a connection that is cut right after the handshake."""
        if self.left is None and self.stats["reconnects"]:
            self.left = self.writer
            raise FlushTimeoutError
        await super().flush(timeout)


@pytest.mark.services
async def test_a_connection_that_fails_is_closed_before_the_next(
    broker: Broker,
) -> None:
    """Not left to the garbage collector, one more for each attempt."""
    core, client = broker.server.core, Unanswered()
    await client.connect(core.url, user=core.user, password=core.password)
    try:
        await client.force_reconnect()
        async with asyncio.timeout(PATIENCE_S):
            while client.left is None or not client.is_connected:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

        assert client.left.is_closing()
        assert client.writer is not client.left
        await client.flush()
    finally:
        await client.close()


async def test_a_connection_lost_at_the_end_of_its_handshake_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its writer has no protocol any more; the reading loop connects again."""

    async def done(_: Client) -> None:
        return

    monkeypatch.setattr(Client, "_process_connect_init", done)
    client = BrokerClient()
    lost = SimpleNamespace(
        transport=SimpleNamespace(get_protocol=lambda: None),
        get_extra_info=lambda _: object(),
    )
    monkeypatch.setattr(client, "_transport", SimpleNamespace(_io_writer=lost))

    await client._process_connect_init()
