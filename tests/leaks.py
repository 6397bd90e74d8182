"""Connections and processes that a test leaves open, told of that test.

Left to the garbage collector each would be a warning at any later moment, and as warnings
are errors here, a failure of whichever test runs then, at whatever it does then.
"""

import asyncio
import gc
import socket
import sys
import sysconfig
import warnings
from types import FrameType
from typing import Any

import pytest

_DEPTH = 6
_NOT_OURS = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), __file__)


class Watch:
    """Keeps every transport that a test makes until the test ends, and who made it."""

    def __init__(self) -> None:
        # Strongly: none is to be collected amid the test, say in `ast.parse`, which makes
        # a SystemError of a warning.
        self._made: list[tuple[asyncio.BaseTransport, str]] = []
        self._patch = pytest.MonkeyPatch()
        self._is_opened = False
        """Whether a plain socket or process was opened since the last look."""

    def begin(self) -> None:
        """Watch from now on, in this process."""
        init, made = asyncio.BaseTransport.__init__, self._made

        def watched(
            transport: asyncio.BaseTransport, *given: Any, **named: Any
        ) -> None:
            init(transport, *given, **named)
            made.append((transport, _maker()))

        self._patch.setattr(asyncio.BaseTransport, "__init__", watched)
        # Python takes none away again: it hears no more once the process ends.
        sys.addaudithook(self._hear)

    def end(self) -> None:
        """Watch no more."""
        self._patch.undo()

    @property
    def has_some(self) -> bool:
        """Whether anything was opened since the last look."""
        return bool(self._made) or self._is_opened

    def left_open(self) -> list[str]:
        """Return what was never closed, of transports and of what nobody holds any more.

        A transport whose loop is closed cannot be closed any more. One of a loop that goes
        on, as that of a module's fixture, may still be, and is left alone.
        """
        lost = [each for each in self._made if _is_lost(each[0])]
        found = [f"{transport!r}{maker}" for transport, maker in lost]
        for transport, _ in lost:
            _let_go(transport)
        lost.clear()
        self._made.clear()
        self._is_opened = False
        return found + _collected()

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        # Each loop has a pair of sockets of its own, of another family.
        if event == "subprocess.Popen" or (
            event == "socket.__new__" and given[1] != socket.AF_UNIX
        ):
            self._is_opened = True


def _is_lost(transport: Any) -> bool:
    """Whether it holds something, and no loop will ever close it."""
    loop = getattr(transport, "_loop", None)
    return loop is not None and loop.is_closed() and _holds(transport) is not None


def _holds(transport: Any) -> Any:
    if getattr(transport, "_proc", None) is not None:
        # One that was closed may only wait for its pipes' ends to be told.
        return None if transport._closed else transport._proc
    for name in ("_sock", "_pipe"):
        if (held := getattr(transport, name, None)) is not None:
            return held
    return None


def _let_go(transport: Any) -> None:
    """Close what it holds, so that it is told once, of the test that made it."""
    for name in ("_sock", "_pipe"):
        if (held := getattr(transport, name, None)) is not None:
            held.close()
            setattr(transport, name, None)
    # A writer over it says the same once more, when it is collected.
    transport._closing = True
    if getattr(transport, "_proc", None) is not None:
        if transport._proc.poll() is None:
            transport._proc.kill()
            transport._proc.wait()
        transport._closed = True


def _collected() -> list[str]:
    """Collect all garbage; return each warning about a resource."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        gc.collect()
    return [str(each.message) for each in caught if each.category is ResourceWarning]


def _maker() -> str:
    """Say which lines are making something just now, the innermost first."""
    frame: FrameType | None = sys._getframe(2)
    lines: list[str] = []
    while frame is not None and len(lines) < _DEPTH:
        name = frame.f_code.co_filename
        if not name.startswith(_NOT_OURS):
            lines.append(f"{name}:{frame.f_lineno}")
        frame = frame.f_back
    return f" (made at {', '.join(lines)})" if lines else ""
