"""A living village as processes that can be killed: an instance, its model, and the world.

All are programs that anybody runs, and each is started again as a service manager would.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from bench.village.playing import MIDNIGHT, PACK
from streams.broker import data_folder as folders
from streams.embedded import free_port

SINGLE = ("worker", "broker", "projector", "database", "model", "world")
"""What can be killed by itself."""

PARTS = (*SINGLE, "instance")
"""What can be killed; the effects run in the process of the instance, with a worker."""

_START_S = 180.0
_COMMAND_S = 180.0
_LOCKSTEP = "1000"
_CHILDREN = {
    "worker": "echoic.run.worker_process",
    "projector": "echoic.run.projector_process",
}


@dataclass(slots=True)
class Village:
    """The processes of a village, over a data folder."""

    folder: Path
    characters: int
    instance: "subprocess.Popen[bytes] | None" = None
    world: "subprocess.Popen[bytes] | None" = None
    model: "subprocess.Popen[bytes] | None" = None
    port: int = field(default_factory=free_port)
    """The model's."""
    told: int = 0
    """The sequence of the last event that it is known to have told."""
    runs: int = 0
    """How often the world was started."""

    @property
    def data(self) -> Path:
        """The data folder of the instance."""
        return self.folder / "data"

    @property
    def heard(self) -> Path:
        """Where the world keeps what it heard."""
        return self.folder / "heard.jsonl"

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
                timeout=_COMMAND_S,
            )
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"{' '.join(words)} takes {_COMMAND_S:.0f} s") from error

    def begin(self) -> None:
        """Start everything; the villagers' sessions begin, with one world."""
        self.think()
        self.up()
        hours = ["--hours", "0", "--day", f"{MIDNIGHT:%Y-%m-%d}", "--hour", "6"]
        named = ["--characters", str(self.characters), "--lockstep", _LOCKSTEP]
        begun = self.command("sensor", "village", *named, "--", *hours)
        if begun.returncode:
            raise RuntimeError(f"the village does not begin: {begun.stderr}")

    def think(self) -> None:
        """Start the model, which opens a conversation every other time."""
        script = [sys.executable, "-m", "bench.village.talkative", "--port"]
        self.model = self._started("model", [*script, str(self.port)])

    def up(self) -> None:
        """Start the instance, and wait until it is up."""
        said = self.folder / "instance.log"
        before = said.stat().st_size if said.exists() else 0
        # Two workers: one beside the effects, and one by itself.
        words = [*_ECHOIC, "up", "--workers", "2", "--data", str(self.data)]
        self.instance = self._started("instance", words)
        deadline = time.monotonic() + _START_S
        while b" is up" not in said.read_bytes()[before:]:
            if self.instance.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the instance does not start: {_tail(said)}")
            time.sleep(0.1)

    def live(self, since: datetime) -> None:
        """Let the world go on, from a time of its clock."""
        self.runs += 1
        hour = (since - MIDNIGHT) / timedelta(hours=1)
        access = self.data / "sensors" / "aria.village.json"
        options = {
            "agent": "aria",
            "credentials": access,
            "characters": self.characters,
            "lockstep": _LOCKSTEP,
            "run": f"kills-{self.runs}",
            "day": f"{MIDNIGHT:%Y-%m-%d}",
            "hour": repr(hour),
            "hours": 1_000,
            "heard": self.heard,
        }
        words = [f"--{name}={value}" for name, value in options.items()]
        sensor = [sys.executable, str(PACK / "sensor"), *words]
        self.world = self._started("world", sensor)

    @property
    def lives(self) -> bool:
        """Whether the world goes on."""
        return self.world is not None and self.world.poll() is None

    def process_of(self, part: str) -> int | None:
        """Return the process of a part; None if it does not run just now."""
        own = self._own
        if part in own:
            process = own[part]
            return process.pid if process and process.poll() is None else None
        with suppress(OSError, ValueError, IndexError):
            if part == "broker":
                return folders.running(self.data / "nats")
            if part == "database":
                note = self.data / "postgres" / "data" / "postmaster.pid"
                return int(note.read_text().splitlines()[0])
            return self._child(_CHILDREN[part])
        return None

    def kill(self, part: str) -> bool:
        """End a part as a crash would; return whether it ran."""
        process_id = self.process_of(part)
        if process_id is None:
            return False
        with suppress(ProcessLookupError):
            os.kill(process_id, signal.SIGKILL)
        own = self._own.get(part)
        if own is not None:
            own.wait()
        return True

    def end(self) -> None:
        """End everything that was started here."""
        for process in (self.world, self.model, self.instance):
            if process is not None and process.poll() is None:
                process.terminate()
        for process in (self.world, self.model, self.instance):
            if process is not None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(60)
                process.kill()
                process.wait()
        # What an instance that was killed left behind.
        for part in ("broker", "database"):
            self.kill(part)

    @property
    def _own(self) -> "dict[str, subprocess.Popen[bytes] | None]":
        """What was started here, rather than by the instance."""
        return {
            "instance": self.instance, "model": self.model, "world": self.world
        }  # fmt: skip

    def said(self) -> str:
        """Return the ends of the logs of all parts."""
        return "\n".join(
            f"{each.name}: {_tail(each)}" for each in self.folder.glob("*.log")
        )

    def _child(self, module: str) -> int | None:
        parent = self.instance.pid if self.instance is not None else -1
        for each in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (each / "cmdline").read_bytes().split(b"\0")
                status = (each / "stat").read_text().rpartition(")")[2].split()
                if module.encode() in words and int(status[1]) == parent:
                    return int(each.name)
        return None

    def _started(self, name: str, words: Sequence[str]) -> "subprocess.Popen[bytes]":
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                words, stdout=log, stderr=log, env=self._environment()
            )

    def _environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("ECHOIC_")}
        return kept | {
            "ECHOIC_MODEL_NAME": "openai/villager",
            "ECHOIC_MODEL_API_BASE": f"http://127.0.0.1:{self.port}/v1",
            "ECHOIC_MODEL_API_KEY": "none",
            "ECHOIC_INTAKE_RATE": "10000",
        }


_ECHOIC = (sys.executable, "-P", "-m", "echoic")


@contextmanager
def village(folder: Path, characters: int) -> Iterator[Village]:
    """Run a village for the length of the block."""
    made = Village(folder, characters)
    try:
        made.begin()
        yield made
    finally:
        made.end()


def _tail(file: Path) -> str:
    return file.read_text(errors="replace")[-2_000:]
