"""A block of a stream: its records, those whose checksum holds and what became of the rest.

A record: length (4, highest bit: has headers), sequence (8), time (8), length of the subject
(2), subject, [length of the headers (4), headers], body, checksum (8). All little-endian.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from streams.disk.highway import checksums
from streams.disk.s2 import IDENTIFIER, decompress, uvarint

HEADER = 22
CHECKSUM = 8
LARGEST = 32 << 20
"""No record is longer (`rlBadThresh`)."""

TOMBSTONE = 1 << 62
"""Set in the sequence of a record that only says how far the sequences have come."""

_HAS_HEADERS = 1 << 31
_COMPRESSED = b"cmp\x01"
_HEAD = 40
"""Within so many bytes a compressed block's stream begins."""

_AT_ONCE = 16_384


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as it lies in a block."""

    sequence: int
    time_ns: int
    subject: bytes
    headers: bytes
    body: bytes
    raw: bytes


@dataclass(frozen=True, slots=True)
class Block:
    """What a block holds."""

    records: tuple[StoredRecord, ...]
    """Those whose checksum holds, in order."""
    torn: tuple[tuple[int, bytes], ...]
    """Of those that seem to have stood where no checksum holds: sequence and subject."""
    is_whole: bool
    """Whether the file is, to the last byte, what a server writes."""
    is_cut_short: bool
    """Whether it is up to its last record, which was only begun."""


def read_block(data: bytes, stream: str, index: int, prefix: bytes) -> Block:
    """Read a block of a stream; `prefix` is how each of its subjects begins."""
    text, is_sound = _plain(data)
    key = hashlib.sha256(f"{stream}-{index}".encode()).digest()
    found: dict[int, StoredRecord] = {}
    torn: dict[int, bytes] = {}
    spans = [(0, len(text))]
    while spans:
        begin, end = spans.pop()
        for place, length, is_whole in _checked(text, begin, end, key, prefix):
            record = _record(text, place, length)
            if is_whole:
                found[place] = record
            else:
                torn[record.sequence] = record.subject
                # What looked like one record may have swallowed others.
                spans.append((place + 1, min(place + length, end)))
    records = [each for _, each in sorted(found.items()) if each.sequence < TOMBSTONE]
    known = {each.sequence for each in records}
    whole = sum(len(each.raw) for each in found.values())
    end = max((place + len(found[place].raw) for place in found), default=0)
    gone = sorted((each, torn[each]) for each in torn if 0 < each < TOMBSTONE)
    return Block(
        tuple(records),
        tuple((each, subject) for each, subject in gone if each not in known),
        is_sound and whole == len(text),
        is_sound and not torn and whole == end,
    )


def tombstone(stream: str, index: int, sequence: int, time_ns: int) -> bytes:
    """Return a block's content that says no more than how far the sequences have come."""
    body = (sequence | TOMBSTONE).to_bytes(8, "little") + time_ns.to_bytes(8, "little")
    key = hashlib.sha256(f"{stream}-{index}".encode()).digest()
    (checksum,) = checksums(key, [body])
    length = (HEADER + CHECKSUM).to_bytes(4, "little")
    return length + body + b"\0\0" + checksum


def _plain(data: bytes) -> tuple[bytes, bool]:
    """Return the records' bytes, and whether they are just what was compressed."""
    # By the stream within: the head of the file may be what is damaged.
    at = data.find(IDENTIFIER, 0, _HEAD)
    if at < 0 and data.startswith(_COMPRESSED):
        at = uvarint(data.ljust(_HEAD, b"\0"), len(_COMPRESSED))[1]
    if at < 0:
        return data, True
    text, is_sound = decompress(data[at:-CHECKSUM])
    text += data[-CHECKSUM:]
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
    """Yield where records seem to stand, how long they are, and whether the checksum holds."""
    places = _places(text, begin, end, prefix)
    while few := list(islice(places, _AT_ONCE)):
        sums = checksums(key, [_hashed(text, at, length) for at, length in few])
        for (at, length), wanted in zip(few, sums, strict=True):
            yield at, length, text[at + length - CHECKSUM : at + length] == wanted


def _places(
    text: bytes, begin: int, end: int, prefix: bytes
) -> Iterator[tuple[int, int]]:
    """Walk from record to record; where none can be, go on at the next subject."""
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
    """Return how long the record at a place is; 0 if none can begin there."""
    if at + HEADER + CHECKSUM > end:
        return 0
    stated = int.from_bytes(text[at : at + 4], "little")
    length, subject = stated & ~_HAS_HEADERS, _subject_length(text, at)
    least = HEADER + subject + CHECKSUM + (4 if stated & _HAS_HEADERS else 0)
    fits = least <= length <= LARGEST and at + length <= end
    named = not subject or text.startswith(prefix, at + HEADER)
    return length if fits and named else 0


def _subject_length(text: bytes, at: int) -> int:
    return int.from_bytes(text[at + 20 : at + 22], "little")


def _hashed(text: bytes, at: int, length: int) -> bytes:
    """Return what the checksum of a record is of: all but the lengths."""
    behind = at + HEADER + _subject_length(text, at)
    rest = behind + (4 if text[at + 3] & 0x80 else 0)
    return (
        text[at + 4 : at + 20]
        + text[at + HEADER : behind]
        + text[rest : at + length - CHECKSUM]
    )


def _record(text: bytes, at: int, length: int) -> StoredRecord:
    behind = at + HEADER + _subject_length(text, at)
    end = at + length - CHECKSUM
    headers = b""
    body = behind
    if text[at + 3] & 0x80:
        size = int.from_bytes(text[behind : behind + 4], "little")
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
