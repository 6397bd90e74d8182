"""An acknowledged event that the broker passes over is decided all the same."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from echoic.run.instance import Instance
from schemas.messages.decisions import Decided
from streams.jetstream import stalls
from streams.jetstream.hardened_client import BrokerClient
from streams.log import messages
from tests.e2e.conftest import running_instance
from tests.servers import fresh_server
from tests.streams.jetstream.passed_over import BOXED, PUBLISHED, passing_over, publish

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.services,
    pytest.mark.timeout(240),
]

RETURN_S = 30.0
"""Within so many seconds an instance notices and brings over."""


async def pass_over(client: BrokerClient) -> None:
    """Two events by each way are acknowledged and passed over, and one follows by each."""
    for subject in (BOXED, PUBLISHED):
        async with passing_over(client):
            await publish(client, subject, f"ONE-{subject[:2]}".upper(), "bare")
        await publish(client, subject, f"THREE-{subject[:2]}".upper())


async def check_each_once(live: Instance) -> None:
    """Each of the six is decided once."""
    events: list[str] = []
    async with asyncio.timeout(RETURN_S):
        while len(events) < 6:
            await asyncio.sleep(0.2)
            decided = messages(live.log, Decided, "ada")
            events = [each.event_id async for _, each in decided]
    assert len(events) == 6
    assert set(Counter(events).values()) == {1}
    assert {"ONE-IP", "THREE-IP", "ONE-IN", "THREE-IN"} <= set(events)


@pytest.mark.parametrize("is_own", [True, False], ids=["own broker", "another's"])
async def test_what_was_passed_over_is_decided_soon(
    tmp_path: Path, is_own: bool
) -> None:
    """By itself, whoever's the broker is."""
    async with AsyncExitStack() as stack:
        variables = {}
        if not is_own:
            core = (await stack.enter_async_context(fresh_server())).core
            address = core.url.replace("://", f"://{core.user}:{core.password}@")
            variables["NATS_URL"] = address
        live = await stack.enter_async_context(running_instance(tmp_path, variables))
        await pass_over(live.client)

        await check_each_once(live)


async def test_what_was_passed_over_is_decided_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An instance that ended before it noticed leaves it to the next one."""
    with monkeypatch.context() as patched:
        patched.setattr(stalls, "MISSED_LOOKS", 10**9)
        async with running_instance(tmp_path, {}) as live:
            await pass_over(live.client)
    async with running_instance(tmp_path, {}) as live:
        await check_each_once(live)
