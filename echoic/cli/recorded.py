"""Recordings by name, as commands take them: sessions of the log, or files.

Its rule: what is named is read and nothing else; the log stays open as long as it is.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from echoic import errors
from echoic.cli.connected import bringer_of
from echoic.embedders import embedder
from echoic.errors import EchoicError
from echoic.live import connect
from echoic.settings import Settings
from handlers.aids import Bringer, PackLibrary
from replay import sources
from replay.outcomes import OutcomeSettings
from replay.retuning.facts import Evidence
from replay.retuning.gathering import UnprovenError, gather
from replay.retuning.worth import Lived, lived
from replay.sources import Recording, RecordingError


class InvalidRecordingError(EchoicError):
    """A recording does not agree with itself: nothing can be said from it."""

    exit_code = errors.INVALID


def is_path(name: str) -> bool:
    """Whether a file is meant, though it may be missing: no session is called so."""
    path = Path(name)
    return path.exists() or path.suffix == ".echoic" or path.name != name


@asynccontextmanager
async def recordings(
    settings: Settings, names: Sequence[str]
) -> AsyncIterator[tuple[Recording, ...]]:
    """The named recordings, in the order of their names; without a name all of the agent.

    Raises:
        EchoicError: there is no such session, or nothing in it.
        SessionFileError: a file is none of ours, cut or damaged; names the line.
    """
    async with AsyncExitStack() as stack:
        connection = None
        if not names or not all(map(is_path, names)):
            connection = await stack.enter_async_context(connect(settings))
        found = []
        try:
            for name in names:
                if is_path(name):
                    found.append(sources.from_file(Path(name)))
                elif connection is not None:
                    bringer = bringer_of(connection)
                    log, agent = connection.log, settings.agent
                    found.append(await sources.from_session(log, agent, name, bringer))
            if not names and connection is not None:
                bringer = bringer_of(connection)
                found.append(
                    await sources.from_range(connection.log, settings.agent, bringer)
                )
        except RecordingError as error:
            raise EchoicError(str(error), next_step="echoic session list") from error
        yield tuple(found)


async def evidence_of(settings: Settings, names: Sequence[str]) -> list[Evidence]:
    """What confidence follows from in the named recordings, session by session.

    Raises:
        EchoicError: there is no such recording, or it does not agree with itself.
    """
    async with recordings(settings, names) as found:
        parts: list[Evidence] = []
        for recording in found:
            try:
                parts += await gather(recording)
            except UnprovenError as error:
                raise _invalid(recording, error) from error
        return parts


@asynccontextmanager
async def lives_of(
    settings: Settings, names: Sequence[str]
) -> AsyncIterator[list[Lived]]:
    """The named recordings with what their decisions came to, each proven first.

    Raises:
        EchoicError: there is no such recording, or it does not agree with itself.
    """
    made = embedder(settings.embedder)
    async with recordings(settings, names) as found:
        lives = []
        for recording in found:
            bringer = Bringer(made, PackLibrary(recording.log, made))
            try:
                lives.append(await lived(recording, bringer, OutcomeSettings()))
            except UnprovenError as error:
                raise _invalid(recording, error) from error
        yield lives


def _invalid(recording: Recording, error: UnprovenError) -> InvalidRecordingError:
    return InvalidRecordingError(
        f"{recording.origin}: {error}", next_step="echoic replay verify"
    )
