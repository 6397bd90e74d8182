"""Commands wait for the tables that the projector is still making."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from echoic.client import read_models
from echoic.client.read_models import serving_version
from projections.errors import StoreUnusable
from projections.postgres.server import embedded_postgres
from projections.store.glance import Glance
from projections.store.store import Store

pytestmark = pytest.mark.services


async def test_the_version_is_awaited_until_the_projector_made_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A new database that nobody fills is an error, and one that is filled is not."""
    with TemporaryDirectory(prefix="echoic-postgres-") as made:
        async with embedded_postgres(Path(made), durable=False) as server:
            with Glance(server.url) as glance, Store(server.url) as store:
                with monkeypatch.context() as context:
                    context.setattr(read_models, "FIRST_START_S", 0.0)
                    with pytest.raises(StoreUnusable, match="no read models yet"):
                        await serving_version(glance)

                awaited = asyncio.create_task(serving_version(glance))
                await asyncio.sleep(0.1)
                assert not awaited.done()
                prepared = await asyncio.to_thread(store.prepare)

                assert await awaited == prepared
