"""Errors for people: what is wrong, where, why, and the next command; and exit codes.

An error that a person can cause is one of these; anything else is a bug.
"""

from collections.abc import Iterable

OK = 0
FINDING = 1
"""The command worked and found something wrong, or nothing."""
USAGE = 2
"""Bad usage, configuration, file or data."""
_UNREACHABLE = 3
"""No instance, broker or database answers."""
INVALID = 3
"""Of a replay, which needs no instance: the recording or its probabilities are invalid."""
BUG = 101
# 128 + SIGINT, as shells report it.
INTERRUPTED = 130

DEBUG = "ECHOIC_DEBUG"
"""The environment variable that, set to 1, shows tracebacks."""


def meant(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for a misspelt name, to append to an error; "" for none."""
    # Only errors need it, so that other commands start without.
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(known), n=1)
    return f": did you mean {close[0]!r}?" if close else ""


def plainly(fault: str) -> str:
    """Return pydantic's message without the prefix that it puts before our own."""
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

    exit_code = _UNREACHABLE
