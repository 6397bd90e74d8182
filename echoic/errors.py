"""What the program says when it cannot go on: what, where, why, and the next command.

An error that a person can meet is one of these; anything else is a bug.
"""

from collections.abc import Iterable

OK = 0
FINDING = 1
"""The command worked and found something wrong, or nothing."""
USAGE = 2
"""Bad usage, configuration, file or data."""
UNREACHABLE = 3
"""No instance, broker or database answers."""
INVALID = 3
"""Of a replay: the recording or its probabilities cannot be what they say."""
BUG = 101
INTERRUPTED = 130

DEBUG = "ECHOIC_DEBUG"
"""The variable that, set to 1, lets tracebacks through."""


def meant(name: str, known: Iterable[str]) -> str:
    """Return what a misspelt name may stand for, to put behind the error; empty for nothing."""
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(known), n=1)
    return f": did you mean {close[0]!r}?" if close else ""


def plainly(fault: str) -> str:
    """Return what a library found wrong, without what it puts before our own words."""
    return fault.replace("Value error, ", "").replace("Assertion failed, ", "")


class EchoicError(Exception):
    """An error for a person to read; `next_step` is what to do about it."""

    exit_code = USAGE

    def __init__(self, what: str, *, next_step: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step


class SettingsError(EchoicError):
    """A setting is unknown or has a value that is not allowed."""


class NotFoundError(EchoicError):
    """What was named does not exist, or the name fits several."""

    exit_code = FINDING


class RefusedError(EchoicError):
    """The mind answered with a refusal, and says why."""

    exit_code = FINDING


class NotRunningError(EchoicError):
    """Nothing answers: no instance, or one whose broker or database is away."""

    exit_code = UNREACHABLE
