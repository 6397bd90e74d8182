"""The reader of a stream's block file: the records whose checksum holds, and the rest.

A record: length (4, highest bit: has headers), sequence (8), time (8), length of the subject
(2), subject, [length of the headers (4), headers], body, checksum (8). All little-endian.
The source is `server/filestore.go` of nats-server 2.15.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from streams.disk.highway import checksums
from streams.disk.s2 import IDENTIFIER, decompress, uvarint

HEADER = 22
"""Bytes before the subject: 4 + 8 + 8 + 2."""
_CHECKSUM = 8
LARGEST = 32 << 20
"""The server takes a longer record for damage, in bytes (`rlBadThresh`)."""

_TOMBSTONE = 1 << 62
"""The bit in the sequence of a record that only says how far the sequences have come."""

_HAS_HEADERS = 1 << 31
_COMPRESSED = b"cmp\x01"
_HEAD = 40
"""A compressed block's S2 stream begins within so many bytes."""

_AT_ONCE = 16_384
"""How many records are hashed together: numpy pays off, and the copies stay small."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as it is stored in a block; `raw` is all of its bytes."""

    sequence: int
    time_ns: int
    subject: bytes
    headers: bytes
    body: bytes
    raw: bytes


@dataclass(frozen=True, slots=True)
class Block:
    """The contents of a block, and whether it is intact."""

    records: tuple[StoredRecord, ...]
    """Those whose checksum holds, in order."""
    torn: tuple[tuple[int, bytes], ...]
    """Sequence and subject of records whose checksum fails; both may be wrong themselves."""
    is_whole: bool
    """Whether every byte of the file belongs to a sound record."""
    is_cut_short: bool
    """Whether all but the last record is sound, which was only begun: it was never
    acknowledged, so nothing is lost by it."""
    told: int = 0
    """How far the sequences had come, by all records, those included that only say so."""


def read_block(data: bytes, stream: str, index: int, prefix: bytes) -> Block:
    """Read a block of a stream, of which every subject begins with `prefix`.

    A damaged length hides where the next record begins, so the prefix is searched for, and
    a candidate counts only if its 64-bit checksum holds.
    """
    text, is_sound = _plain(data)
    key = hashlib.sha256(f"{stream}-{index}".encode()).digest()
    found: dict[int, StoredRecord] = {}
    torn: dict[int, bytes] = {}
    # Stretches still to be searched; each failed record adds the one behind its first
    # byte, until nothing in it looks like a record.
    spans = [(0, len(text))]
    while spans:
        begin, end = spans.pop()
        for place, length, is_whole in _checked(text, begin, end, key, prefix):
            record = _record(text, place, length)
            if is_whole:
                found[place] = record
            else:
                torn[record.sequence] = record.subject
                # Its length may be what is damaged: whole records may lie inside.
                spans.append((place + 1, min(place + length, end)))
    records = [each for _, each in sorted(found.items()) if each.sequence < _TOMBSTONE]
    # A torn record whose sequence was also read whole was a false candidate.
    known = {each.sequence for each in records}
    whole = sum(len(each.raw) for each in found.values())
    end = max((place + len(found[place].raw) for place in found), default=0)
    gone = sorted((each, torn[each]) for each in torn if 0 < each < _TOMBSTONE)
    return Block(
        tuple(records),
        tuple((each, subject) for each, subject in gone if each not in known),
        is_sound and whole == len(text),
        is_sound and not torn and whole == end,
        max((each.sequence & ~_TOMBSTONE for each in found.values()), default=0),
    )


def tombstone(stream: str, index: int, sequence: int, time_ns: int) -> bytes:
    """Return the content of a block that only says how far the sequences have come.

    A server that reads it continues behind `sequence`, so that none is used again.
    """
    body = (sequence | _TOMBSTONE).to_bytes(8, "little") + time_ns.to_bytes(8, "little")
    key = hashlib.sha256(f"{stream}-{index}".encode()).digest()
    (checksum,) = checksums(key, [body])
    length = (HEADER + _CHECKSUM).to_bytes(4, "little")
    return length + body + b"\0\0" + checksum


def _plain(data: bytes) -> tuple[bytes, bool]:
    """Return the records' bytes, and whether decompression found no damage."""
    # Found by the S2 identifier, not the file's own head, which may be what is damaged.
    at = data.find(IDENTIFIER, 0, _HEAD)
    if at < 0 and data.startswith(_COMPRESSED):
        at = uvarint(data.ljust(_HEAD, b"\0"), len(_COMPRESSED))[1]
    if at < 0:
        return data, True
    # The server compresses all but the last record's checksum, which stays in plain at
    # the end of the file.
    text, is_sound = decompress(data[at:-_CHECKSUM])
    text += data[-_CHECKSUM:]
    head = _COMPRESSED + _uvarint(len(text))
    return text, is_sound and data[:at] == head


def _uvarint(value: int) -> bytes:
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*made, value])


def _checked(
    text: bytes, begin: int, end: int, key: bytes, prefix: bytes
) -> Iterator[tuple[int, int, bool]]:
    """Yield (offset, length, whether the checksum holds) of what looks like a record."""
    places = _places(text, begin, end, prefix)
    while few := list(islice(places, _AT_ONCE)):
        sums = checksums(key, [_hashed(text, at, length) for at, length in few])
        for (at, length), wanted in zip(few, sums, strict=True):
            yield at, length, text[at + length - _CHECKSUM : at + length] == wanted


def _places(
    text: bytes, begin: int, end: int, prefix: bytes
) -> Iterator[tuple[int, int]]:
    """Yield (offset, length) from record to record; where none fits, resume at the next
    subject."""
    at = begin
    while at < end:
        length = _length(text, at, end, prefix)
        if length:
            yield at, length
            at += length
            continue
        subject = text.find(prefix, at + HEADER + 1, end)
        if subject < 0:
            return
        at = subject - HEADER


def _length(text: bytes, at: int, end: int, prefix: bytes) -> int:
    """Return the length of the record at an offset; 0 if none can begin there."""
    if at + HEADER + _CHECKSUM > end:
        return 0
    stated = int.from_bytes(text[at : at + 4], "little")
    length, subject = stated & ~_HAS_HEADERS, _subject_length(text, at)
    least = HEADER + subject + _CHECKSUM + (4 if stated & _HAS_HEADERS else 0)
    fits = least <= length <= LARGEST and at + length <= end
    # Only a tombstone has no subject.
    named = not subject or text.startswith(prefix, at + HEADER)
    return length if fits and named else 0


def _subject_length(text: bytes, at: int) -> int:
    return int.from_bytes(text[at + 20 : at + 22], "little")


def _hashed(text: bytes, at: int, length: int) -> bytes:
    """Return the bytes that a record's checksum covers: all but the lengths."""
    behind = at + HEADER + _subject_length(text, at)
    rest = behind + (4 if text[at + 3] & 0x80 else 0)
    return (
        text[at + 4 : at + 20]
        + text[at + HEADER : behind]
        + text[rest : at + length - _CHECKSUM]
    )


def _record(text: bytes, at: int, length: int) -> StoredRecord:
    behind = at + HEADER + _subject_length(text, at)
    end = at + length - _CHECKSUM
    headers = b""
    body = behind
    if text[at + 3] & 0x80:
        size = int.from_bytes(text[behind : behind + 4], "little")
        # Bounded, since in a torn record the size is any number.
        body = min(behind + 4 + size, end)
        headers = text[behind + 4 : body]
    return StoredRecord(
        sequence=int.from_bytes(text[at + 4 : at + 12], "little"),
        time_ns=int.from_bytes(text[at + 12 : at + 20], "little", signed=True),
        subject=text[at + HEADER : behind],
        headers=headers,
        body=text[body:end],
        raw=text[at : at + length],
    )
