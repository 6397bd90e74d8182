"""Logs to test against: a fresh broker for each test, and memory beside it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from streams.log import ReadableLog, WritableLog
from tests.memory_log import MemoryLog
from tests.servers import fresh_broker


@dataclass(frozen=True, slots=True)
class BothLogs:
    """The two sides of one log."""

    read: ReadableLog
    write: WritableLog


@pytest.fixture(params=["memory", "jetstream"])
async def log(request: pytest.FixtureRequest) -> AsyncIterator[BothLogs]:
    """An empty log: the same tests hold for memory and for the broker."""
    if request.param == "memory":
        memory = MemoryLog()
        yield BothLogs(memory, memory)
    else:
        async with fresh_broker() as running:
            yield BothLogs(running.reader, running.writer)
