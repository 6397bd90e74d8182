"""Clients that go in the middle of a stream."""

import asyncio
from collections.abc import AsyncIterator

import pytest

pytest.importorskip("fastapi", reason="the extra `http` is not installed")

from fastapi import FastAPI
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.types import ASGIApp, Message

from echoic.doors.http.server import Hangups
from tests.patience import PATIENCE_S

SCOPE = {
    "type": "http", "method": "GET", "path": "/stream", "raw_path": b"/stream",
    "query_string": b"", "headers": [], "http_version": "1.1", "scheme": "http",
    "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 81), "root_path": "",
    "asgi": {"version": "3.0"},
}  # fmt: skip


def application() -> FastAPI:
    """One with a stream that never ends."""
    app = FastAPI()

    @app.get("/stream", response_class=EventSourceResponse)
    async def stream() -> AsyncIterator[ServerSentEvent]:
        while True:
            yield ServerSentEvent(raw_data="x")
            await asyncio.sleep(0)

    return app


async def hang_up(app: ASGIApp) -> None:
    """Take the head and one event of a stream, no more, and go."""
    asked, went = iter([{"type": "http.request"}]), asyncio.Event()

    async def receive() -> Message:
        for each in asked:
            return each
        await went.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message.get("body"):
            asyncio.get_running_loop().call_later(0.05, went.set)
            await asyncio.Event().wait()

    async with asyncio.timeout(PATIENCE_S):
        await app(dict(SCOPE), receive, send)


async def test_a_reader_that_goes_is_no_error() -> None:
    """The stream's end raises nothing, though FastAPI's own does."""
    await hang_up(Hangups(application()))

    # Once this fails, the wrapper has become needless.
    with pytest.raises(ExceptionGroup):
        await hang_up(application())


async def test_other_errors_are_told() -> None:
    """Nothing else is swallowed."""

    async def broken(*_: object) -> None:
        raise ExceptionGroup("two", [ValueError("a fault"), OSError("another")])

    with pytest.raises(ExceptionGroup) as raised:
        await Hangups(broken)(dict(SCOPE), broken, broken)  # type: ignore[arg-type]
    assert raised.group_contains(ValueError)
    assert raised.group_contains(OSError)
