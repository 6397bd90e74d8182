"""No right lets anybody delete or change what stands in a segment, open or closed.

As with `LOG` alone, Echoic's own credentials could delete a whole stream, or edit its limits,
which the next start names as drift; no sensor has any of these rights (`test_rights_by_door`).
"""

import json
from collections.abc import AsyncIterator
from contextlib import suppress

import nats.errors
import pytest
import pytest_asyncio

from streams.errors import StreamsError
from streams.jetstream.connection import call
from streams.jetstream.migrate import check
from streams.jetstream.segments import roll_over
from tests.patience import PATIENCE_S
from tests.servers import Broker, fresh_broker
from tests.streams.jetstream.test_segments import arrived, ids, send

pytestmark = pytest.mark.services

REFUSED = "sealed stream|not permitted|can not"
"""What the server says to each of them."""

STREAMS = ("LOG", "LOG_1", "LOG_2")
"""A closed one, and the two that go on from it."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def segmented() -> AsyncIterator[Broker]:
    """A log of three segments, with messages in each."""
    async with fresh_broker() as broker:
        await send(broker, ids("old"))
        await arrived(broker, 90)
        await roll_over(broker.client, 2)
        await send(broker, ids("new"))
        await arrived(broker, 180)
        yield broker


async def state(broker: Broker, stream: str) -> tuple[int, int, int]:
    """How many messages a stream holds, its first sequence, and its last."""
    found = await call(broker.client, f"$JS.API.STREAM.INFO.{stream}", {})
    each = found["state"]
    return each["messages"], each["first_seq"], each["last_seq"]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("stream", STREAMS)
async def test_nothing_is_deleted_or_purged(segmented: Broker, stream: str) -> None:
    """One message, all of them, those of a subject, or all but the last."""
    before = await state(segmented, stream)
    _, first, last = before
    api = "$JS.API.STREAM"
    refused: list[tuple[str, dict[str, object]]] = [
        (f"{api}.MSG.DELETE.{stream}", {"seq": first}),
        (f"{api}.MSG.DELETE.{stream}", {"seq": last, "no_erase": True}),
        (f"{api}.PURGE.{stream}", {}),
        (f"{api}.PURGE.{stream}", {"filter": "ev.>"}),
        (f"{api}.PURGE.{stream}", {"keep": 1}),
    ]
    for subject, body in refused:
        with pytest.raises(StreamsError, match=REFUSED):
            await call(segmented.client, subject, body)

    assert await state(segmented, stream) == before


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("stream", STREAMS)
async def test_its_protection_is_not_taken_away(segmented: Broker, stream: str) -> None:
    """What refuses deletion stays, and a closed segment is not opened again."""
    before = await state(segmented, stream)
    info = await call(segmented.client, f"$JS.API.STREAM.INFO.{stream}", {})
    config = info["config"]
    edits = [{"deny_delete": False}, {"deny_purge": False}]
    if stream == "LOG":
        assert config["sealed"]
        edits += [{"sealed": False}]
    for edit in edits:
        with pytest.raises(StreamsError, match=REFUSED):
            await call(
                segmented.client, f"$JS.API.STREAM.UPDATE.{stream}", config | edit
            )

    assert await state(segmented, stream) == before
    await check(segmented.client)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("stream", STREAMS)
async def test_no_message_replaces_others(segmented: Broker, stream: str) -> None:
    """Neither by a roll-up nor behind the end of a closed segment."""
    before = await state(segmented, stream)
    subjects = {
        "LOG": "closed.LOG",
        "LOG_1": "ev.0.in._.x.y",
        "LOG_2": "ev.15.in._.x.y",
    }
    headers: list[dict[str, str]] = [{"Nats-Rollup": "all"}, {"Nats-Rollup": "sub"}]
    for each in headers if stream != "LOG" else [*headers, {}]:
        # Nobody takes messages for a stream that is sealed.
        with suppress(nats.errors.NoRespondersError):
            answer = await segmented.client.request(
                subjects[stream], b"{}", PATIENCE_S, headers=each or None
            )
            assert "error" in json.loads(answer.data)

    assert await state(segmented, stream) == before
