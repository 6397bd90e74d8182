"""What a backup that was made before a forgetting still tells, and with which keys."""

from pathlib import Path

import orjson
import pytest

from echoic.client import forgetting
from echoic.client.connection import LiveLog, open_log
from handlers.aids import AidProvider, PackLibrary
from replay.verify import Span, verify
from schemas.values.subjects import partition_of
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.key_bucket import Bucket
from streams.jetstream.migrate import migrate
from streams.jetstream.sealed_log import lacks_keys
from streams.log import scan
from streams.topology import LOG_SUBJECTS
from tests.e2e.companion import companion
from tests.e2e.conftest import running_instance
from tests.e2e.searching import on_disk
from tests.e2e.test_forgetting import CANARY, OTHERS, forgotten
from tests.streams.jetstream.test_backup import backed_up, restored


@pytest.mark.asyncio(loop_scope="session")
async def test_an_older_backup_tells_nothing_without_an_older_copy_of_the_keys(
    tmp_path: Path,
) -> None:
    """With keys of after it tells what others said; with keys of before, everything.

    The last is why a copy of the keys has to be made anew after each forgetting.
    """
    path, data = tmp_path / "kept" / "a.backup", tmp_path / "data"
    path.parent.mkdir()
    async with running_instance(data, {"ECHOIC_PRIVACY_SEAL": "on"}) as live:
        async with companion(live, "desk") as desk:
            await desk.senses(f"{CANARY} text", person="ana")
            await desk.senses(f"{OTHERS} text", person="ben")
        await backed_up(live.client, path)
        before = await keys_of(live.client)
        await forgotten(live, "desk", "ana")
        after = await keys_of(live.client)
    assert "key.desk.ana" not in after
    key = orjson.loads(before["key.desk.ana"])["key"]
    for word in (CANARY, OTHERS, key):
        assert not on_disk(path.parent, word)
    async with restored(path) as client:
        log = await open_log(client, await migrate(client))
        assert await told(log) == (False, False)
    async with restored(path) as client:
        log = await open_log(client, await migrate(client))
        await put(client, after)
        assert await told(log) == (False, True)
    async with restored(path) as client:
        log = await open_log(client, await migrate(client))
        await put(client, before)
        # Neither this log nor this copy knows of the forgetting.
        assert await forgetting.destroy_again(log) == 0
        assert await told(log) == (True, True)
    async with restored(path) as client:
        log = await open_log(client, await migrate(client))
        await put(client, after | before)
        assert await forgetting.destroy_again(log) == 1
        assert await told(log) == (False, True)


@pytest.mark.asyncio(loop_scope="session")
async def test_without_its_keys_a_log_is_sealed_and_not_different(
    tmp_path: Path,
) -> None:
    """And identical again once they are put back, whichever are missing before."""
    path, variables = tmp_path / "a.backup", {"ECHOIC_PRIVACY_SEAL": "on"}
    async with running_instance(tmp_path / "data", variables) as live:
        async with companion(live, "desk") as desk:
            await desk.senses(f"{CANARY} text", person="ana")
            await desk.senses(f"{OTHERS} text", person="ben")
        await backed_up(live.client, path)
        keys = await keys_of(live.client)
        made_by = live.embedder
    found = {}
    for missing in ("none", "ana", "all"):
        async with restored(path) as client:
            log = await open_log(client, await migrate(client))
            kept = {name: each for name, each in keys.items() if missing not in name}
            await put(client, {} if missing == "all" else kept)
            provider = AidProvider(made_by, PackLibrary(log, made_by))
            span = Span(partition_of("desk"), agent="desk")
            found[missing] = await verify(log, span, provider)
            assert await lacks_keys(log) is (missing == "all")
    whole, partly, none = found.values()
    assert [each.divergence for each in found.values()] == [None, None, None]
    assert [each.verdict for each in found.values()] == [
        "identical", "sealed", "sealed",
    ]  # fmt: skip
    assert (whole.lost, whole.total) == (0, none.total)
    assert 0 < partly.lost == partly.sealed <= none.lost == none.sealed


async def keys_of(client: BrokerClient) -> dict[str, bytes]:
    """A copy of the bucket of keys, as its operator may make one."""
    bucket = Bucket(client)
    stored = [await bucket.get(name) for name in await bucket.names(">")]
    return {each.subject: each.value for each in stored if each is not None}


async def put(client: BrokerClient, keys: dict[str, bytes]) -> None:
    """Put a copy of the keys back."""
    for name, value in keys.items():
        await Bucket(client).put(name, value)


async def told(log: LiveLog) -> tuple[bool, bool]:
    """Whether the log says what the forgotten person said, and what another did."""
    said = [each.body async for each in scan(log, LOG_SUBJECTS)]
    first, second = (any(w.encode() in each for each in said) for w in (CANARY, OTHERS))
    return first, second
