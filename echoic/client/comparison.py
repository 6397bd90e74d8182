"""Comparison of recordings: each is opened and compared in a process of its own.

Recordings are opened for reading alone, and results come in the order of the names,
whichever process ends first.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from echoic.client.connection import addresses
from echoic.client.recordings import (
    FileSource,
    LogSource,
    Source,
    file_of,
    is_path,
    opened,
)
from echoic.config.load import Settings
from echoic.errors import NotFoundError
from evaluation.compare.session import Plan, SessionResult, compared
from replay import process_pool
from streams.session_files.file import world_of

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """One recording to compare."""

    source: Source
    plan: Plan


def sources(settings: Settings, names: Sequence[str]) -> list[Source]:
    """Return the named sessions or files; without a name, the agent's whole log.

    A world's file is the session of each member, or of the `--agent` alone.

    Raises:
        NotRunningError: a session is named, and no instance runs.
    """
    files = {name for name in names if is_path(name)}
    found: list[Source] = []
    for name in dict.fromkeys(names):
        if name in files:
            found += _of_file(settings, file_of(name))
        else:
            found.append(_of_log(settings, name))
    return found or [_of_log(settings, None)]


def compare_all(
    settings: Settings,
    names: Sequence[str],
    plan: Plan,
    progress: process_pool.Progress,
    processes: int | None,
) -> list[SessionResult]:
    """Compare every recording; one that is named twice, or lies in two files, counts once.

    Of several a session that is still open is left out, and logged by name.

    Raises:
        NotFoundError: no session that is named has ended.
        Exception: whatever ended the first recording, in the order of the names.
    """
    found = sources(settings, names)
    jobs = [Job(source, plan) for source in found]
    if len(jobs) == 1:
        return process_pool.run(compare_one, jobs, progress, processes)
    results = process_pool.run(_compare_ended, jobs, progress, processes)
    for job, result in zip(jobs, results, strict=True):
        if result is None:
            tell_left_out(job.source)
    if not any(results):
        raise none_ended()
    # By content: counted twice, a session would make the intervals too narrow.
    closed = {each.recording.digest: each for each in results if each is not None}
    return list(closed.values())


def none_ended() -> NotFoundError:
    """Make the error that all of several sessions are still open."""
    return NotFoundError(
        "no session that is named has ended", next_step="echoic session end"
    )


def tell_left_out(source: Source) -> None:
    """Log that a session is left out, as it has not ended."""
    named = source.session if isinstance(source, LogSource) else str(source.path)
    _LOG.warning(
        "left out: %r is still open; once it ends, it counts: echoic session end", named
    )


def _compare_ended(job: Job, progress: process_pool.Progress) -> SessionResult | None:
    """Open one recording and compare it; None if it is a session that is still open."""
    found = _found(job, progress, leaves_open=True)
    return found[0] if found else None


def compare_one(job: Job, progress: process_pool.Progress) -> SessionResult:
    """Open one recording and compare it."""
    return _found(job, progress, leaves_open=False)[0]


def _found(
    job: Job, progress: process_pool.Progress, *, leaves_open: bool
) -> list[SessionResult]:
    found: list[SessionResult] = []

    async def compare() -> None:
        # Not returned by the task: to restore the handler of Ctrl-C, `asyncio.run` of
        # Python 3.11 spells out the task and all its result, a third of a millisecond a
        # decision.
        found.extend(await _compared(job, progress, leaves_open=leaves_open))

    asyncio.run(compare())
    return found


async def _compared(
    job: Job, progress: process_pool.Progress, *, leaves_open: bool
) -> tuple[SessionResult, ...]:
    port = job.plan.answers.port
    try:
        async with opened(job.source) as (recording, provider):
            if leaves_open and recording.is_open:
                return ()
            return (await compared(recording, provider, job.plan, progress),)
    finally:
        # A connection to a model belongs to the loop, which ends with the recording.
        if port is not None:
            await port.close()


def _of_file(settings: Settings, path: Path) -> list[FileSource]:
    world, made = world_of(path), settings["embedder"]
    if world is None:
        return [FileSource(path, made)]
    named = settings.origins["agent"].startswith("flag")
    members = (settings.agent,) if named else world.members
    return [FileSource(path, made, each) for each in members]


def _of_log(settings: Settings, session: str | None) -> LogSource:
    credentials, _ = addresses(settings)
    return LogSource(
        credentials=credentials,
        agent=settings.agent,
        embedder=settings["embedder"],
        session=session,
    )
