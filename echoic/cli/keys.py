"""Single keys of a terminal, for screens that are drawn until one of them ends it."""

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager

QUIT = ("q", "Q", "")
"""The keys that end a screen; nothing more to read ends it, too."""


class Keys:
    """Waits for keys."""

    def pressed(self, seconds: float) -> str | None:
        """Wait so long for a key, and return it; None if none was pressed."""
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        # Not `sys.stdin.read`: it would take further keys that `select` never tells of.
        read = os.read(sys.stdin.fileno(), 1) if ready else None
        return read.decode(errors="replace") if read is not None else None

    def asked_to_end(self, seconds: float) -> bool:
        """Wait so long, and tell whether a key that ends the screen was pressed meanwhile."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self.pressed(left) in QUIT:
                return True
        return False


@contextmanager
def single_keys() -> Iterator[Keys]:
    """Read single keys for the length of the block; the terminal is put back after it."""
    mode = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield Keys()
    except KeyboardInterrupt:
        # The usual way to leave such a screen, and no failure.
        return
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, mode)


def is_interactive() -> bool:
    """Tell whether somebody can see a screen and press a key."""
    return sys.stdout.isatty() and sys.stdin.isatty()
