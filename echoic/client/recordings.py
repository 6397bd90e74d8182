"""Recordings by name: a session's file, or a range of a running instance's log.

Each process opens its own recording, over a connection that can only read.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TypeAlias

from echoic.embedders import embedder
from echoic.packs import bundled
from handlers.aids import AidProvider, PackLibrary
from replay.recording.source import Recording, from_file, from_range, from_session
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import reading
from streams.jetstream.sealed_log import open_reader
from streams.log import ReadableLog

_LOG = logging.getLogger(__name__)

_SUFFIX = ".echoic"
"""What names of sessions' files end with."""
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
"""What sessions' files begin with, whatever they are called (RFC 8878, 3.1.1)."""


@dataclass(frozen=True, slots=True)
class FileSource:
    """A session's file."""

    path: Path
    embedder: str
    agent: str | None = None
    """Whose session of a world's file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSource:
    """A range of an agent's log: one session, or sequences and times."""

    credentials: Credentials
    agent: str
    embedder: str
    session: str | None = None
    """A session's id or a prefix of it; the range is ignored then."""
    first: int = 1
    last: int | None = None
    since: datetime | None = None
    until: datetime | None = None


Source: TypeAlias = FileSource | LogSource
"""The source of a recording: a value that can be sent to another process."""


@asynccontextmanager
async def opened(source: Source) -> AsyncIterator[tuple[Recording, AidProvider]]:
    """Open the recording of a source, with the provider of its inputs' vectors and packs.

    Raises:
        SessionFileError: the file is none, of another version, cut or damaged.
        RecordingError: there is no such session, or no decision in it.
        LogUnavailable: the broker does not answer.
    """
    if isinstance(source, FileSource):
        recording = from_file(source.path, source.agent)
        yield recording, _provider(recording.log, source.embedder)
        return
    # The error that ends the command says what a log line would say before it.
    logging.getLogger("streams").setLevel(logging.ERROR)
    async with reading(source.credentials, "echoic replay") as client:
        log = await open_reader(client)
        provider = _provider(log, source.embedder)
        yield await _of_log(log, source, provider), provider


async def _of_log(
    log: ReadableLog, source: LogSource, provider: AidProvider
) -> Recording:
    if source.session is not None:
        return await from_session(log, source.agent, source.session, provider)
    return await from_range(
        log,
        source.agent,
        provider,
        first=source.first,
        last=source.last,
        since=source.since,
        until=source.until,
    )


def _provider(log: ReadableLog, name: str) -> AidProvider:
    made = embedder(name)
    return AidProvider(made, PackLibrary(log, made))


@cache
def tell_altered(origin: str, altered: str | None) -> None:
    """Log what of a file is not as it says that it was, for who reads on; once for each.

    What decides again or counts refuses such a file instead.
    """
    if altered is not None:
        _LOG.warning(
            "%r: %s; what it shows may not have happened: echoic replay verify %s",
            origin,
            altered,
            origin,
        )


def file_of(name: str) -> Path:
    """Return the file that a name means."""
    return bundled.found(Path(name))


def is_path(name: str) -> bool:
    """Tell whether a name means a file, even a missing one, and not a session."""
    path = Path(name)
    # A missing file has to be reported as a file, not looked for among the sessions.
    return path.exists() or path.suffix == _SUFFIX or path.name != name


def is_recording(name: str) -> bool:
    """Tell whether a name means a session's file, by its ending or by what it begins with."""
    path = Path(name)
    if path.suffix == _SUFFIX:
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(_ZSTANDARD)) == _ZSTANDARD
    except OSError:
        return False
