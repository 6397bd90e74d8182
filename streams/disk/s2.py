"""S2 decompression of nats-server's closed blocks, in which damage costs a chunk at most.

After `github.com/klauspost/compress/s2`: Snappy's framing, with one more code that repeats
the last offset. A chunk whose checksum fails is returned all the same, since each record in
it has a checksum of its own: a damaged stream has to be read as far as possible.
"""

from contextlib import suppress
from functools import cache

import numpy as np
from numpy.typing import NDArray

_COMPRESSED, _PLAIN = 0x00, 0x01
_CHECKSUM = 4
_POLYNOMIAL = 0x82F63B78  # Castagnoli's, for CRC-32C
_STRIP = 1024
"""Bytes of a strip; numpy advances the CRC of all strips of a text a byte at a time."""
_FULL = 0xFFFFFFFF
_SHORT_REPEATS = 4
"""Codes up to this one are a repeat's length, less 4; the next three say how many bytes
behind the tag hold it."""


class S2Error(ValueError):
    """The bytes are not valid S2."""


IDENTIFIER = b"\xff\x06\x00\x00S2sTwO"
"""The chunk with which every stream begins."""


def decompress(data: bytes) -> tuple[bytes, bool]:
    """Return the text of a stream, with zeros where it is unreadable, and whether it is sound.

    Zeros keep the length, so that what follows stays at its offset.
    """
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
    # What was decoded before the damage is kept; the rest becomes zeros.
    with suppress(IndexError, S2Error):
        _decode(block, start, made, size)
    return bytes(made[:size]).ljust(size, b"\0")


def uvarint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number written by Go's `binary.PutUvarint`, and the offset behind it.

    Raises:
        IndexError: the data ends within the number.
    """
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
        # Kind 0 is a literal; 1, 2 and 3 are copies with an offset of 11, 16 or 32 bits.
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
            # In S2 an offset of 0, which Snappy forbids, means the last offset again.
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
    """Return the length of a copy from the last offset, and the offset of the next tag."""
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
        # The copy overlaps its own output: the last `offset` bytes repeat.
        pattern = bytes(made[start:])
        made += (pattern * (length // offset + 1))[:length]


def masked(text: bytes) -> int:
    """Return the masked CRC-32C of a text, as Snappy's framing format stores it.

    The mask (rotate right by 15, add a constant) is the format's, against CRCs of CRCs.
    """
    crc = _crc(text)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & _FULL


def _crc(text: bytes) -> int:
    # The register behind two strips is the first's moved past a strip of zeros, XOR the
    # second's: so strips are computed apart, and joined by table.
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
    """Return the CRC register after each strip by itself, starting from zero."""
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
    """Return tables that move each byte of a register past a strip of zeros."""
    tables = []
    for place in range(4):
        registers = np.arange(256, dtype=np.uint32) << np.uint32(8 * place)
        for _ in range(_STRIP):
            registers = _table()[registers & 0xFF] ^ registers >> np.uint32(8)
        tables.append(registers)
    return tuple(tables)
