"""Faults: which errors count as an input's, and how one is named in the log.

A replay must give the same name, so it holds no message, address or line number: only the
error's type and the function of ours that it came from.
"""

from collections.abc import Iterator, Sequence
from types import FrameType, TracebackType


class MissingAidsError(LookupError):
    """The aids of a recorded input cannot be computed here and now."""


class MissingStrategyError(LookupError):
    """The log names a strategy of a module that this program may not import."""


class MissingPackError(LookupError):
    """A pack that the log refers to is missing: the fold cannot go on without it."""


OF_AN_INPUT: tuple[type[BaseException], ...] = (Exception, SystemExit)
"""What the mind and its folds may raise because of an input. `SystemExit` is among them,
since a strategy of an operator's own may call `exit`.

A cancellation and an interrupt are neither: they end whoever runs the mind."""

OF_THE_SHELL: tuple[type[Exception], ...] = (
    MissingPackError,
    MissingStrategyError,
    MissingAidsError,
    MemoryError,
    OSError,
)
"""Faults of the process and not of an input: the same input may be answered a moment
later, so they are raised and never recorded."""

GROUP_LIMIT = 1_000
"""How many outputs a group may have: what the broker takes in one atomic batch."""

BODY_LIMIT = 900_000
"""How many bytes an output's body may have: the broker takes a megabyte with headers."""

_OURS = ("handlers", "projections", "schemas")


class OversizeError(Exception):
    """A group or an output is larger than the log accepts."""


def check_size(bodies: Sequence[bytes]) -> None:
    """Raise if the encoded outputs of a group exceed what the log accepts.

    Raises:
        OversizeError: there are over `GROUP_LIMIT`, or one has over `BODY_LIMIT` bytes.
    """
    if len(bodies) > GROUP_LIMIT:
        raise OversizeError(f"{len(bodies)} outputs, the limit is {GROUP_LIMIT}")
    # Checked before writing: the broker would refuse the whole atomic batch.
    longest = max(map(len, bodies), default=0)
    if longest > BODY_LIMIT:
        raise OversizeError(f"an output of {longest} bytes, the limit is {BODY_LIMIT}")


def named(error: BaseException) -> str:
    """Return an error as the log keeps it: `<type> in <module>.<function>`.

    The function is the innermost of ours. Of an endless recursion it is the first that
    comes again, since the depth at which it ends depends on the caller.
    """
    functions = list(_functions(error.__traceback__))
    seen: dict[str, None] = {}
    if isinstance(error, RecursionError):
        for function in functions:
            if function in seen:
                return f"RecursionError in {function}"
            seen[function] = None
    place = functions[-1] if functions else "unknown"
    # Only our own error's message is known to be the same everywhere.
    words = f": {error}" if isinstance(error, OversizeError) else ""
    return f"{type(error).__name__} in {place}{words}"


def _functions(traceback: TracebackType | None) -> Iterator[str]:
    """Yield the functions of ours that an error came through, the outermost first."""
    while traceback is not None:
        frame = traceback.tb_frame
        # Comprehensions and lambdas are left out: from Python 3.12 on (PEP 709) a list
        # comprehension has no frame of its own.
        if _module(frame).split(".")[0] in _OURS and frame.f_code.co_name[0] != "<":
            yield f"{_module(frame)}.{frame.f_code.co_qualname}"
        traceback = traceback.tb_next


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
