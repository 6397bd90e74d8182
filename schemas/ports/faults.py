"""Faults: which errors an input may be blamed for, and how one is named in the log.

A name must come out the same wherever the same code meets the same input, so it holds no
message, no address and no line: only the type and the function of ours it came from.
"""

from collections.abc import Iterator, Sequence
from types import FrameType, TracebackType

from schemas.ports.aids import MissingAidsError, MissingPackError, MissingStrategyError

OF_AN_INPUT: tuple[type[BaseException], ...] = (Exception, SystemExit)
"""What the mind and its folds may raise because of an input; foreign code may exit.

A cancellation and an interrupt are neither: they end whoever runs the mind."""

OF_THE_SHELL: tuple[type[Exception], ...] = (
    MissingPackError,
    MissingStrategyError,
    MissingAidsError,
    MemoryError,
    OSError,
)
"""What no input is to blame for: the same input may be answered a moment later."""

GROUP_LIMIT = 1_000
"""How many outputs a group may have: what the broker takes in one atomic batch."""

BODY_LIMIT = 900_000
"""How many bytes an output's body may have: the broker takes a megabyte with headers."""

_OURS = ("handlers", "projections", "schemas")


class OversizeError(Exception):
    """A group or an output is more than the log takes."""


def check_size(bodies: Sequence[bytes]) -> None:
    """Refuse the outputs of a group, as bytes, that the log does not take.

    Raises:
        OversizeError: there are too many of them, or one is too long.
    """
    if len(bodies) > GROUP_LIMIT:
        raise OversizeError(f"{len(bodies)} outputs, the limit is {GROUP_LIMIT}")
    longest = max(map(len, bodies), default=0)
    if longest > BODY_LIMIT:
        raise OversizeError(f"an output of {longest} bytes, the limit is {BODY_LIMIT}")


def named(error: BaseException) -> str:
    """Return an error as the log keeps it: `<type> in <module>.<function>`.

    The function is the innermost of ours; of an endless recursion the first that comes
    again, since how deep it got depends on who called.
    """
    functions = list(_functions(error.__traceback__))
    seen: dict[str, None] = {}
    if isinstance(error, RecursionError):
        for function in functions:
            if function in seen:
                return f"RecursionError in {function}"
            seen[function] = None
    place = functions[-1] if functions else "unknown"
    # Of our own error the words are known to be the same everywhere.
    words = f": {error}" if isinstance(error, OversizeError) else ""
    return f"{type(error).__name__} in {place}{words}"


def _functions(traceback: TracebackType | None) -> Iterator[str]:
    """Yield the functions of ours that an error came through, the outermost first."""
    while traceback is not None:
        frame = traceback.tb_frame
        # Python 3.12 runs comprehensions in the function that they stand in.
        if _module(frame).split(".")[0] in _OURS and frame.f_code.co_name[0] != "<":
            yield f"{_module(frame)}.{frame.f_code.co_qualname}"
        traceback = traceback.tb_next


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
