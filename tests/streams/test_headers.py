"""Headers are read as the client library reads them, only faster."""

from hypothesis import given
from hypothesis import strategies as st
from nats.aio.client import Client

from streams.headers import own_headers, parse_headers

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
