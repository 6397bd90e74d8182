"""Making a damaged log one that a server takes: what is whole stays, as it was.

Records keep their sequence, their time and every byte; nothing is published anew. Whoever
calls has copied the folder before, and no server runs over it.
"""

import os
from pathlib import Path

from streams.disk import survey as surveying
from streams.disk.blocks import tombstone
from streams.disk.survey import INDEX, Survey
from streams.topology import LOG

_SOURCES = "sources.db"
"""Up to where the log has taken from the letter box, by the server's own note."""


def mend(survey: Survey) -> None:
    """Write anew the blocks that lost something, without what they lost.

    The last sequence stays what it was, so that none is used again.
    """
    for file in surveying.blocks(survey.folder):
        if file.name in survey.damaged:
            records = surveying.read(file).records
            _replace(file, b"".join(record.raw for record in records))
    if survey.missing and survey.missing[-1].last == survey.last:
        _remember(survey.folder, survey.last)
        # Else what came from the letter box and is lost would not be taken again.
        (survey.folder.parent / _SOURCES).unlink(missing_ok=True)
    (survey.folder / INDEX).unlink(missing_ok=True)


def _remember(folder: Path, last: int) -> None:
    """Leave a block that says how far the sequences had come."""
    files = surveying.blocks(folder)
    index = surveying.number(files[-1]) + 1 if files else 1
    records = surveying.read(files[-1]).records if files else ()
    time_ns = records[-1].time_ns if records else 0
    _replace(
        folder / f"{index}.blk",
        tombstone(LOG.name, index, last, time_ns),
    )


def _replace(file: Path, data: bytes) -> None:
    if not data:
        file.unlink()
        return
    draft = file.with_suffix(".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as written:
        written.write(data)
        written.flush()
        os.fsync(written.fileno())
    draft.replace(file)
