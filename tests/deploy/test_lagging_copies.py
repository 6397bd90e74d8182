"""A reader that is answered by a node with an old copy of the log."""

import asyncio
import shutil
from contextlib import aclosing
from pathlib import Path

import pytest

from echoic.client.connection import open_log
from schemas.values.record import Wire
from streams.jetstream.connection import insist
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import migrate
from streams.jetstream.read import JetStreamReader
from streams.jetstream.reading_client import READERS
from streams.log import Records, scan
from streams.topology import LOG
from tests.deploy.cluster import cluster
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here"),
]

SUBJECT = "ev.3.in.ada.feedback.vote"


async def test_it_does_not_wait_until_that_copy_has_caught_up(tmp_path: Path) -> None:
    """A paused consumer sends heartbeats and no messages, as one on a copy that lags does."""
    async with cluster(tmp_path) as made, made.client() as client:
        log = await open_log(client, await migrate(client, 3))
        async with aclosing(log.follow("ev.3.in.>", 0, 10)) as following:
            await log.append(Wire(SUBJECT, {"ce-id": "1"}, b"1"), "1")
            (first,) = await anext(following)
            await pause_readers(client)
            await log.append(Wire(SUBJECT, {"ce-id": "2"}, b"2"), "2")
            async with asyncio.timeout(PATIENCE_S):
                (second,) = await anext(following)

    assert [first.body, second.body] == [b"1", b"2"]


class OldCopies(JetStreamReader):
    """Whose pages come from copies that have the first messages alone."""

    has = 1

    async def _page_of(
        self, stream: str, subjects: str, after: int, limit: int
    ) -> Records:
        page = await super()._page_of(stream, subjects, after, limit)
        return tuple(each for each in page if each.sequence <= self.has)


async def test_what_it_lacks_comes_from_the_leader(tmp_path: Path) -> None:
    """A reader that is answered by an old copy alone reads the log to its end."""
    async with cluster(tmp_path) as made, made.client() as client:
        epoch = await migrate(client, 3)
        log = await open_log(client, epoch)
        for number in range(5):
            await log.append(Wire(SUBJECT, {}, str(number).encode()), str(number))

        old = OldCopies(client, epoch)
        found = [each async for each in scan(old, "ev.3.in.>")]

        assert [each.body for each in found] == [b"0", b"1", b"2", b"3", b"4"]
        assert found == [each async for each in scan(log, "ev.3.in.>")]
        assert len(await old.page("ev.3.in.>", 1, 2)) == 2
        assert await old.page("ev.4.in.>", 0, 2) == ()


async def pause_readers(client: BrokerClient) -> None:
    """Have all short-lived consumers of the log deliver nothing more."""
    names = await insist(client, f"$JS.API.CONSUMER.NAMES.{LOG.name}", {})
    found = [each for each in names["consumers"] if each.startswith(READERS)]
    assert found
    for each in found:
        await insist(
            client,
            f"$JS.API.CONSUMER.PAUSE.{LOG.name}.{each}",
            {"pause_until": "2100-01-01T00:00:00Z"},
        )
