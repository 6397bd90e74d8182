"""MQTT 3.1.1 as it passes by: topics that the broker cannot carry are written as others.

Only what a client publishes, its last will included, is read; all else passes as it came.
The packets are those of the OASIS standard, sections 2.2 (length), 3.1 and 3.3.
"""

import asyncio
from typing import Protocol

from schemas.values import topics

_CONNECT, _PUBLISH = 1, 3
_HAS_WILL = 0x04
_LONGEST_HEAD = 256 * 1024
"""Bytes of a CONNECT, which holds a will and a password."""
_CHUNK = 64 * 1024


class _Sink(Protocol):
    """Where packets go on to."""

    def write(self, data: bytes, /) -> None:
        """Write some bytes."""

    async def drain(self) -> None:
        """Wait until there is room for more."""


class NotMqttError(ValueError):
    """The bytes are no MQTT."""


async def forward(source: asyncio.StreamReader, sink: _Sink) -> None:
    """Pass on the packets of a client until it leaves.

    Raises:
        NotMqttError: what it sends is no MQTT.
        asyncio.IncompleteReadError: it left, maybe in the middle of a packet.
    """
    while True:
        (first,) = await source.readexactly(1)
        length = await _length(source)
        kind = first >> 4
        if kind == _PUBLISH:
            length = await _published(source, sink, first, length)
        elif kind == _CONNECT:
            if length > _LONGEST_HEAD:
                raise NotMqttError(f"a CONNECT of {length} bytes")
            body = _with_will(await source.readexactly(length))
            sink.write(bytes([first]) + encoded_length(len(body)) + body)
            length = 0
        else:
            sink.write(bytes([first]) + encoded_length(length))
        await _pass(source, sink, length)


async def _published(
    source: asyncio.StreamReader, sink: _Sink, first: int, length: int
) -> int:
    """Pass on the head of a PUBLISH, its topic as one that can be carried."""
    size = int.from_bytes(await source.readexactly(2))
    if size + 2 > length:
        raise NotMqttError("a topic that is longer than its packet")
    topic = carried(await source.readexactly(size))
    rest = length - 2 - size
    sink.write(
        bytes([first])
        + encoded_length(2 + len(topic) + rest)
        + len(topic).to_bytes(2)
        + topic
    )
    return rest


def carried(topic: bytes) -> bytes:
    """Return a topic as the broker can carry it; as it came if that is too long."""
    # A byte that is no UTF-8 is a character of its own: one of a sensor's topic is written by
    # its code, and beside a blank elsewhere it stays what it is.
    told = topic.decode(errors="surrogateescape")
    made = topics.carried(told).encode(errors="surrogateescape")
    return made if len(made) < 0x10000 else topic


def _with_will(body: bytes) -> bytes:
    """Return the body of a CONNECT with the topic of its will as one that can be carried."""
    try:
        name_end = 2 + int.from_bytes(body[:2])
        flags = body[name_end + 1]
        if not flags & _HAS_WILL:
            return body
        # Behind the flags two bytes of keep-alive, then the client's id.
        client = name_end + 4
        at = client + 2 + int.from_bytes(body[client : client + 2])
        end = at + 2 + int.from_bytes(body[at : at + 2])
    except IndexError as error:
        raise NotMqttError("a CONNECT that is cut off") from error
    topic = carried(body[at + 2 : end])
    return body[:at] + len(topic).to_bytes(2) + topic + body[end:]


async def _pass(source: asyncio.StreamReader, sink: _Sink, left: int) -> None:
    while left:
        part = await source.read(min(left, _CHUNK))
        if not part:
            raise asyncio.IncompleteReadError(b"", left)
        sink.write(part)
        await sink.drain()
        left -= len(part)
    await sink.drain()


async def _length(source: asyncio.StreamReader) -> int:
    """Read a packet's remaining length: seven bits a byte, the last without the eighth."""
    length = 0
    for place in range(4):
        (byte,) = await source.readexactly(1)
        length |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return length
    raise NotMqttError("a length of more than four bytes")


def encoded_length(length: int) -> bytes:
    """Return a remaining length as it is written."""
    found = bytearray()
    while True:
        length, byte = length >> 7, length & 0x7F
        found.append(byte | 0x80 if length else byte)
        if not length:
            return bytes(found)
