"""A command of the program on a person's terminal."""

import os
import pty
import subprocess
import sys
import time

from tests.echoic.cli.conftest import Program
from tests.patience import PATIENCE_S


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, echoic: Program, *arguments: str) -> None:
        """Start it."""
        here, there = pty.openpty()
        self._terminal = here
        self.text = ""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "echoic", *arguments],
            stdin=there,
            stdout=there,
            stderr=there,
            cwd=echoic.folder,
            env=echoic.environment | {"TERM": "xterm"},
        )
        os.close(there)

    def until(self, words: str, seconds: float = PATIENCE_S) -> None:
        """Read until these words were on the screen."""
        end = time.monotonic() + seconds
        while words not in self.text:
            assert time.monotonic() < end, self.text
            self._read()

    def write(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._terminal, keys)

    def end(self) -> int:
        """Read to its end."""
        while self._read():
            pass
        return self._process.wait(PATIENCE_S)

    def stop(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)

    def _read(self) -> bool:
        try:
            read = os.read(self._terminal, 4096)
        except OSError:
            # A terminal whose program has ended.
            return False
        self.text += read.decode(errors="replace")
        return bool(read)
