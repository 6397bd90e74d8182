"""Decompressing S2, as nats-server compresses its closed blocks; damage costs a chunk at most.

After `github.com/klauspost/compress/s2`: Snappy's framing, with one more code for "the
offset of before". A chunk whose checksum fails is given out all the same: each record in
it has one of its own.
"""

from contextlib import suppress
from functools import cache

import numpy as np
from numpy.typing import NDArray

_COMPRESSED, _PLAIN = 0x00, 0x01
_CHECKSUM = 4
_POLYNOMIAL = 0x82F63B78  # Castagnoli's, for CRC-32C
_STRIP = 1024
_FULL = 0xFFFFFFFF
_SHORT_REPEATS = 4
"""A repeat of so many bytes or fewer has its length in the tag."""


class S2Error(ValueError):
    """These bytes are no S2."""


IDENTIFIER = b"\xff\x06\x00\x00S2sTwO"
"""How a stream begins."""


def decompress(data: bytes) -> tuple[bytes, bool]:
    """Return the text of a stream, zeros where it cannot be read, and whether it is sound."""
    parts: list[bytes] = []
    at, is_sound = 0, data.startswith(IDENTIFIER)
    while at + 4 <= len(data):
        kind, size = data[at], int.from_bytes(data[at + 1 : at + 4], "little")
        chunk = data[at + 4 : at + 4 + size]
        at += 4 + size
        if kind in (_COMPRESSED, _PLAIN):
            text = chunk[_CHECKSUM:]
            text = _leniently(text) if kind == _COMPRESSED else text
            parts.append(text)
            stated = int.from_bytes(chunk[:_CHECKSUM], "little")
            is_sound = is_sound and stated == masked(text)
        elif kind < 0x80:
            break  # No chunk of this kind: the framing itself is damaged from here.
    return b"".join(parts), is_sound and at == len(data)


def _leniently(block: bytes) -> bytes:
    try:
        size, start = uvarint(block, 0)
    except IndexError:
        return b""
    if size > 4 << 20:  # More than any chunk of the format holds.
        return b""
    made = bytearray()
    with suppress(IndexError, S2Error):
        _decode(block, start, made, size)
    return bytes(made[:size]).ljust(size, b"\0")


def uvarint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of Go's `binary.PutUvarint`, and where the next byte stands."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _decode(block: bytes, at: int, made: bytearray, size: int) -> None:
    """Append the text of a block to `made`.

    Raises:
        IndexError, S2Error: the block is damaged; what was made so far stays.
    """
    offset, end = 1, len(block)
    while at < end and len(made) < size:
        tag = block[at]
        kind, length = tag & 3, tag >> 2
        at += 1
        if kind == 0:
            if length >= 60:
                width = length - 59
                length = int.from_bytes(block[at : at + width], "little")
                at += width
            length += 1
            made += block[at : at + length]
            at += length
            continue
        if kind == 1:
            far = (tag & 0xE0) << 3 | block[at]
            at += 1
            length &= 7
            if far:
                offset, length = far, length + 4
            else:
                length, at = _repeated(block, at, length)
        else:
            width = 2 if kind == 2 else 4
            offset = int.from_bytes(block[at : at + width], "little")
            at += width
            length += 1
        _copy(made, offset, length)


def _repeated(block: bytes, at: int, code: int) -> tuple[int, int]:
    """Return the length of a copy from the offset of before, and where the next tag stands."""
    width = max(0, code - _SHORT_REPEATS)
    if not width:
        return code + 4, at
    base = {1: 8, 2: 260, 3: 65_540}[width]
    return int.from_bytes(block[at : at + width], "little") + base, at + width


def _copy(made: bytearray, offset: int, length: int) -> None:
    start = len(made) - offset
    if offset <= 0 or start < 0:
        raise S2Error(f"a copy from {offset} bytes before the text")
    if offset >= length:
        made += made[start : start + length]
    else:
        pattern = bytes(made[start:])
        made += (pattern * (length // offset + 1))[:length]


def masked(text: bytes) -> int:
    """Return the CRC-32C of a text as Snappy's framing stores it, computed by strips at
    once.
    """
    crc = _crc(text)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & _FULL


def _crc(text: bytes) -> int:
    table, shift = _table(), _shift()
    register = _FULL
    rest = len(text) % _STRIP
    for byte in text[:rest]:
        register = int(table[(register ^ byte) & 0xFF]) ^ register >> 8
    for strip in _strips(text[rest:]):
        moved = shift[0][register & 0xFF] ^ shift[1][register >> 8 & 0xFF]
        moved ^= shift[2][register >> 16 & 0xFF] ^ shift[3][register >> 24]
        register = int(moved) ^ strip
    return register ^ _FULL


def _strips(text: bytes) -> list[int]:
    """Return the register after each strip alone, from zero."""
    strips = np.frombuffer(text, np.uint8).reshape(-1, _STRIP)
    registers = np.zeros(len(strips), np.uint32)
    for column in np.ascontiguousarray(strips.T):
        registers = _table()[(registers ^ column) & 0xFF] ^ registers >> np.uint32(8)
    return [int(each) for each in registers]


@cache
def _table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        odd = (table & 1).astype(bool)
        table = np.where(odd, table >> 1 ^ np.uint32(_POLYNOMIAL), table >> 1)
    return table


@cache
def _shift() -> tuple[NDArray[np.uint32], ...]:
    """Return what a strip of zeros makes of each byte of the register."""
    tables = []
    for place in range(4):
        registers = np.arange(256, dtype=np.uint32) << np.uint32(8 * place)
        for _ in range(_STRIP):
            registers = _table()[registers & 0xFF] ^ registers >> np.uint32(8)
        tables.append(registers)
    return tuple(tables)
