"""Marks up to which a log was verified, so that the next verification continues there.

A mark is believed only if the log still holds, byte for byte, the message at which it was
made. Damage before a mark is found only by a verification of the whole log.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from replay.chain import Break, Chained
from schemas.codec.encode import wire_digest
from streams.embedded import write_private
from streams.log import ReadableLog

FILE = "verified.json"


class Marks(msgspec.Struct, frozen=True):
    """How far each partition of a log was verified."""

    epoch: str
    last: int
    """The last sequence of the log then; a log that ends before it is an older copy."""
    partitions: dict[int, Chained]


def recall(data: Path) -> Marks | None:
    """Return the marks of a data folder; None if there are none that can be read."""
    try:
        return msgspec.json.decode((data / FILE).read_bytes(), type=Marks)
    # Marks only save time; without them everything is verified.
    except (OSError, ValueError):
        return None


def keep(data: Path, marks: Marks) -> None:
    """Write the marks, whole or not at all; without a folder there is nothing to keep."""
    # Of another's broker somebody may ask who has never started an instance.
    if data.is_dir():
        write_private(data / FILE, msgspec.json.encode(marks))


def lacking(log: ReadableLog, marks: Marks | None, last: int) -> Iterator[Break]:
    """Yield the end that a log lacks, if it ends before the one that was verified."""
    if marks is not None and marks.epoch == str(log.epoch) and marks.last > last:
        detail = (
            f"the log was verified up to {marks.last} and ends before: is it an older copy?"
            " `echoic log verify --full` verifies it as it is"
        )
        yield Break(0, None, last + 1, detail)


async def verified_heads(
    log: ReadableLog, marks: Marks | None
) -> Mapping[int, Chained]:
    """Return the marks of partitions whose message the log still holds unchanged."""
    # Another epoch is another log, whose sequences mean nothing here.
    if marks is None or marks.epoch != str(log.epoch):
        return {}
    found = {}
    for partition, mark in marks.partitions.items():
        record = await log.record(mark.position)
        if record is not None and mark.digest == (
            wire_digest(record.subject, record.headers, record.stored).hex()
        ):
            found[partition] = mark
    return found
