"""HighwayHash-64 of many texts at once: the checksum that nats-server puts behind a record.

It is vectorised over the texts, since a log has millions of records. After Alakuijala, Cox
and Wassenberg, "Fast keyed hash/pseudo-random function using SIMD multiply and permute"
(2016), as `github.com/minio/highwayhash` computes it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Lanes = NDArray[np.uint64]
"""Four 64-bit lanes for each text: shape (texts, 4)."""

_PACKET = 32
"""Bytes that one round takes: four lanes of eight."""

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
# The initial state of the reference implementation.
_MUL0 = (0xDBE6D5D5FE4CCE2F, 0xA4093822299F31D0, 0x13198A2E03707344, 0x243F6A8885A308D3)
_MUL1 = (0x3BD39E10CB0EF593, 0xC0ACF169B5F18A8C, 0xBE5466CF34E90C6C, 0x452821E638D01377)
_ZIPPER = np.array([3, 12, 2, 5, 14, 1, 15, 0, 11, 4, 10, 13, 9, 6, 8, 7])
"""For each byte of a pair of lanes, the index of the byte that it comes from (the paper's
zipper merge)."""


def checksums(key: bytes, texts: Sequence[bytes]) -> list[bytes]:
    """Return the 8 bytes of each text's hash under a key of 32 bytes."""
    if not texts:
        return []
    # Longest first, so that at each step the texts with a packet left are a prefix of the
    # rows, and a slice instead of a mask selects them.
    order = sorted(range(len(texts)), key=lambda at: -len(texts[at]))
    whole = [len(texts[at]) // _PACKET for at in order]
    state = _State(key, len(texts))
    for step in range(whole[0]):
        active = _active(whole, step)
        packets = b"".join(
            texts[at][step * _PACKET : (step + 1) * _PACKET] for at in order[:active]
        )
        state.update(slice(0, active), _lanes(packets))
    _close(state, [texts[at] for at in order])
    sums = state.finish()
    found = [b""] * len(texts)
    for row, at in enumerate(order):
        found[at] = sums[row].tobytes()
    return found


def _active(whole: Sequence[int], step: int) -> int:
    """Return how many texts have a packet at this step; `whole` must be descending."""
    low, high = 0, len(whole)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if whole[middle] > step else (low, middle)
    return low


def _close(state: "_State", texts: Sequence[bytes]) -> None:
    """Hash what remains of each text behind its last whole packet."""
    by_rest: dict[int, list[int]] = {}
    for row, text in enumerate(texts):
        by_rest.setdefault(len(text) % _PACKET, []).append(row)
    for rest, rows in by_rest.items():
        if rest:
            packets = b"".join(_last_packet(texts[row][-rest:]) for row in rows)
            state.close(np.array(rows), rest, _lanes(packets))


def _last_packet(rest: bytes) -> bytes:
    """Return 1 to 31 bytes laid out as the reference implementation pads them to 32."""
    packet = bytearray(_PACKET)
    odd = len(rest) & 3
    even = len(rest) - odd
    packet[:even] = rest[:even]
    if len(rest) & 16:
        packet[28:] = rest[-4:]
    elif odd:
        packet[16:19] = rest[even], rest[even + odd // 2], rest[-1]
    return bytes(packet)


def _lanes(packets: bytes) -> Lanes:
    return np.frombuffer(packets, dtype="<u8").reshape(-1, 4)


class _State:
    """The running hash of many texts; sums and products wrap modulo 2^64, as numpy's do."""

    def __init__(self, key: bytes, count: int) -> None:
        own = np.frombuffer(key, dtype="<u8")
        mul0, mul1 = np.array(_MUL0, np.uint64), np.array(_MUL1, np.uint64)
        self._mul0, self._mul1 = np.tile(mul0, (count, 1)), np.tile(mul1, (count, 1))
        self._v0 = np.tile(mul0 ^ own, (count, 1))
        self._v1 = np.tile(mul1 ^ _swapped(own), (count, 1))

    def update(self, rows: slice | NDArray[np.int64], packets: Lanes) -> None:
        """Hash one packet of each of these texts; `packets` has shape (rows, 4)."""
        v0, v1 = self._v0[rows], self._v1[rows]
        mul0, mul1 = self._mul0[rows], self._mul1[rows]
        v1 = v1 + mul0 + packets
        mul0 = mul0 ^ ((v1 & _LOW) * (v0 >> _HALF))
        v0 = v0 + mul1
        mul1 = mul1 ^ ((v0 & _LOW) * (v1 >> _HALF))
        v0 = v0 + _zipped(v1)
        v1 = v1 + _zipped(v0)
        self._v0[rows], self._v1[rows] = v0, v1
        self._mul0[rows], self._mul1[rows] = mul0, mul1

    def close(self, rows: NDArray[np.int64], rest: int, packets: Lanes) -> None:
        """Hash the last packet of texts that have `rest` bytes left, 1 to 31."""
        self._v0[rows] += np.uint64((rest << 32) + rest)
        # Each 32-bit half is rotated left by `rest`.
        halves = np.ascontiguousarray(self._v1[rows]).view(np.uint32)
        turned = (halves << np.uint32(rest)) | (halves >> np.uint32(32 - rest))
        self._v1[rows] = turned.view(np.uint64)
        self.update(rows, packets)

    def finish(self) -> NDArray[np.uint64]:
        """Return the hash of each text, after the four closing rounds of the 64-bit form."""
        rows = slice(0, len(self._v0))
        for _ in range(4):
            self.update(rows, _swapped(self._v0[:, [2, 3, 0, 1]]))
        parts = self._v0[:, 0] + self._v1[:, 0] + self._mul0[:, 0] + self._mul1[:, 0]
        return parts.astype("<u8")


def _swapped(lanes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the lanes with their 32-bit halves swapped."""
    return (lanes >> _HALF) | (lanes << _HALF)


def _zipped(lanes: Lanes) -> Lanes:
    pairs = np.ascontiguousarray(lanes).view(np.uint8).reshape(-1, 16)
    return np.ascontiguousarray(pairs[:, _ZIPPER]).view(np.uint64).reshape(-1, 4)
