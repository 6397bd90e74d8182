"""Headers are read as the client library reads them, only faster."""

from hypothesis import given
from hypothesis import strategies as st
from nats.aio.client import Client

from streams.headers import (
    block_of,
    own_headers,
    own_headers_of,
    parse_headers,
    status_of,
)

names = st.one_of(
    st.sampled_from([b"ce-id", b"Nats-Sequence", b" ce-type ", b"a b", b"\xff", b""]),
    st.binary(max_size=5),
)
lines = st.tuples(names, st.sampled_from([b":", b": ", b""]), st.binary(max_size=8))


@given(st.lists(lines.map(b"".join)))
def test_any_block_is_read_as_the_library_reads_it(block: list[bytes]) -> None:
    """Whatever a sensor sends, both give the same, but for a name that is empty."""
    raw = b"\r\n".join(block) + b"\r\n\r\n"

    library = Client._parse_header_lines(raw)
    library.pop("", None)
    assert parse_headers(raw) == library


def test_the_last_of_a_name_counts() -> None:
    """What the broker adds at the end cannot be forged before it."""
    forged = b"Nats-Sequence: 99\r\nce-id: a\r\nNats-Sequence: 7\r\n\r\n"

    assert parse_headers(forged)["Nats-Sequence"] == "7"


def test_the_brokers_own_are_no_part_of_a_message() -> None:
    """Only what the sender meant for the reader is kept."""
    assert own_headers({"Nats-Msg-Id": "x", "ce-id": "a", "k": "v"}) == {
        "ce-id": "a",
        "k": "v",
    }
    assert own_headers(None) == {}


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=8)))
def test_a_block_holds_what_it_was_made_of(headers: dict[str, str]) -> None:
    """What is written is what is read, or nothing is written."""
    block = block_of(headers)

    if block is not None:
        kept = {key: value.strip(" \t\n\r\x0b\x0c") for key, value in headers.items()}
        assert parse_headers(block.removeprefix(b"NATS/1.0\r\n")) == kept


def test_a_line_break_makes_no_header() -> None:
    """No value can begin another header, and no name can be more than a name."""
    assert block_of({"a": "b\r\nNats-Rollup: all"}) is None
    assert block_of({"a": "b\nc"}) is None
    assert block_of({"a\r\nb": "c"}) is None
    assert block_of({"a b": "c"}) is None
    assert block_of({"": "c"}) is None
    assert block_of({"a": "b", "c": "é"}) == b"NATS/1.0\r\na: b\r\nc: \xc3\xa9\r\n\r\n"


@given(st.lists(lines.map(b"".join)))
def test_own_headers_are_read_in_one_go(block: list[bytes]) -> None:
    """With the line of the version or without, and whatever the broker added."""
    raw = b"NATS/1.0\r\n" + b"\r\n".join(block) + b"\r\n\r\n"

    assert own_headers_of(raw) == own_headers(parse_headers(raw))


def test_a_status_is_read_of_the_first_line() -> None:
    """Only what the server itself says has one."""
    assert status_of(b"NATS/1.0 404 No Messages\r\n\r\n") == ("404", "No Messages")
    assert status_of(b"NATS/1.0 100 Idle Heartbeat\r\nNats-A: 1\r\n\r\n") == (
        "100",
        "Idle Heartbeat",
    )
    assert status_of(b"NATS/1.0 503\r\n\r\n") == ("503", "")
    assert status_of(b"NATS/1.0\r\nce-id: 404\r\n\r\n") == ("", "")
    assert status_of(b"") == ("", "")
