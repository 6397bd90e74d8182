"""Verify: the shipped recording is identical, and whatever is wrong with one is named."""

from dataclasses import replace

import orjson
import pytest
from msgspec import structs

from replay.verify import Divergence, Verification, joined
from streams.session_files.file import SessionFile
from tests.replay.evening import (
    cause_of,
    evening,
    group_of,
    place,
    swapped,
    verified,
    with_record,
    without,
)


async def test_the_shipped_recording_is_identical() -> None:
    """Every output comes out the same, and so does the chain of the trailer."""
    found = await verified(evening())

    assert found.is_identical, found.divergence
    assert found.identical == found.total > 300
    assert found.inputs > 250
    assert dict(found.chains) == {"companion": evening().trailer.chain}


def changed_text(
    session: SessionFile, index: int, old: bytes, new: bytes
) -> SessionFile:
    """The session with other bytes in the body of one record."""
    record = session.records[index]
    assert old in record.body
    return with_record(
        session, index, structs.replace(record, body=record.body.replace(old, new, 1))
    )


def named(found: Verification, session: SessionFile, index: int) -> None:
    """The divergence names the input that is at fault, or one that comes after it."""
    assert not found.is_identical
    first = found.divergence
    assert first is not None
    assert first.sequence >= session.records[index].sequence


async def test_a_changed_byte_of_an_input_is_named() -> None:
    """Other words of a sensor lead to another decision, shown with both sides."""
    session = evening()
    index = place(session, "sensor.crafter.vital_changed", 3)
    damaged = changed_text(session, index, b'"value":', b'"valve":')

    found = await verified(damaged)

    named(found, session, index)
    first = found.divergence
    assert first is not None
    assert first.recorded != first.replayed
    assert None not in (first.recorded, first.replayed)


async def test_a_changed_byte_of_an_output_is_named() -> None:
    """The first output that differs is named by its input and index."""
    session = evening()
    index = place(session, "decision.decided", 100)
    damaged = changed_text(session, index, b'"probability":1.0', b'"probability":0.9')

    found = await verified(damaged)

    first = found.divergence
    assert first is not None
    record = session.records[index]
    assert (first.what, str(first.index)) == ("body", record.headers["ce-index"])
    assert first.sequence == int(record.headers["ce-causeseq"])
    assert (first.path, first.recorded, first.replayed) == ("probability", "0.9", "1.0")


@pytest.mark.parametrize("header", ["ce-id", "ce-time", "ce-type", "ce-source"])
async def test_a_changed_header_of_an_output_is_named(header: str) -> None:
    """The ce-headers of an output are compared as its body is."""
    session = evening()
    index = place(session, "decision.decided", 100)
    record = session.records[index]
    headers = {**record.headers, header: "2026-11-20T20:00:00.000001Z"}

    found = await verified(
        with_record(session, index, structs.replace(record, headers=headers))
    )

    first = found.divergence
    assert first is not None
    assert (first.what, str(first.index)) == ("headers", record.headers["ce-index"])
    assert first.sequence == int(record.headers["ce-causeseq"])


async def test_a_changed_subject_of_an_output_is_named() -> None:
    """An output that stands elsewhere is not the one that was said."""
    session = evening()
    index = place(session, "note.handled", 5)
    record = session.records[index]
    moved = structs.replace(
        record, subject=record.subject.replace("note.handled", "note.heard")
    )

    found = await verified(with_record(session, index, moved))

    assert found.divergence is not None
    assert found.divergence.what == "subject"


@pytest.mark.parametrize("number", [0, 50, 200])
async def test_a_dropped_input_is_named(number: int) -> None:
    """An answer without its cause is damage, named with its place."""
    session = evening()
    index = cause_of(session, place(session, "decision.decided", number))
    cause = session.records[index].sequence

    found = await verified(without(session, index))

    assert found.divergence is not None
    assert found.divergence.what == "damaged"
    assert str(cause) in (found.divergence.recorded or "")


async def test_a_dropped_output_is_named() -> None:
    """A group that is not whole though another follows is damage."""
    session = evening()
    index = place(session, "fire.heuristic_fired", 10)

    found = await verified(without(session, index))

    assert found.divergence is not None
    assert found.divergence.what == "damaged"
    assert "causeless" in str(found.divergence) or "incomplete" in str(found.divergence)


async def test_a_dropped_group_is_named() -> None:
    """An event that was cut out with all its answers shows in the next decision.

    In its chain, at the latest: what habituation makes of it may differ before that.
    """
    session = evening()
    index = place(session, "decision.decided", 20)
    group = group_of(session, index)

    found = await verified(without(session, *group))

    named(found, session, group[0])


async def test_a_dropped_end_is_named() -> None:
    """What is cut off the end leaves a chain that is not the trailer's."""
    session = evening()
    found = await verified(
        without(session, *group_of(session, len(session.records) - 1))
    )

    assert found.divergence is not None
    assert found.divergence.what == "chain"
    assert found.divergence.recorded == session.trailer.chain


async def test_swapped_inputs_are_named() -> None:
    """Two events in the other order are another story."""
    session = evening()
    one = cause_of(session, place(session, "decision.decided", 30))
    other = cause_of(session, place(session, "decision.decided", 31))

    found = await verified(swapped(session, one, other))

    named(found, session, one)


async def test_swapped_outputs_are_named() -> None:
    """The order of a group's outputs is part of what was said."""
    session = evening()
    index = place(session, "fire.heuristic_fired", 3)

    found = await verified(swapped(session, index, index + 1))

    assert not found.is_identical


async def test_a_changed_comment_of_a_feedback_is_named() -> None:
    """What nobody acts on is covered too: a comment, a harmless field."""
    session = evening()
    index = place(session, "feedback.feedback_given", 2)
    record = session.records[index]
    body = orjson.loads(record.body) | {"channel": "elsewhere"}
    damaged = with_record(
        session, index, structs.replace(record, body=orjson.dumps(body))
    )

    found = await verified(damaged)

    named(found, session, index)
    assert found.divergence is not None
    assert found.divergence.what == "body"


async def test_a_changed_last_input_is_named() -> None:
    """No decision follows that could tell: the trailer's chain does."""
    session = evening()
    index = cause_of(session, len(session.records) - 1)
    record = session.records[index]
    headers = {**record.headers, "ce-dataschema": "another"}

    found = await verified(
        with_record(session, index, structs.replace(record, headers=headers))
    )

    first = found.divergence
    assert first is not None
    assert (first.what, first.recorded) == ("chain", session.trailer.chain)
    assert found.identical == found.total


async def test_a_changed_start_is_named() -> None:
    """The state before the session is part of it: another checkpoint diverges."""
    session = evening()
    checkpoint = orjson.dumps(session.header.checkpoint).replace(
        b'"threshold":0.7', b'"threshold":0.9', 1
    )
    header = structs.replace(session.header, checkpoint=orjson.loads(checkpoint))

    found = await verified(replace(session, header=header))

    assert not found.is_identical


async def test_every_byte_counts() -> None:
    """A flipped bit anywhere in a sample of inputs and outputs is detected."""
    session = evening()
    for index in range(1, len(session.records), 97):
        record = session.records[index]
        middle = len(record.body) // 2
        body = bytearray(record.body)
        body[middle] ^= 1
        damaged = with_record(session, index, structs.replace(record, body=bytes(body)))

        found = await verified(damaged)

        assert not found.is_identical, record


def test_several_partitions_are_told_as_one() -> None:
    """Counts add up; of several differences the first in the log is told."""
    differs = [Divergence(place, 0, "body", "a", "b") for place in (70, 40)]
    found = joined(
        [
            Verification(2, 5, 5, chains=(("b", "2"),), notes=("n",)),
            Verification(1, 4, 1, differs[0], notes=("n",)),
            Verification(1, 4, 2, differs[1], chains=(("a", "1"),)),
        ]
    )

    assert (found.inputs, found.total, found.identical) == (4, 13, 8)
    assert found.divergence == differs[1]
    assert found.notes == ("n",)
    assert found.chains == (("a", "1"), ("b", "2"))
    assert joined([]).is_identical
