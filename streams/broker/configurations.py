"""What a nats-server that was killed leaves of a configuration that it was just writing.

nats-server 2.15.1 writes a stream's configuration to `meta.inf` and then its checksum to
`meta.sum`. Killed in between, it passes over that stream at its next start, as if it had never
been, and a log that is then created in its place has another epoch. So the checksums are
finished before.
"""

import hashlib
import json
import logging
from operator import itemgetter
from pathlib import Path

from streams.embedded import write_private
from streams.errors import LogDamaged

_STORE = "jetstream/jetstream/*/streams"

_FULL, _HALF, _LOW = 2**64 - 1, 32, 2**32 - 1
_PACKET = 32
"""Bytes that one round takes: four lanes of eight."""
# The initial state of the reference implementation.
_MUL0 = (0xDBE6D5D5FE4CCE2F, 0xA4093822299F31D0, 0x13198A2E03707344, 0x243F6A8885A308D3)
_MUL1 = (0x3BD39E10CB0EF593, 0xC0ACF169B5F18A8C, 0xBE5466CF34E90C6C, 0x452821E638D01377)
_zipper = itemgetter(3, 12, 2, 5, 14, 1, 15, 0, 11, 4, 10, 13, 9, 6, 8, 7)
"""Takes, for each byte of a pair of lanes, the one that it comes from (the paper's merge)."""

_log = logging.getLogger(__name__)


def finish(server_folder: Path) -> list[Path]:
    """Write the checksums that do not fit their configurations, and return their files.

    No server may run over the folder.

    Raises:
        LogDamaged: a configuration cannot be read.
    """
    streams = sorted(server_folder.glob(f"{_STORE}/*/meta.inf"))
    consumers = sorted(server_folder.glob(f"{_STORE}/*/obs/*/meta.inf"))
    found = [_finished(each, each.parent.name) for each in streams]
    found += [
        _finished(each, f"{each.parents[2].name}/{each.parent.name}")
        for each in consumers
    ]
    return [each for each in found if each is not None]


def checksum(name: str, data: bytes) -> bytes:
    """Return the 8 bytes that nats-server puts behind what it stores under a name.

    HighwayHash-64 after Alakuijala, Cox and Wassenberg, "Fast keyed hash/pseudo-random
    function using SIMD multiply and permute" (2016), under the name's SHA-256.
    """
    return highway(hashlib.sha256(name.encode()).digest(), data)


def highway(key: bytes, data: bytes) -> bytes:
    """Return the HighwayHash-64 of data, under a key of 32 bytes."""
    own = _lanes(key)
    v0 = [mul ^ each for mul, each in zip(_MUL0, own, strict=True)]
    v1 = [mul ^ _turned(each, _HALF) for mul, each in zip(_MUL1, own, strict=True)]
    state = v0, v1, [*_MUL0], [*_MUL1]
    whole = len(data) - len(data) % _PACKET
    for at in range(0, whole, _PACKET):
        _update(state, _lanes(data[at : at + _PACKET]))
    if rest := data[whole:]:
        size = len(rest)
        v0[:] = [(each + (size << _HALF) + size) & _FULL for each in v0]
        v1[:] = [_turned(each, size) for each in v1]
        _update(state, _lanes(_last_packet(rest)))
    for _ in range(4):
        _update(state, [_turned(v0[at], _HALF) for at in (2, 3, 0, 1)])
    return (sum(int(each[0]) for each in state) & _FULL).to_bytes(8, "little")


def _finished(file: Path, name: str) -> Path | None:
    """Write the checksum of a configuration, keyed by its name, unless it is there."""
    data, sum_ = file.read_bytes(), file.with_name("meta.sum")
    wanted = checksum(name, data).hex().encode()
    if sum_.exists() and sum_.read_bytes() == wanted:
        return None
    # Replaced as one by the server, so that one that was cut off is the earlier or the new.
    if not _is_of(name, data):
        raise LogDamaged(
            "configuration", 1, f"{file} is not what nats-server wrote of {name}"
        )
    _log.warning("%s was cut off: its checksum is written anew", file)
    write_private(sum_, wanted)
    return sum_


def _is_of(name: str, data: bytes) -> bool:
    """Tell whether data is the whole configuration of a stream or a consumer."""
    try:
        return bool(json.loads(data)["name"] == name.rpartition("/")[2])
    except (ValueError, KeyError, TypeError):
        return False


_State = tuple[list[int], list[int], list[int], list[int]]


def _lanes(packet: bytes) -> list[int]:
    return [int.from_bytes(packet[at : at + 8], "little") for at in range(0, 32, 8)]


def _turned(lane: int, bits: int) -> int:
    """Return a lane with each 32-bit half rotated left; by 32, with its halves swapped."""
    low, high = lane & _LOW, lane >> _HALF
    if bits == _HALF:
        return low << _HALF | high
    low, high = ((each << bits | each >> _HALF - bits) & _LOW for each in (low, high))
    return high << _HALF | low


def _update(state: _State, packet: list[int]) -> None:
    v0, v1, mul0, mul1 = state
    for at in range(4):
        v1[at] = (v1[at] + mul0[at] + packet[at]) & _FULL
        mul0[at] ^= (v1[at] & _LOW) * (v0[at] >> _HALF)
        v0[at] = (v0[at] + mul1[at]) & _FULL
        mul1[at] ^= (v0[at] & _LOW) * (v1[at] >> _HALF)
    for into, of in ((v0, v1), (v1, v0)):
        for at in (0, 2):
            pair = of[at].to_bytes(8, "little") + of[at + 1].to_bytes(8, "little")
            mixed = bytes(_zipper(pair))
            into[at] = (into[at] + int.from_bytes(mixed[:8], "little")) & _FULL
            into[at + 1] = (into[at + 1] + int.from_bytes(mixed[8:], "little")) & _FULL


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
