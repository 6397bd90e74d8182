"""What an instance says of its collector, asked over a real broker."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from echoic.client import health
from echoic.config.load import load
from echoic.errors import EchoicError
from handlers.effects.completions import Completion
from tests.servers import fresh_broker

pytestmark = pytest.mark.services


@contextmanager
def collector(status: int) -> Iterator[tuple[str, list[str]]]:
    """Something that answers every batch so: its address, and the paths it was sent to."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            paths.append(self.path)
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", paths
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(("status", "works"), [(200, "works"), (503, "fails")])
async def test_the_collector_is_sent_a_batch(
    tmp_path: Path, status: int, works: str
) -> None:
    """Whoever listens but takes nothing is no collector that works."""
    with collector(status) as (address, paths):
        settings = load({"trace.endpoint": address}, environment={}, folder=tmp_path)
        async with fresh_broker() as broker:
            await health.serve(broker.client, settings, None)
            found = await health.ask(broker.client)

    assert found["traces"].works == works
    # A 503 may be tried again within the time that a batch has.
    assert set(paths) == {"/v1/traces"}
    assert found["model"].works == "none"


@pytest.mark.parametrize(
    ("budget", "cost_usd", "works"),
    [("1", None, "unpriced"), ("1", 0.0, "works"), ("0", None, "works")],
)
async def test_a_budget_needs_a_price(
    tmp_path: Path, budget: str, cost_usd: float | None, works: str
) -> None:
    """Else it stops nothing, which nobody would see before the bill."""

    class Answering:
        async def prepare(self) -> None:
            return

        async def close(self) -> None:
            return

        async def complete(self, *_: object, **__: object) -> Completion:
            return Completion(text="Yes.", model="m", latency_ms=1.0, cost_usd=cost_usd)

    wanted = {"model.name": "openai/m", "budget.cost_per_day": budget}
    settings = load(wanted, environment={}, folder=tmp_path)
    assert (await health.model_works(settings, Answering())).works == works
    # It tells of no tokens either, which a budget of these estimates.
    wanted = {"model.name": "openai/m", "budget.tokens_per_day": budget}
    counts = load(wanted, environment={}, folder=tmp_path)
    found = (await health.model_works(counts, Answering())).found
    assert ("they are estimated" in found) == (budget == "1")


@pytest.mark.parametrize("given", ["0.15,0.60", [0.15, 0.6]])
def test_a_price_is_two_numbers(tmp_path: Path, given: object) -> None:
    """Of a variable or a file; anything else is refused."""
    assert load(
        {"model.price": given}, environment={}, folder=tmp_path
    ).model_price == (0.15, 0.6)
    for wrong in ("1", "1,-2", "1,2,3", "a,b", [True, 1]):
        with pytest.raises(EchoicError):
            load({"model.price": wrong}, environment={}, folder=tmp_path)
