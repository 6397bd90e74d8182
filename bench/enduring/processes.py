"""An instance, and programs beside it, as processes that can be killed.

All are programs that anybody runs, and each is started again as a service manager would.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from streams.broker import data_folder as folders

_START_S = 900.0
"""How long a start may take: on a machine that others starve, minutes."""
_COMMAND_S = 900.0
_CHILDREN = {
    "worker": "echoic.run.worker_process",
    "projector": "echoic.run.projector_process",
}
_ECHOIC = (sys.executable, "-P", "-m", "echoic")


@dataclass(slots=True)
class Processes:
    """The processes over a data folder."""

    folder: Path
    own: "dict[str, subprocess.Popen[bytes]]" = field(default_factory=dict)
    """What was started here, rather than by the instance."""
    command_s: float = _COMMAND_S
    """How long a command of the program's may take."""

    @property
    def data(self) -> Path:
        """The data folder of the instance."""
        return self.folder / "data"

    def variables(self) -> Mapping[str, str]:
        """Return the settings, as variables of the environment."""
        return {}

    def command(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command of the program's, and return what it printed.

        Raises:
            RuntimeError: it does not end.
        """
        place = words.index("--") if "--" in words else len(words)
        own = ("--data", str(self.data))
        try:
            return subprocess.run(
                [*_ECHOIC, *words[:place], *own, *words[place:]],
                capture_output=True,
                text=True,
                check=False,
                env=self._environment(),
                timeout=self.command_s,
            )
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(
                f"{' '.join(words)} takes {self.command_s:.0f} s"
            ) from error

    def up(self, *options: str) -> None:
        """Start the instance, and wait until it is up.

        Raises:
            RuntimeError: it does not start.
        """
        said = self.folder / "instance.log"
        before = said.stat().st_size if said.exists() else 0
        # Two workers: one beside the effects, and one by itself.
        words = [*_ECHOIC, "up", "--workers", "2", *options, "--data", str(self.data)]
        instance = self.start("instance", words)
        deadline = time.monotonic() + _START_S
        while b" is up" not in said.read_bytes()[before:]:
            if instance.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the instance does not start: {_tail(said)}")
            time.sleep(0.1)

    def start(self, name: str, words: Sequence[str]) -> "subprocess.Popen[bytes]":
        """Start a program, and keep what it says."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.own[name] = process = subprocess.Popen(
                words, stdout=log, stderr=log, env=self._environment()
            )
        return process

    def process_of(self, part: str) -> int | None:
        """Return the process of a part; None if it does not run just now."""
        if part in self.own:
            process = self.own[part]
            return process.pid if process.poll() is None else None
        with suppress(OSError, ValueError, IndexError, KeyError):
            if part == "broker":
                return folders.running(self.data / "nats")
            if part == "database":
                note = self.data / "postgres" / "data" / "postmaster.pid"
                return int(note.read_text().splitlines()[0])
            return self._child(_CHILDREN[part])
        return None

    def signal(self, part: str, number: int) -> bool:
        """Send a part a signal; return whether it ran."""
        process_id = self.process_of(part)
        if process_id is None:
            return False
        with suppress(ProcessLookupError):
            os.kill(process_id, number)
        return True

    def kill(self, part: str) -> bool:
        """End a part as a crash would; return whether it ran."""
        is_killed = self.signal(part, signal.SIGKILL)
        if is_killed and part in self.own:
            self.own[part].wait()
        return is_killed

    def end(self) -> None:
        """End everything that was started here."""
        latest_first = list(self.own.values())[::-1]
        for process in latest_first:
            if process.poll() is None:
                process.terminate()
        for process in latest_first:
            with suppress(subprocess.TimeoutExpired):
                process.wait(60)
            process.kill()
            process.wait()
        # What an instance that was killed left behind.
        for part in ("broker", "database"):
            self.kill(part)

    def said(self) -> str:
        """Return the ends of the logs of all parts."""
        return "\n".join(
            f"{each.name}: {_tail(each)}" for each in self.folder.glob("*.log")
        )

    def _child(self, module: str) -> int | None:
        instance = self.own.get("instance")
        parent = instance.pid if instance is not None else -1
        for each in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (each / "cmdline").read_bytes().split(b"\0")
                status = (each / "stat").read_text().rpartition(")")[2].split()
                if module.encode() in words and int(status[1]) == parent:
                    return int(each.name)
        return None

    def _environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("ECHOIC_")}
        return {**kept, **self.variables()}


def _tail(file: Path) -> str:
    return file.read_text(errors="replace")[-2_000:]
