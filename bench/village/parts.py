"""A living village as processes that can be killed: an instance, its model, and the world.

All are programs that anybody runs, and each is started again as a service manager would.
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from bench.enduring.processes import Processes
from bench.players import MIDNIGHT
from bench.village.playing import PACK
from streams.embedded import free_port

SINGLE = ("worker", "broker", "projector", "database", "model", "world")
"""What can be killed by itself."""

PARTS = (*SINGLE, "instance")
"""What can be killed; the effects run in the process of the instance, with a worker."""

_LOCKSTEP = "1000"


@dataclass(slots=True)
class Village(Processes):
    """The processes of a village, over a data folder."""

    characters: int = 4
    port: int = field(default_factory=free_port)
    """The model's."""
    told: int = 0
    """The sequence of the last event that it is known to have told."""
    runs: int = 0
    """How often the world was started."""

    @property
    def heard(self) -> Path:
        """Where the world keeps what it heard."""
        return self.folder / "heard.jsonl"

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
        self.start("model", [*script, str(self.port)])

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
        self.start("world", sensor)

    @property
    def world(self) -> "subprocess.Popen[bytes] | None":
        """The world, whether it goes on or not."""
        return self.own.get("world")

    @property
    def lives(self) -> bool:
        """Whether the world goes on."""
        return self.world is not None and self.world.poll() is None

    def variables(self) -> Mapping[str, str]:
        """Return the settings, as variables of the environment."""
        return {
            "ECHOIC_MODEL_NAME": "openai/villager",
            "ECHOIC_MODEL_API_BASE": f"http://127.0.0.1:{self.port}/v1",
            "ECHOIC_MODEL_API_KEY": "none",
            "ECHOIC_INTAKE_RATE": "10000",
        }


@contextmanager
def village(folder: Path, characters: int) -> Iterator[Village]:
    """Run a village for the length of the block."""
    made = Village(folder, characters=characters)
    try:
        made.begin()
        yield made
    finally:
        made.end()
