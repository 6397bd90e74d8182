"""Progress of what takes longer than a second, on stderr."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Self

from echoic.terminal.screen import visible
from schemas.values.lazily import Lazily

if TYPE_CHECKING:
    from rich import console as consoles
    from rich import progress as bars
else:
    # Most commands are done before a bar could be read.
    consoles = Lazily("rich.console")
    bars = Lazily("rich.progress")

# Seconds: most commands are done by then and should print their result alone.
_QUIET_S = 1.0
# In a log file a line is written rarely.
_LINES_S = 5.0


class Progress:
    """How much is done, on stderr from one second on: a bar on a terminal, else lines.

    Without knowing the whole it is a count; with it, only a terminal shows it.
    """

    def __init__(self, what: str, *, is_silent: bool = False) -> None:
        """Count `what`, such as `inputs folded`; silent for programs, which read JSON."""
        self._what = what
        self._is_silent = is_silent
        self._started = time.monotonic()
        self._next = self._started + _QUIET_S
        self._bar: bars.Progress | None = None

    def __enter__(self) -> Self:
        """Show nothing yet: most work ends before a bar could be read."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, count: int, whole: int | None = None) -> None:
        """Show that `count` are done, of so many in all if that is known."""
        now = time.monotonic()
        if self._is_silent or now < self._next or not count:
            return
        if sys.stderr.isatty():
            if self._bar is None:
                self._bar = _bar(*self._columns(whole))
            self._bar.update(self._bar.task_ids[0], completed=count, total=whole)
        elif whole is None:
            self._next = now + _LINES_S
            rate = count / (now - self._started)
            print(f"{count:,} {self._what}, {rate:,.0f}/s", file=sys.stderr, flush=True)

    def _columns(self, whole: int | None) -> "tuple[bars.ProgressColumn, ...]":
        if whole is None:
            done = bars.TextColumn(f"{{task.completed:,}} {self._what}")
            return done, bars.TimeElapsedColumn()
        left = bars.TimeRemainingColumn(compact=True, elapsed_when_finished=True)
        share = bars.TaskProgressColumn()
        return bars.TextColumn(self._what), bars.BarColumn(), share, left


class Typing:
    """Words that are being written, on a terminal's stderr, each time in one another's place.

    What is no terminal gets none: the whole follows.
    """

    def __init__(self, instead_of: "asyncio.Task[None] | None" = None) -> None:
        """Show nothing yet; `instead_of` is what ends at the first words."""
        self._instead_of = instead_of
        self._bar: bars.Progress | None = None

    def __call__(self, words: str) -> None:
        """Show all words so far, or their end where the line is too short."""
        if not words or not sys.stderr.isatty():
            self.stop()
            return
        if self._instead_of is not None:
            self._instead_of.cancel()
            if not self._instead_of.done():
                # It removes its own line first; more words will come.
                return
        if self._bar is None:
            plain = bars.TextColumn("{task.description}", style="dim", markup=False)
            self._bar = _bar(plain)
        line = visible(words)[-(self._bar.console.width - 1) :]
        self._bar.update(self._bar.task_ids[0], description=line, refresh=True)

    def stop(self) -> None:
        """Remove them."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = None


@asynccontextmanager
async def waiting(what: str) -> AsyncIterator[Typing]:
    """Show on stderr what is waited for, and how long, from the first second on.

    What is yielded shows words in its place.
    """
    showing = asyncio.create_task(_show_waiting(f"waiting for {what} …"))
    typing = Typing(showing)
    try:
        yield typing
    finally:
        typing.stop()
        showing.cancel()
        # The cancellation is our own.
        with suppress(asyncio.CancelledError):
            await showing


async def _show_waiting(what: str) -> None:
    await asyncio.sleep(_QUIET_S)
    if not sys.stderr.isatty():
        # What is no terminal gets one line, and no numbers that cannot be replaced.
        print(what, file=sys.stderr, flush=True)
        return
    with _bar(bars.TextColumn(what), bars.TimeElapsedColumn()):
        await asyncio.Event().wait()


def _bar(*columns: "bars.ProgressColumn") -> "bars.Progress":
    """Start a line that changes in place and is removed at its end."""
    made = bars.Progress(
        *columns,
        console=consoles.Console(stderr=True),
        transient=True,
        # Results that are printed meanwhile go where they should.
        redirect_stdout=False,
        redirect_stderr=False,
    )
    made.add_task("", total=None)
    made.start()
    return made
