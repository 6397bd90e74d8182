"""Progress of what takes longer than a second, on stderr."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich import progress as rich_progress

# Seconds: most commands are done by then and should print their result alone.
_QUIET_S = 1.0
# In place on a terminal, often enough to look alive; in a log file, rarely.
_TERMINAL_S = 0.2
_LINES_S = 5.0


class Progress:
    """A counter on stderr from one second on: in place on a terminal, else by lines."""

    def __init__(self, what: str) -> None:
        """Count `what`, such as `inputs folded`."""
        self._what = what
        self._live = sys.stderr.isatty()
        self._started: float | None = None
        self._next = 0.0
        self._told = False

    def __call__(self, count: int) -> None:
        """Show that `count` are done, unless the last line is too recent."""
        now = time.monotonic()
        if self._started is None:
            # What was done before anything was counted says nothing of the rate.
            self._started, self._next = now, now + _QUIET_S
        if now < self._next or not count:
            return
        self._next = now + (_TERMINAL_S if self._live else _LINES_S)
        rate = count / (now - self._started)
        line = f"{count:,} {self._what}, {rate:,.0f}/s"
        print(f"\r{line}" if self._live else line, end="" if self._live else "\n",
            file=sys.stderr, flush=True)  # fmt: skip
        self._told = True

    def done(self) -> None:
        """Erase the line that was written in place."""
        if self._told and self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class Bar:
    """A bar that shows how much of the work is done, on a terminal only."""

    def __init__(self, what: str, *, is_silent: bool) -> None:
        """Show progress of `what`, unless silent, as for programs that read the result."""
        self._what = what
        self._is_shown = sys.stderr.isatty() and not is_silent
        self._started = time.monotonic()
        self._bar: rich_progress.Progress | None = None

    def __enter__(self) -> Self:
        """Show nothing yet: most work ends before a bar could be read."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, whole: int) -> None:
        """Show that `done` of `whole` is done."""
        if not self._is_shown or time.monotonic() - self._started < _QUIET_S:
            return
        if self._bar is None:
            self._bar = _bar(self._what)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=whole)


def _bar(what: str) -> "rich_progress.Progress":
    # Imported here: it takes longer than most commands.
    from rich import progress
    from rich.console import Console

    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task(what)
    return bar


@asynccontextmanager
async def waiting(what: str) -> AsyncIterator[None]:
    """Show on stderr what is waited for, and how long, from the first second on."""
    telling = asyncio.create_task(_tell(what))
    try:
        yield
    finally:
        # Not awaited: the task holds nothing, and what it left on the line is erased.
        telling.cancel()
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


async def _tell(what: str) -> None:
    begun = time.monotonic()
    await asyncio.sleep(_QUIET_S)
    while sys.stderr.isatty():
        line = f"\rwaiting for {what} … {time.monotonic() - begun:.0f} s"
        print(line, end="", file=sys.stderr, flush=True)
        await asyncio.sleep(_TERMINAL_S)
    # Who is no terminal gets one line, and no numbers that cannot be replaced.
    print(f"waiting for {what} …", file=sys.stderr, flush=True)
