"""CRC-32C of long texts: the checksum of S2's chunks, computed strip by strip at once."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

_POLYNOMIAL = 0x82F63B78
_STRIP = 1024
_FULL = 0xFFFFFFFF


def masked(text: bytes) -> int:
    """The CRC-32C of a text as Snappy's framing stores it."""
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
    """The register after each strip alone, from zero."""
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
    """What a strip of zeros makes of each byte of the register."""
    tables = []
    for place in range(4):
        registers = np.arange(256, dtype=np.uint32) << np.uint32(8 * place)
        for _ in range(_STRIP):
            registers = _table()[registers & 0xFF] ^ registers >> np.uint32(8)
        tables.append(registers)
    return tuple(tables)
