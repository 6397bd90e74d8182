"""A real broker with an empty log for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.servers import Broker, fresh_broker


@pytest.fixture
async def broker() -> AsyncIterator[Broker]:
    """A real server with an empty log."""
    async with fresh_broker() as running:
        yield running
