"""Evidence for tuning, from named recordings: sessions of the log, or files.

Each is opened for reading alone and verified; one that is inconsistent is an error.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from uuid import UUID

from echoic import errors
from echoic.client.comparison import none_ended, sources, tell_left_out
from echoic.client.recordings import opened
from echoic.config.load import Settings
from echoic.errors import EchoicError
from evaluation.evidence.facts import Evidence
from evaluation.evidence.gather import UnprovenError, gather
from evaluation.evidence.rapport import RapportCurve, rapport_curves, recorded_pace
from evaluation.tuning.policy_value import VerifiedRecording, verified
from handlers.aids import AidProvider
from replay.recording.outcomes import OutcomeSettings
from replay.recording.source import Recording
from schemas.values.rapport_pace import Pace


class InvalidRecordingError(EchoicError):
    """A recording is inconsistent, so nothing can be concluded from it."""

    exit_code = errors.INVALID


async def evidence_of(settings: Settings, names: Sequence[str]) -> list[Evidence]:
    """Return the evidence behind confidences in the named recordings, one item a session.

    Raises:
        EchoicError: there is no such recording, or it does not agree with itself.
    """
    parts: list[Evidence] = []
    async with recordings(settings, names) as found:
        for recording, _ in found:
            with as_invalid_recording(recording):
                parts += await gather(recording)
    return parts


async def rapport_of(
    settings: Settings, names: Sequence[str], pace: Pace
) -> tuple[Pace, tuple[RapportCurve, ...]]:
    """Return the recorded pace, and rapport over time as recorded and at another pace.

    Raises:
        EchoicError: there is no such recording.
    """
    async with recordings(settings, names) as found:
        opened = [recording for recording, _ in found]
        return recorded_pace(opened), await rapport_curves(opened, pace)


@asynccontextmanager
async def verified_recordings(
    settings: Settings, names: Sequence[str], outcome: OutcomeSettings
) -> AsyncIterator[list[VerifiedRecording]]:
    """Open the named recordings, verified, with the outcomes of their decisions.

    `outcome` says how these are valued.

    Raises:
        EchoicError: there is no such recording, or it does not agree with itself.
    """
    checked: list[VerifiedRecording] = []
    async with recordings(settings, names) as found:
        for recording, provider in found:
            with as_invalid_recording(recording):
                checked.append(await verified(recording, provider, outcome))
        yield checked


@asynccontextmanager
async def recordings(
    settings: Settings, names: Sequence[str]
) -> AsyncIterator[list[tuple[Recording, AidProvider]]]:
    """Open what is named, each recording once; without a name the agent's whole log.

    Of several a session that is still open is left out, and logged by name.
    """
    async with AsyncExitStack() as stack:
        found: dict[str, tuple[Recording, AidProvider]] = {}
        every = sources(settings, names)
        for source in every:
            recording, provider = await stack.enter_async_context(opened(source))
            if recording.altered is not None:
                raise InvalidRecordingError(
                    f"{recording.origin}: {recording.altered}",
                    next_step=f"echoic replay verify {recording.origin}",
                )
            # What is still added to would count for less than it will.
            if recording.is_open and len(every) > 1:
                tell_left_out(source)
                continue
            # A recording that is named twice would count as twice the evidence.
            found[recording.digest] = recording, provider
        if not found:
            raise none_ended()
        yield list(found.values())


async def strangers(settings: Settings, names: Sequence[str], epoch: UUID) -> list[str]:
    """Return the named recordings that are not of the agent in the log of this epoch.

    Raises:
        EchoicError: there is no such recording.
    """
    async with recordings(settings, names) as found:
        return [
            recording.origin
            for recording, _ in found
            if (recording.agent, recording.log.epoch) != (settings.agent, epoch)
        ]


@contextmanager
def as_invalid_recording(recording: Recording) -> Iterator[None]:
    """Raise an inconsistency within the block as an error naming the recording."""
    try:
        yield
    except UnprovenError as error:
        raise InvalidRecordingError(
            f"{recording.origin}: {error}", next_step="echoic replay verify"
        ) from error
