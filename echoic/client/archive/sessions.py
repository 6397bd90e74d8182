"""The finished sessions of a log, into an archive."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from echoic.client import session_sealing
from echoic.client.archive.shelf import Label, Shelf
from echoic.client.connection import LiveLog
from handlers.aids import AidProvider
from replay.recording.finished import Finished, finished
from schemas.values.subjects import PARTITIONS
from streams.session_files.file import write_session


@dataclass(slots=True)
class Kept:
    """What one run did."""

    stored: list[Label] = field(default_factory=list)
    known: int = 0
    """How many sessions were there already."""


async def keep_sessions(
    log: LiveLog, shelf: Shelf, provider: AidProvider, progress: Callable[[int], None]
) -> Kept:
    """Archive every finished session that is not there yet; each is read back.

    A run that is broken off is gone on with by the next. A session that is open is left out.

    Raises:
        Altered: the archive holds something else in a session's place.
    """
    epoch, kept = str(log.epoch), Kept()
    there = {each.key for each in shelf.labels() if each.epoch == epoch}
    with tempfile.TemporaryDirectory(prefix="echoic-archive-") as folder:
        for partition in range(PARTITIONS):
            async for session in finished(log, partition, provider):
                label = _label(epoch, session)
                if label.key in there:
                    kept.known += 1
                    continue
                draft = Path(folder) / "session.echoic"
                file = await session.file(log)
                file = await session_sealing.finished(file, log, redact=False)
                write_session(draft, file)
                label = _label(epoch, session, len(file.records))
                if (stored := shelf.keep(draft, label)) is not None:
                    kept.stored.append(stored)
                    progress(len(kept.stored))
    return kept


def _label(epoch: str, session: Finished, messages: int = 0) -> Label:
    span = session.span
    # An id may be used twice, and may hold any sign; the first input is one alone.
    name = f"{quote(span.id, safe='')[:100]}-{span.first}.echoic"
    return Label(
        kind="session",
        key=f"{epoch}/sessions/{span.agent}/{name}",
        epoch=epoch,
        first=span.first,
        last=span.last,
        agent=span.agent,
        id=span.id,
        messages=messages,
    )
