"""Progress of an instance's start: reported by it, awaited by the process that started it.

A start may take as long as it makes progress; only one that is silent for a minute has
failed. A step that the broker leaves unanswered is tried again, which is progress too, until
it has failed for two minutes.
"""

import asyncio
import shlex
import subprocess
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

import nats.errors

from echoic.client.instance_note import read_note
from echoic.errors import EchoicError, NotRunningError
from echoic.run.supervision import Notify
from echoic.run.tasks import Tasks
from handlers.worker.listening import Progress
from streams.cancellation import heed_cancellation
from streams.errors import LogForbidden, LogUnavailable, Unanswered

_P = ParamSpec("_P")
_T = TypeVar("_T")

SILENCE_S = 60.0
"""Seconds that a start may be silent."""

_NEWS_S = 1.0
"""Seconds between two reports of progress."""

PATIENCE_S = 120.0
"""Seconds for which a step of a start is tried again that the broker leaves unanswered."""

_AGAIN_S = 0.5
"""Seconds between two tries of a step."""

TELL_S = 5.0
"""Seconds after which a step that is not done yet is told of, and again each time."""

_UNANSWERED = (
    LogUnavailable, Unanswered, nats.errors.Error, TimeoutError, ConnectionError,
)  # fmt: skip
"""What a broker raises that is slow or is being started again, or a worker with a backlog."""

_POLL_S = 0.05
# With the poll above, two seconds between the note and the banner.
_BANNER_TRIES = 40


def folding(notify: Notify) -> Progress:
    """Return a callback that reports the worker's progress at most once a second."""
    told_at = time.monotonic()

    def tell(partition: int, at: int, end: int) -> None:
        nonlocal told_at
        if time.monotonic() - told_at >= _NEWS_S:
            told_at = time.monotonic()
            notify(f"folding the log: partition {partition}, {at:,} of {end:,}")

    return tell


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a start: each is done once the broker answers, and is told of if slow."""

    stack: AsyncExitStack
    """Of what ends with the instance."""
    tasks: Tasks
    """A step fails with whichever of these ends meanwhile."""
    notify: Notify

    async def do(
        self,
        what: str,
        step: Callable[_P, Awaitable[_T]],
        *args: _P.args,
        **kw: _P.kwargs,
    ) -> _T:
        """Do a step: call `step`, and again while the broker leaves it unanswered.

        Raises:
            LogForbidden: the broker refuses the credentials.
            LogUnavailable: it has not answered for two minutes.
        """
        return await self.tasks.beside(self._done(what, lambda: step(*args, **kw)))

    async def enter(
        self,
        what: str,
        make: Callable[_P, AbstractAsyncContextManager[_T]],
        *args: _P.args,
        **kw: _P.kwargs,
    ) -> _T:
        """Do a step that enters a context, which ends with the instance.

        Raises:
            LogForbidden, LogUnavailable: as `do`.
        """
        enter = self.stack.enter_async_context
        return await self.do(what, lambda: enter(make(*args, **kw)))

    async def _done(self, what: str, step: Callable[[], Awaitable[_T]]) -> _T:
        now, why, failing_since = asyncio.get_running_loop().time, "", None
        began = now()

        async def tell() -> None:
            while True:
                await asyncio.sleep(TELL_S)
                said = f", tried again: {why}" if why else ""
                self.notify(f"{what}: not yet after {now() - began:.0f} s{said}")

        telling = asyncio.create_task(tell())
        try:
            while True:
                heed_cancellation()
                try:
                    return await step()
                except LogForbidden:
                    raise
                except _UNANSWERED as error:
                    why = str(error) or repr(error)
                    failing_since = failing_since or now()
                    if now() - failing_since > PATIENCE_S:
                        raise LogUnavailable(f"{what}: {why}") from error
                await asyncio.sleep(_AGAIN_S)
        finally:
            telling.cancel()


def await_start(
    process: "subprocess.Popen[bytes]", data: Path, log: Path, notify: Notify
) -> str:
    """Wait until the instance that `process` starts is ready; return its banner.

    Lines before the banner go to `notify`. `log` is the file that holds its output.

    Raises:
        EchoicError: it ended.
        NotRunningError: it said nothing for a minute.
    """
    passed_on, heard_at = 0, time.monotonic()
    while time.monotonic() < heard_at + SILENCE_S:
        # Read first: what is there before the note does not belong to its banner.
        news = log.read_bytes()[passed_on:]
        found = read_note(data)
        # One that was killed leaves its note, which is there until the new one has begun.
        if found is not None and found.pid == process.pid:
            return _banner(log, passed_on)
        if process.poll() is not None:
            raise EchoicError(
                f"the instance did not start{_rest(log, passed_on)}",
                next_step=_next_step(log, data),
            )
        # Only whole lines: the child may be in the middle of writing one.
        whole = news.rfind(b"\n") + 1
        if whole:
            passed_on, heard_at = passed_on + whole, time.monotonic()
            notify(news[: whole - 1].decode(errors="replace"))
        time.sleep(_POLL_S)
    raise NotRunningError(
        f"the instance has said nothing for {SILENCE_S:.0f} s and is not ready",
        next_step=f"less {log}",
    )


def _rest(log: Path, place: int) -> str:
    """Return the output that was not passed on, worded as the end of a sentence."""
    said = log.read_bytes()[place:].decode(errors="replace").strip()
    return f":\n{said}" if said else ", as it says above"


def _next_step(log: Path, data: Path) -> str:
    """Return what tells more of why a start ended: of a folder that no instance runs over,
    only `log verify` reads the files."""
    said = log.read_text(errors="replace")
    if "the log is damaged" in " ".join(said.split()):
        return f"echoic log verify --data {shlex.quote(str(data))}"
    return "echoic doctor"


def _banner(log: Path, place: int) -> str:
    """Wait for and return the banner, which is written a moment after the note."""
    for _ in range(_BANNER_TRIES):
        said = log.read_bytes()[place:].decode(errors="replace")
        if " is up\n" in said:
            return said.strip()
        time.sleep(_POLL_S)
    return f"the instance is up; its log is {log}"
