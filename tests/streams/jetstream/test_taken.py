"""What the log has of an intake stream is told by a position and the gaps before it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.jetstream import origins
from streams.jetstream.missed import Taken


@given(st.lists(st.integers(1, 30)), st.integers(0, 5), st.integers(1, 35))
def test_it_knows_what_a_set_would_know(
    sequences: list[int], begun: int, end: int
) -> None:
    """In whatever order they come, and however often."""
    taken = Taken(begun)
    for each in sequences:
        taken.take(each)

    known = {*range(1, begun + 1), *sequences}
    lacking = [n for first, last in taken.lacks(end) for n in range(first, last + 1)]
    assert [each for each in lacking if each <= end] == [
        each for each in range(1, end + 1) if each not in known
    ]
    assert all(first <= last for first, last in taken.gaps)


@pytest.mark.parametrize(
    ("before", "gaps", "last"),
    [(1, ((2, 3), (5, 5)), 6), (3, ((3, 3), (5, 5)), 6), (4, ((5, 5),), 6), (9, (), 8)],
)
def test_what_is_gone_is_not_lacking(
    before: int, gaps: tuple[tuple[int, int], ...], last: int
) -> None:
    """An intake stream keeps its messages for a while."""
    taken = Taken()
    for each in (1, 4, 6):
        taken.take(each)

    taken.forget(before)

    assert (taken.gaps, taken.last) == (gaps, last)


@pytest.mark.parametrize(
    "block",
    [
        b"NATS/1.0\r\nNats-Stream-Source: IN_5 7 > in.\xff.x in.\xff.x\r\n\r\n",
        b"\x9a\x01 Nats-Stream-Source: IN_5 7 > in.x in.x\r\n\r\n",
        b"NATS/1.0\r\nNats-Stream-Source: IN 1 > in.x in.x\r\n"
        b"Nats-Stream-Source: IN_5 7 > in.x in.x\r\n\r\n",
    ],
    ids=["a subject that is no UTF-8", "headers without line breaks", "made up before"],
)
def test_an_origin_is_read_whatever_a_sensor_sends(block: bytes) -> None:
    """A sensor's bytes must neither hide an origin nor end a connection."""
    found = origins.origin(block)

    assert found is not None
    assert (found.stream, found.sequence) == ("IN_5", 7)
