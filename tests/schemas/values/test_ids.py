"""Ids and draws: the same cause makes the same one."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from schemas.values import ids
from tests.factories import EPOCH


def test_an_outputs_id_follows_from_its_place() -> None:
    """Log, input and index; any other makes another id."""
    one = ids.output_id(EPOCH, 7, 0)

    assert one == "76392520-9cef-517c-86f8-2da9056352df"
    assert UUID(one).version == 5
    others = {
        ids.output_id(EPOCH, 7, 1),
        ids.output_id(EPOCH, 8, 0),
        ids.output_id(UUID(int=1), 7, 0),
    }
    assert len(others - {one}) == 3


def test_a_packs_heuristic_is_the_same_everywhere() -> None:
    """Its id follows from pack and name."""
    assert ids.heuristic_id("a", "b") == ids.heuristic_id("a", "b")
    assert ids.heuristic_id("a", "b") != ids.heuristic_id("b", "a")


@given(st.integers(0, 2**62), st.integers(1, 2**40))
def test_a_filled_id_is_a_uuid_of_its_time(time_ns: int, sequence: int) -> None:
    """Version 7, sorted by the broker's milliseconds."""
    id_ = UUID(ids.filled_event_id(time_ns, sequence))

    assert (id_.version, id_.variant) == (7, "specified in RFC 4122")
    assert id_.int >> 80 == time_ns // 1_000_000


def test_a_trace_belongs_to_its_event() -> None:
    """A UUID is its own trace id; any other id is hashed."""
    event_id = "0190c8a0-0000-7000-8000-000000000001"

    assert ids.trace_id(event_id) == event_id.replace("-", "")
    assert len(ids.trace_id("e1")) == 32
    assert ids.trace_id("e1") != ids.trace_id("e2")


def test_the_nil_uuid_is_no_trace() -> None:
    """A trace id may not be all zeros."""
    assert ids.trace_id(str(UUID(int=0))) != "0" * 32


def test_spans_are_known_before_they_are_made() -> None:
    """Their ids derive from the trace, the name and the place."""
    span = ids.span_id("k", "decide", 0)

    assert len(span) == 16
    assert span != ids.span_id("k", "decide", 1)
    context = ids.traceparent("e1", span)
    assert context == f"00-{ids.trace_id('e1')}-{span}-01"


def test_a_draw_depends_on_its_four_words() -> None:
    """Seed, agent, event and purpose."""
    words = ("seed", "ana", "e1", "arm")
    drawn = ids.draw(*words)

    assert drawn == ids.draw(*words)
    for place in range(4):
        changed = [*words[:place], "other", *words[place + 1 :]]
        assert drawn != ids.draw(*changed)


def test_draws_spread_evenly() -> None:
    """A tenth of them falls into each tenth, more or less."""
    draws = [ids.draw("s", "ana", f"e{n}", "arm") for n in range(2_000)]

    assert all(0.0 <= each < 1.0 for each in draws)
    for tenth in range(10):
        assert 140 < sum(int(each * 10) == tenth for each in draws) < 260


def test_a_draw_is_below_one() -> None:
    """Whatever its bits are; those that rounding leaves alone are not touched."""
    least_rounded = 2**64 - 2**10

    assert ids.fraction(b"\xff" * 8) == 1.0 - 2.0**-53
    assert ids.fraction(least_rounded.to_bytes(8, "big")) == 1.0 - 2.0**-53
    assert ids.fraction((2**63).to_bytes(8, "big")) == 0.5
    assert ids.fraction(bytes(8)) == 0.0


def test_parts_of_a_digest_do_not_run_together() -> None:
    """Where one part ends matters."""
    assert ids.digest(b"ab", b"c") != ids.digest(b"a", b"bc")
    assert ids.digest() != ids.digest(b"")
    assert len(ids.digest(b"x")) == 24
