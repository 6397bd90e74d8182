"""Progress of an instance's start: reported by it, awaited by the process that started it.

A start may take as long as it makes progress; only one that is silent for a minute has
failed.
"""

import subprocess
import time
from pathlib import Path

from echoic.client.instance_note import read_note
from echoic.errors import EchoicError, NotRunningError
from echoic.run.supervision import Notify
from handlers.worker.listening import Progress

SILENCE_S = 60.0
"""Seconds that a start may be silent."""

NEWS_S = 1.0
"""Seconds between two reports of progress."""

_POLL_S = 0.05
# With the poll above, two seconds between the note and the banner.
_BANNER_TRIES = 40


def folding(notify: Notify) -> Progress:
    """Return a callback that reports the worker's progress at most once a second."""
    told_at = time.monotonic()

    def tell(partition: int, at: int, end: int) -> None:
        nonlocal told_at
        if time.monotonic() - told_at >= NEWS_S:
            told_at = time.monotonic()
            notify(f"folding the log: partition {partition}, {at:,} of {end:,}")

    return tell


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
        if read_note(data):
            return _banner(log, passed_on)
        if process.poll() is not None:
            raise EchoicError(
                f"the instance did not start{_rest(log, passed_on)}",
                next_step="echoic doctor",
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


def _banner(log: Path, place: int) -> str:
    """Wait for and return the banner, which is written a moment after the note."""
    for _ in range(_BANNER_TRIES):
        said = log.read_bytes()[place:].decode(errors="replace")
        if " is up\n" in said:
            return said.strip()
        time.sleep(_POLL_S)
    return f"the instance is up; its log is {log}"
