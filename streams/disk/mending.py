"""Rewriting a damaged log so that a server accepts it: sound records stay as they were.

Records keep their sequence, time and every byte; nothing is published again, which would
make another log. The caller has copied the folder before, and no server runs over it.
"""

from pathlib import Path

from streams.disk import survey as surveying
from streams.disk.blocks import tombstone
from streams.disk.survey import INDEX, Survey
from streams.embedded import write_private

_SOURCES = "sources.db"
"""The server's own note of how far the log has sourced the intake streams."""


def mend(survey: Survey) -> None:
    """Rewrite the damaged blocks with their sound records alone.

    The last sequence stays what it was, so that none is used again.
    """
    for file in surveying.blocks(survey.folder):
        if file.name in survey.damaged:
            records = surveying.read(file).records
            _replace(file, b"".join(record.raw for record in records))
    if survey.missing and survey.missing[-1].last == survey.last:
        _remember(survey.folder, survey.last)
        # Without the note the server looks up in the log how far it sourced, and takes
        # again what was lost at the end and is still in an intake stream.
        (survey.folder.parent / _SOURCES).unlink(missing_ok=True)
    # The index describes the old files; without it the server reads the blocks.
    (survey.folder / INDEX).unlink(missing_ok=True)


def _remember(folder: Path, last: int) -> None:
    """Add a block with a tombstone that says how far the sequences had come."""
    files = surveying.blocks(folder)
    index = surveying.number(files[-1]) + 1 if files else 1
    records = surveying.read(files[-1]).records if files else ()
    time_ns = records[-1].time_ns if records else 0
    body = tombstone(surveying.stream_of(folder), index, last, time_ns)
    write_private(folder / f"{index}.blk", body)


def _replace(file: Path, data: bytes) -> None:
    if data:
        write_private(file, data)
    else:
        file.unlink()
