"""A world as one file: each member is decided again, and what they told each other is held."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard
from msgspec import structs

from handlers.aids import AidProvider, PackLibrary
from replay.agent_messages import is_agents
from replay.world import WorldVerification, verify_session, verify_world
from schemas.codec.agent_events import COUNTER
from schemas.values.record import Record
from streams.errors import SessionFileError
from streams.session_files.file import (
    SessionFile,
    read_session,
    world_of,
    write_session,
    write_world,
)
from streams.session_files.memory_log import SessionLog
from streams.session_files.paged_log import SessionStream
from tests.handlers.mind.characters.test_hearing import two
from tests.replay.scenarios import WordsEmbedder, file_of_scenario


@pytest.fixture(scope="module")
def members() -> Sequence[SessionFile]:
    """Aria, Luna and their clearing, who talked for a while."""
    village = two(likelihood=False)
    village.lines = {"aria": ["Hello Luna!", "Bye."], "luna": ["Hello Aria!"]}
    village.begin("aria", 0.9)
    village.until(60)
    return [file_of_scenario(each) for each in village.agents.values()]


def providing(log: SessionLog) -> AidProvider:
    """Brings aids out of a session."""
    made = WordsEmbedder()
    return AidProvider(made, PackLibrary(log, made))


async def verified(members: Sequence[SessionFile]) -> WorldVerification:
    """A world decided again."""
    return await verify_world(members, providing)


def changed(
    members: Sequence[SessionFile], **changes: object
) -> tuple[Sequence[SessionFile], Record]:
    """The world with the first message to an agent changed, and that message."""
    place = next(
        number
        for number, each in enumerate(members)
        if any(map(is_agents, each.records))
    )
    records = list(members[place].records)
    index = next(n for n, record in enumerate(records) if is_agents(record))
    records[index] = structs.replace(records[index], **changes)
    made = dataclasses.replace(members[place], records=tuple(records))
    return [*members[:place], made, *members[place + 1 :]], records[index]


async def test_a_world_comes_back_as_it_was(
    members: Sequence[SessionFile], tmp_path: Path
) -> None:
    """Written, read, decided again: identical, and each message stems from an ask."""
    path = tmp_path / "world.echoic"
    write_world(path, "clearing-1", members)

    header = world_of(path)
    assert header is not None
    assert (header.id, header.members) == ("clearing-1", ("aria", "luna", "clearing"))
    read = [read_session(path, name) for name in header.members]
    assert [each.records for each in read] == [each.records for each in members]
    assert all(each.blobs.items() >= member.blobs.items()
               for each, member in zip(read, members, strict=True))  # fmt: skip
    found = await verified(read)
    assert found.strays == ()
    assert [each.divergence for each in found.members.values()] == [None] * 3
    assert found.is_identical
    asks = [
        b'"channel":"agent"' in record.body for each in read for record in each.records
    ]
    assert found.told == sum(asks) > 5
    assert [each.inputs for each in found.members.values()] == [
        sum(f".in.{each.header.agent}." in record.subject for record in each.records)
        for each in members
    ]


async def test_each_member_can_be_read_by_itself(
    members: Sequence[SessionFile], tmp_path: Path
) -> None:
    """Page by page as well; without a name, or with a wrong one, the error has the names."""
    path = tmp_path / "world.echoic"
    write_world(path, "clearing-1", members)

    for member in members:
        name = member.header.agent
        stream = SessionStream(path, name)
        assert stream.outline.header == member.header
        assert await stream.page(">", 0, 10_000) == member.records
        assert (await verify_session(read_session(path, name), providing)).is_identical
    with pytest.raises(SessionFileError, match=r"aria, luna, clearing.*none is named"):
        read_session(path)
    with pytest.raises(SessionFileError, match="'bob' is not named"):
        SessionStream(path, "bob")


async def test_a_world_that_was_cut_is_refused(
    members: Sequence[SessionFile], tmp_path: Path
) -> None:
    """Also behind the member that is read; and one session's file is no world's."""
    path, short = tmp_path / "world.echoic", tmp_path / "short.echoic"
    write_world(path, "clearing-1", members)
    whole = path.read_bytes()
    short.write_bytes(whole[: len(whole) - 40])
    with pytest.raises(SessionFileError, match=r"cut|damaged"):
        read_session(short, "aria")
    write_world(short, "clearing-1", members[:2])
    text = zstandard.decompress(short.read_bytes(), max_output_size=10_000_000)
    lines = text.splitlines()
    lines[0] = with_another_member(lines[0])
    short.write_bytes(zstandard.compress(b"\n".join(lines) + b"\n"))
    with pytest.raises(SessionFileError, match="cut"):
        read_session(short, "aria")
    write_session(short, members[0])
    assert world_of(short) is None


def with_another_member(line: bytes) -> bytes:
    """A world's first line that names a member more than there are."""
    header = orjson.loads(line)
    header["members"].append("clearing")
    return orjson.dumps(header)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("agent", "nobody", "'nobody' has no ask"),
        ("agent", 7, "it names no ask"),
        (COUNTER, 1_000_000, "has no ask 1000000"),
        (COUNTER, 1, "message 1 is no ask"),
        (COUNTER, "1", "it names no ask"),
        ("distance", 1.5, "has other words"),
    ],
)
async def test_a_message_of_nobody_is_told(
    members: Sequence[SessionFile], field: str, value: object, why: str
) -> None:
    """One from an agent that does not exist, of no ask, or with other fields."""
    _, record = changed(members)
    body = orjson.loads(record.body)
    body["fields"][field] = value
    made, record = changed(members, body=orjson.dumps(body))

    found = await verified(made)

    assert not found.is_identical
    (stray,) = found.strays
    assert stray.sequence == record.sequence
    assert why in stray.why


async def test_words_and_ids_belong_to_the_ask(members: Sequence[SessionFile]) -> None:
    """Other words, another id, another type of event, or a body that cannot be read."""
    _, record = changed(members)
    body = orjson.loads(record.body) | {"text": "Something else."}
    attacks: Mapping[str, Mapping[str, Any]] = {
        "has other words": {"body": orjson.dumps(body)},
        "its id is not that of": {"headers": {**record.headers, "ce-id": "x"}},
        "is to tell": {"subject": f"{record.subject}x"},
        "cannot be read": {"body": b"{}"},
    }
    for why, attack in attacks.items():
        found = await verified(changed(members, **attack)[0])
        assert [why in each.why for each in found.strays] == [True]


async def test_a_member_that_is_missing_leaves_strays(
    members: Sequence[SessionFile],
) -> None:
    """What the place told nobody can show then; each member is identical all the same."""
    found = await verified(members[:2])

    assert found.whole.is_identical
    assert found.strays
    assert {each.why.split(" has")[0] for each in found.strays} == {"'clearing'"}
