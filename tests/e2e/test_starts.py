"""A start waits for a broker that is slow to answer, and says so."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nats.errors
import pytest

from echoic.run import instance as starts
from echoic.run import starting
from echoic.run.instance import Instance
from streams.broker.server import EmbeddedServer
from streams.errors import LogForbidden, LogUnavailable, Unanswered
from streams.jetstream.migrate import open_intake
from tests.e2e.conftest import running_instance
from tests.patience import PATIENCE_S
from tests.servers import fresh_server

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

GREETING = b'INFO {"server_id":"x","version":"2.15.1","max_payload":1048576}\r\n'
MANNERS = {
    "cut": b"",
    "silent": None,
    "slow to let in": GREETING + b"-ERR 'Authentication Timeout'\r\n",
    "stale": GREETING + b"-ERR 'Stale Connection'\r\n",
}
"""What a broker that is there says before it ends the connection; None: nothing, for long."""


@asynccontextmanager
async def reluctant(server: EmbeddedServer, said: bytes | None) -> AsyncIterator[str]:
    """A broker whose every other connection fails; its address."""
    at = urlsplit(server.core.url)
    tasks, count = set[asyncio.Task[None]](), 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if is_refused():
                writer.write(said or b"")
                await (reader.read() if said is None else writer.drain())
                return
            theirs, ours = await asyncio.open_connection(at.hostname, at.port)
            try:
                await asyncio.gather(pass_on(reader, ours), pass_on(theirs, writer))
            finally:
                ours.close()
        finally:
            writer.close()

    def is_refused() -> bool:
        nonlocal count
        count += 1
        return count % 2 == 1

    async def pass_on(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        writer.close()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listening = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    try:
        yield f"nats://{server.core.user}:{server.core.password}@127.0.0.1:{port}"
    finally:
        listening.close()
        for each in list(tasks):
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await listening.wait_closed()


def of_others(address: str) -> dict[str, str]:
    """The variables of an instance without a database, over a broker that is there."""
    return {"NATS_URL": address, "ECHOIC_PARTS": "worker"}


def address_of(server: EmbeddedServer) -> str:
    """Where Echoic finds a server, with its password."""
    core = server.core
    return core.url.replace("://", f"://{core.user}:{core.password}@")


@pytest.mark.parametrize("manner", MANNERS)
async def test_each_first_connection_is_tried_again(
    manner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Those of the mind, of who performs asks, and of the services, and it is told."""
    monkeypatch.setattr(starting, "TELL_S", 0.1)
    async with (
        fresh_server() as server,
        reluctant(server, MANNERS[manner]) as address,
        running_instance(tmp_path, of_others(address)) as live,
    ):
        assert await services_of(live) == ["echoic"]
    said = capsys.readouterr().out
    steps = re.findall(r"^(.*): not yet after \d+ s, tried again: ", said, re.M)
    assert set(steps) >= {
        "connecting to the broker",
        "connecting who performs asks",
        "connecting services",
    }


async def services_of(live: Instance) -> list[str]:
    """Who answers calls."""
    reply = await live.client.request("$SRV.PING.echoic", b"", PATIENCE_S)
    return [json.loads(reply.data)["name"]]


FAILURES = {
    "no answer": LogUnavailable(
        "the broker did not answer '$JS.API.STREAM.UPDATE.LOG'"
    ),
    "no pong": nats.errors.FlushTimeoutError(),
    "a worker with a backlog": Unanswered("nothing answered the input at sequence 7"),
    "a connection that is cut": ConnectionResetError("cut"),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_each_step_is_tried_again(
    failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a broker leaves unanswered, in each of them."""
    failed = list[str]()

    def once(name: str) -> None:
        step: Callable[..., Awaitable[object]] = getattr(starts, name)

        async def fail_once(*args: object, **options: object) -> object:
            if name not in failed:
                failed.append(name)
                raise FAILURES[failure]
            return await step(*args, **options)

        monkeypatch.setattr(starts, name, fail_once)

    names = (
        "migrate", "open_log", "close_intake", "prepare_consumers", "last_outputs",
        "start", "grant_all", "open_intake",
    )  # fmt: skip
    for name in names:
        once(name)

    async with running_instance(tmp_path, {"ECHOIC_PARTS": "worker"}) as live:
        assert await services_of(live) == ["echoic"]
    assert sorted(failed) == sorted(names)


async def test_services_answer_before_the_intake_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backlog that comes in leaves nobody the time to connect."""
    answering = list[list[str]]()

    async def ask_first(client: Any) -> None:
        reply = await client.request("$SRV.PING.echoic", b"", PATIENCE_S)
        answering.append([json.loads(reply.data)["name"]])
        await open_intake(client)

    monkeypatch.setattr(starts, "open_intake", ask_first)
    async with running_instance(tmp_path, {"ECHOIC_PARTS": "worker"}):
        assert answering == [["echoic"]]


async def test_a_broker_that_stays_away_is_named_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Patience has an end, and the error says what was waited for, where, and why."""
    monkeypatch.setattr(starting, "PATIENCE_S", 0.3)
    async with fresh_server() as server:
        address = address_of(server)
    with pytest.raises(
        LogUnavailable, match=r"^connecting to the broker: no broker answers at"
    ):
        async with running_instance(tmp_path, of_others(address)):
            raise AssertionError("it started")


async def test_credentials_that_are_refused_are_told_at_once(tmp_path: Path) -> None:
    """No patience makes them right."""
    async with fresh_server() as server, asyncio.timeout(PATIENCE_S):
        address = address_of(server).replace(server.core.password, "guess")
        with pytest.raises(LogForbidden, match="as 'echoic'"):
            async with running_instance(tmp_path, of_others(address)):
                raise AssertionError("it started")
