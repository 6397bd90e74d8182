"""The contract of webhooks, against a real HTTP server and a real broker."""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import orjson
import pytest
from msgspec import structs

from handlers.broker import faststream_broker, start
from handlers.effects import webhook
from handlers.effects.perform import Performer
from handlers.effects.subscribers import Effects
from handlers.effects.webhook import Webhook, key_of, signature
from schemas.messages.asks import DeliveryAsked
from streams.jetstream.consumers import prepare_consumers
from tests.handlers.effects.test_effects import ask, delivery_asked, results, said
from tests.patience import PATIENCE_S
from tests.servers import Broker

SECRET = "a secret of both"
ASKED: DeliveryAsked = structs.replace(delivery_asked("Rain."), channel="webhook")


class Receiver:
    """A server that answers with the statuses it is given, the last one for ever."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.url = ""

    def answer(self, headers: dict[str, str], body: bytes) -> int:
        """Remember a request, and return the status of its answer."""
        self.requests.append((headers, body))
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]


@contextmanager
def receiving(*statuses: int) -> Iterator[Receiver]:
    """A server for the length of the block."""
    receiver = Receiver(*statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """Take one response."""
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = receiver.answer(
                {name.lower(): value for name, value in self.headers.items()}, body
            )
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            """Take a redirect that nobody should follow."""
            receiver.requests.append(({}, b"followed"))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Be quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            serving.join()


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts follow at once."""
    monkeypatch.setattr(webhook, "PAUSES_S", (0.01,))


def hook(url: str, clock: Callable[[], float] = lambda: 1_700_000_000.0) -> Webhook:
    """A webhook at an address."""
    return Webhook(url, SECRET, clock=clock)


async def test_it_is_signed_and_its_id_is_the_responses() -> None:
    """As Standard Webhooks has it, so that any library of theirs can check it."""
    with receiving(204) as receiver:
        result = await hook(receiver.url).deliver("ask", ASKED, within_s=PATIENCE_S)

    assert result.token == "delivered"
    [(headers, body)] = receiver.requests
    assert orjson.loads(body)["text"] == "Rain."
    assert headers["webhook-id"] == headers["idempotency-key"] == ASKED.decision_id
    assert headers["webhook-timestamp"] == "1700000000"
    expected = signature(SECRET.encode(), ASKED.decision_id, "1700000000", body)
    assert headers["webhook-signature"] == expected


def test_a_signature_is_that_of_the_standard() -> None:
    """The example that its libraries are tested with."""
    key = key_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    id_, body = "msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}'

    made = signature(key, id_, "1614265330", body)

    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert key_of("a plain secret") == b"a plain secret"
    with pytest.raises(ValueError, match=r"."):
        key_of("whsec_a")


async def test_what_passes_is_tried_again_with_the_same_id() -> None:
    """The receiver drops by it what it took already."""
    with receiving(503, 429, 200) as receiver:
        result = await hook(receiver.url).deliver("ask", ASKED, within_s=PATIENCE_S)

    assert result.token == "delivered"
    ids = [headers["webhook-id"] for headers, _ in receiver.requests]
    assert ids == [ASKED.decision_id] * 3


@pytest.mark.parametrize("status", [400, 401, 302], ids=str)
async def test_a_refusal_is_final(status: int) -> None:
    """And no redirect is followed."""
    with receiving(status) as receiver:
        result = await hook(receiver.url).deliver("ask", ASKED, within_s=PATIENCE_S)

    assert (result.token, getattr(result, "reason", None)) == (
        "delivery_failed",
        "refused",
    )
    assert str(status) in getattr(result, "detail", "")
    assert len(receiver.requests) == 1


async def test_it_is_given_up_when_it_is_stale() -> None:
    """Whether a last attempt was taken nobody knows."""
    with receiving(500) as receiver:
        late = await hook(receiver.url).deliver("ask", ASKED, within_s=0.3)
        never = await hook(receiver.url).deliver("ask", ASKED, within_s=0.0)

    assert getattr(late, "reason", None) == "unknown"
    assert "500" in getattr(late, "detail", "")
    assert getattr(never, "reason", None) == "expired"
    assert len(receiver.requests) > 1


async def test_a_receiver_that_is_away_is_waited_for() -> None:
    """Nothing listens at its port until later."""
    with receiving(200) as receiver:
        url = receiver.url
    result = await hook(url).deliver("ask", ASKED, within_s=0.3)

    assert getattr(result, "reason", None) == "unknown"
    assert "refused" in getattr(result, "detail", "")


@pytest.mark.services
async def test_one_that_hangs_takes_no_threads_from_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More posts than the event loop has threads hang, and one is still to be had."""
    monkeypatch.setattr(webhook, "ATTEMPT_S", 10 * PATIENCE_S)
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        hanging.settimeout(PATIENCE_S)
        to = hook(f"http://127.0.0.1:{hanging.getsockname()[1]}/hook")
        posts = [
            asyncio.create_task(to.deliver(str(each), ASKED, within_s=PATIENCE_S))
            # As many as `asyncio.to_thread` runs at once, at most.
            for each in range(min(32, (os.cpu_count() or 1) + 4))
        ]
        taken = [(await asyncio.to_thread(hanging.accept))[0] for _ in range(4)]

        async with asyncio.timeout(PATIENCE_S):
            assert await asyncio.to_thread(threading.get_ident)

        for post in posts:
            post.cancel()
        for each in taken:
            each.close()
    await asyncio.gather(*posts, return_exceptions=True)


async def test_a_delivery_to_the_channel_is_posted(broker: Broker) -> None:
    """The result is in the log, as that of any channel."""
    await prepare_consumers(broker.client)
    with receiving(200) as receiver:
        performer = Performer(
            broker.reader,
            broker.writer,
            broker.client,
            None,
            webhook=hook(receiver.url),
        )
        effects = Effects(performer)
        subscriber = faststream_broker(broker.server.core)
        effects.subscribe(subscriber)
        await start(subscriber)
        try:
            async with effects.serving(), asyncio.timeout(PATIENCE_S):
                [ask_id] = await ask(broker, ASKED)
                [delivered] = await results(broker, 1)
        finally:
            await subscriber.stop()

    assert said(delivered) == ("delivered", ask_id)
    assert len(receiver.requests) == 1
