"""Bringing aids: what is embedded anew, what is taken from the record, what is missing."""

from base64 import b64encode
from collections.abc import AsyncIterator, Sequence

import orjson
import pytest

from handlers.aids import GROUPS_AT_ONCE, AidProvider, PackLibrary
from schemas.codec.decode import read_input
from schemas.codec.encode import write_input
from schemas.messages.controls import GoalsSet, PackLoaded
from schemas.values.record import Record
from schemas.values.subjects import partition_of
from schemas.values.vectors import Limits, Vector
from streams.errors import LogDamaged
from streams.groups import Group
from tests.memory_log import MemoryLog
from tests.minds import sensed

ADA = "ada"
PARTITION = partition_of(ADA)


class Wobbly:
    """An embedder whose vectors another machine might not compute."""

    name = "wobbly"
    dimension = 2
    exact = False
    digest = "w"
    limits = Limits(match=0.5, duplicate=0.9, endorse=0.5)

    def __init__(self) -> None:
        """Remember what was embedded."""
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The length of each text."""
        self.texts += texts
        return [bytes([len(text) % 128, 1]) for text in texts]


def decided(embedding: bytes | None) -> Record:
    """A recorded decision, with a vector or without."""
    fields = {"embedding": b64encode(embedding).decode()} if embedding else {}
    subject = f"ev.{PARTITION}.out.ada.decision.decided"
    return Record(subject, {}, orjson.dumps(fields), 2, 0)


def taken_of(subject: str, body: bytes, sequence: int = 1) -> Record:
    """A record of an input."""
    return Record(subject, {"ce-id": "1"}, body, sequence, 0)


async def each_of(groups: Sequence[Group]) -> AsyncIterator[Group]:
    """Groups as a log yields them."""
    for group in groups:
        yield group


async def damaged_after(groups: Sequence[Group]) -> AsyncIterator[Group]:
    """Groups of a log that breaks behind them."""
    for group in groups:
        yield group
    raise LogDamaged("causeless", 9, "nothing stands there")


async def test_texts_are_embedded_at_once_and_in_order() -> None:
    """Each input with a text gets its vector, the others none."""
    log, embedder = MemoryLog(), Wobbly()
    goals = write_input(
        GoalsSet(goals=()), agent=ADA, partition=PARTITION, id_="2", source="/test"
    )
    wires = [sensed(ADA, "1", "one"), goals, sensed(ADA, "3", "three")]
    inputs = [read_input(taken_of(each.subject, each.body)) for each in wires]

    brought = await AidProvider(embedder, PackLibrary(log, embedder)).for_inputs(inputs)

    assert [aids.vector for aids in brought] == [b"\x03\x01", None, b"\x05\x01"]
    assert embedder.texts == ["one", "three"]
    assert not brought[0].is_exact


async def test_a_recorded_vector_is_taken_from_the_record() -> None:
    """What another machine computed is not computed again."""
    log, embedder = MemoryLog(), Wobbly()
    wire = sensed(ADA, "1", "one")
    taken = taken_of(wire.subject, wire.body)
    groups = [Group(taken, (decided(b"\x07\x07"),)), Group(taken, (decided(None),))]
    bringer = AidProvider(embedder, PackLibrary(log, embedder))

    brought = [aids async for _, _, aids in bringer.for_recorded(each_of(groups))]

    assert [aids.vector for aids in brought] == [b"\x07\x07", b"\x03\x01"]
    assert embedder.texts == ["one"]


async def test_what_stands_before_damage_is_brought_first() -> None:
    """Groups are taken a few at a time, and none is lost where the log breaks."""
    log, embedder = MemoryLog(), Wobbly()
    wire = sensed(ADA, "1", "one")
    group = Group(taken_of(wire.subject, wire.body), (decided(None),))
    count = GROUPS_AT_ONCE + 1
    bringer = AidProvider(embedder, PackLibrary(log, embedder))
    found = []

    with pytest.raises(LogDamaged):  # noqa: PT012
        async for recorded, taken, aids in bringer.for_recorded(
            damaged_after([group] * count)
        ):
            found.append((recorded, taken.id, aids.vector))

    assert found == [(group, "1", b"\x03\x01")] * count


async def test_a_pack_that_cannot_be_had_is_left_out() -> None:
    """Neither a missing blob nor one that is no pack stops the bringing."""
    log, embedder = MemoryLog(), Wobbly()
    broken = await log.put_blob(b"no pack")
    bringer = AidProvider(embedder, PackLibrary(log, embedder))
    loads = [
        write_input(
            PackLoaded(name="p", pack_version="1", digest=digest),
            agent=ADA,
            partition=PARTITION,
            id_=digest,
            source="/test",
        )
        for digest in (broken, "missing")
    ]
    inputs = [read_input(taken_of(each.subject, each.body)) for each in loads]

    brought = await bringer.for_inputs(inputs)

    assert [dict(aids.packs) for aids in brought] == [{}, {}]
