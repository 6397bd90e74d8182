"""Packets of MQTT as they pass by: topics are written anew, all else stays."""

import asyncio

import pytest

from schemas.values import topics
from streams.broker.mqtt_packets import NotMqttError, encoded_length, forward


class Kept:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes, /) -> None:
        self.data += data

    async def drain(self) -> None:
        """There is always room."""


async def passed(sent: bytes) -> bytes:
    source, sink = asyncio.StreamReader(), Kept()
    source.feed_data(sent)
    source.feed_eof()
    with pytest.raises(asyncio.IncompleteReadError):
        await forward(source, sink)
    return sink.data


def text(of: bytes) -> bytes:
    return len(of).to_bytes(2) + of


def packet(first: int, body: bytes) -> bytes:
    return bytes([first]) + encoded_length(len(body)) + body


@pytest.mark.parametrize("size", [0, 1, 100, 127, 128, 20_000, 300_000])
async def test_a_topic_is_written_anew_and_its_payload_stays(size: int) -> None:
    """Whatever its length, with its packet's id and what comes behind it."""
    rest = b"\x00\x07" + b"\x30" * size
    ping = packet(0xC0, b"")

    out = await passed(packet(0x32, text(b"in/ada/home/Living Room") + rest) + ping)

    assert out == packet(0x32, text(b"in/ada/home/Living_x0020_Room") + rest) + ping


async def test_a_last_will_is_one_of_the_topics() -> None:
    """A CONNECT without one stays as it is, and so does what is no text outside of `in`."""
    head = text(b"MQTT") + b"\x04"
    tail = b"\x00\x3c" + text(b"lamp")
    plain = packet(0x10, head + b"\xc2" + tail + text(b"user") + text(b"word"))
    will = text(b"in/ada/home/a b") + text(b"gone")
    told = packet(0x10, head + b"\xc6" + tail + will + text(b"user"))
    odd = packet(0x30, text(b"stat/\xff/x") + b"x")

    out = await passed(plain + told + odd)

    kept = text(b"in/ada/home/a_x0020_b") + text(b"gone")
    assert (
        out == plain + packet(0x10, head + b"\xc6" + tail + kept + text(b"user")) + odd
    )


@pytest.mark.parametrize(
    ("topic", "carried"),
    [
        (b"in/ada/home/a\xff b", b"in/ada/home/a_xDCFF__x0020_b"),
        (b"in/ada/home/\xc3", b"in/ada/home/_xDCC3_"),
        (b"in/\xff/ ", b"in/_xDCFF_/_x0020_"),
        (b"stat/\xff b", b"stat/\xff_x0020_b"),
        (b"in/ada/home/K\xc3\xbcche", b"in/ada/home/K_x00FC_che"),
    ],
)
async def test_a_topic_that_is_no_text_is_carried_too(
    topic: bytes, carried: bytes
) -> None:
    """No byte of a topic is one that the broker ends the connection for."""
    assert await passed(packet(0x30, text(topic) + b"x")) == packet(
        0x30, text(carried) + b"x"
    )
    assert topics.original("in.ada.home.a_xDCFF__x0020_b") == "in/ada/home/a_xDCFF_ b"


@pytest.mark.parametrize(
    "sent",
    [
        b"\x30\xff\xff\xff\xff\x01",
        packet(0x30, b"\x00\x09in"),
        packet(0x10, text(b"MQTT")),
        b"\x10" + encoded_length(1_000_000),
    ],
)
async def test_what_is_no_mqtt_is_sent_away(sent: bytes) -> None:
    """It is named, and nothing is waited for."""
    source = asyncio.StreamReader()
    source.feed_data(sent)

    with pytest.raises(NotMqttError):
        await forward(source, Kept())
