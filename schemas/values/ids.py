"""Ids and draws that derive from causes, so that the same cause makes the same id.

Nothing here is random: an output's id follows from its input's place in the log, a draw
from the seed and what it is for. That is what lets a replay repeat both.
"""

import hashlib
from functools import lru_cache
from uuid import UUID, uuid5

EPOCH_PREFIX = "e:"
SENSOR_PREFIX = "s:"


def output_id(epoch: UUID, cause_sequence: int, index: int) -> str:
    """Return the id of the `index`-th output that answers the input at `cause_sequence`."""
    return _output_id(epoch.int, cause_sequence, index)


# Of the number: a UUID is hashed and compared in Python, three times an output.
@lru_cache(maxsize=4096)
def _output_id(epoch: int, cause_sequence: int, index: int) -> str:
    named = epoch.to_bytes(16, "big") + f"{cause_sequence}/{index}".encode()
    # A uuid5 as text; the library's own takes five times as long to make one.
    hashed = bytearray(hashlib.sha1(named, usedforsecurity=False).digest())
    hashed[6] = hashed[6] & 0x0F | 0x50
    hashed[8] = hashed[8] & 0x3F | 0x80
    text = hashed.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:32]}"


def heuristic_id(pack: str, name: str) -> str:
    """Return the id of a pack's heuristic: the same wherever the pack is loaded."""
    return str(uuid5(_PACKS, f"{pack}/{name}"))


def learnt_heuristic_id(decision_id: str) -> str:
    """Return the id of the heuristic that is made of a decision's answer."""
    # No name of a pack is empty, so that no heuristic of one can have this id.
    return str(uuid5(_PACKS, f"/{decision_id}"))


def filled_event_id(time_ns: int, sequence: int) -> str:
    """Return an event id for a sensor that sent none: a UUIDv7 of the broker's time and
    sequence.
    """
    milliseconds = (time_ns // 1_000_000) & ((1 << 48) - 1)
    tail = int.from_bytes(
        hashlib.blake2b(f"{time_ns}/{sequence}".encode(), digest_size=10).digest(),
        "big",
    )
    value = milliseconds << 80 | 0x7 << 76 | (tail >> 68 & 0xFFF) << 64
    value |= 0b10 << 62 | tail & ((1 << 62) - 1)
    return str(UUID(int=value))


def trace_id(event_id: str) -> str:
    """Return the 32 hex digits of the trace that belongs to an event: its id, hashed if
    foreign.
    """
    try:
        own = UUID(event_id)
    except ValueError:
        own = _NIL
    # A trace may not be all zeros, as the nil UUID is.
    if own != _NIL:
        return own.hex
    return hashlib.blake2b(event_id.encode(), digest_size=16).hexdigest()


def span_id(key: str, name: str, index: int) -> str:
    """Return the 16 hex digits of the `index`-th span of a name in the trace of `key`."""
    text = f"{key}|{name}|{index}".encode()
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def traceparent(event_id: str, parent: str) -> str:
    """Return the W3C trace context of whatever the span `parent` of an event's trace causes."""
    return f"00-{trace_id(event_id)}-{parent}-01"


def draw(seed: str, agent: str, event_id: str, purpose: str) -> float:
    """Return a number in [0, 1) that depends on nothing but its four arguments."""
    key = f"{seed}|{agent}|{event_id}|{purpose}".encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") / 2**64


def digest(*parts: bytes) -> str:
    """Return a short content hash (96 bits, hex) over parts that may not run into each
    other.
    """
    return raw_digest(*parts).hex()


def raw_digest(*parts: bytes) -> bytes:
    """Return the bytes of `digest`."""
    measured = [len(part).to_bytes(8, "big") + part for part in parts]
    return hashlib.blake2b(b"".join(measured), digest_size=12).digest()


_NIL = UUID(int=0)
_PACKS = UUID("6f8f7f0c-5b0e-5c5e-9b7e-0a3c5e1d2b40")
