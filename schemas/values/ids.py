"""Ids and draws that derive from causes, so that the same cause makes the same id.

Nothing here is random: an output's id follows from its input's place in the log, a draw
from the seed and what it is for. That is what lets a replay repeat both.
"""

import hashlib
from functools import lru_cache
from uuid import UUID, uuid5

EPOCH_PREFIX = "e:"
_BELOW_ONE = 1.0 - 2.0**-53


def output_id(epoch: UUID, cause_sequence: int, index: int) -> str:
    """Return the id of the `index`-th output that answers the input at `cause_sequence`."""
    return _output_id(epoch.int, cause_sequence, index)


# Keyed by the number: hashing and comparing a UUID runs in Python, and an output's id is
# asked for three times.
@lru_cache(maxsize=4096)
def _output_id(epoch: int, cause_sequence: int, index: int) -> str:
    named = epoch.to_bytes(16, "big") + f"{cause_sequence}/{index}".encode()
    # A uuid5 as text; the library's own takes five times as long to make one.
    # SHA-1 is what UUID version 5 prescribes (RFC 9562, 5.5); nothing here is a secret.
    text = hashlib.sha1(named, usedforsecurity=False).hexdigest()
    # The digit of the version is 5; of that of the variant two bits are binary 10.
    return (
        f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}"
        f"-{text[20:32]}"
    )


def heuristic_id(pack: str, name: str) -> str:
    """Return the id of a pack's heuristic: the same wherever the pack is loaded."""
    # A pack's name has no slash, so no two pairs give one text.
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
    # RFC 9562, 5.7: 48 bits of time, version 7, 12 bits, variant 2, 62 bits. A hash stands
    # for the random bits, so that the same record always gets the same id.
    value = milliseconds << 80 | 0x7 << 76 | (tail >> 68 & 0xFFF) << 64
    value |= 0b10 << 62 | tail & ((1 << 62) - 1)
    return str(UUID(int=value))


def trace_id(event_id: str) -> str:
    """Return the trace id of an event, 32 hex digits: its own id if that is a UUID, else a
    hash of it.
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


def ask_span_id(ask_id: str) -> str:
    """Return the id of the span in which an ask is performed.

    Whoever performs it and whoever exports its span make the same, whatever its name.
    """
    return span_id(ask_id, "ask", 0)


def traceparent(event_id: str, parent: str) -> str:
    """Return the W3C `traceparent` header for what the span `parent` of an event causes."""
    # Version 00, and the flag 01: the trace is recorded.
    return f"00-{trace_id(event_id)}-{parent}-01"


def draw(seed: str, agent: str, event_id: str, purpose: str) -> float:
    """Return a number in [0, 1) that depends on nothing but its four arguments."""
    key = f"{seed}|{agent}|{event_id}|{purpose}".encode()
    return fraction(hashlib.blake2b(key, digest_size=8).digest())


def fraction(bits: bytes) -> float:
    """Return 64 bits as a number in [0, 1)."""
    # Rounding would make 1 of the largest, once in 2**54 draws.
    return min(int.from_bytes(bits, "big") / 2**64, _BELOW_ONE)


def digest(*parts: bytes) -> str:
    """Return a content hash of 96 bits, as hex, over parts and where each of them ends."""
    return raw_digest(*parts).hex()


def raw_digest(*parts: bytes) -> bytes:
    """Return the 12 bytes that `digest` writes as hex."""
    hashed = hashlib.blake2b(digest_size=12)
    for part in parts:
        # Each part follows its length, so that (ab, c) and (a, bc) have different hashes.
        hashed.update(len(part).to_bytes(8, "big"))
        hashed.update(part)
    return hashed.digest()


_NIL = UUID(int=0)
_VARIANT = {f"{digit:x}": "89ab"[digit & 3] for digit in range(16)}
# The namespace of pack heuristics, drawn once: another one would orphan all evidence.
_PACKS = UUID("6f8f7f0c-5b0e-5c5e-9b7e-0a3c5e1d2b40")
