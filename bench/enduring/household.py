"""A household of several agents as processes: an instance and all that stands beside it.

A model and the receiver of a webhook that answer, fail and hang by turns, and the HTTP door.
Sensors have accounts, HTTP clients tokens.
"""

import json
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bench import world
from bench.enduring.processes import Processes
from schemas.packs.manifest import Pack
from streams.embedded import free_port
from streams.jetstream.accounts import Credentials

AGENTS = ("ada", "ben", "cleo", "dora")
SENSOR, CLIENT = "cam", "web"
"""The sources that speak over NATS, and over HTTP."""
BESIDE = ("model", "webhook", "door")
"""What runs beside the instance, and is started again here."""
POSTED = ("warned", "changed")
"""Types of events whose answers go to the webhook; all others are said at the broker."""
PRESSING = ("heard", "finished")
"""Types that are worth an answer of the model where no heuristic has one."""
HEURISTICS = 400
_PATIENCE_S = 600.0
_ECHOIC = (sys.executable, "-P", "-m", "echoic")


@dataclass(slots=True)
class Household(Processes):
    """The processes of a household."""

    seed: int = 1
    ports: Mapping[str, int] = field(
        default_factory=lambda: {each: free_port() for each in BESIDE}
    )
    sensors: dict[str, Credentials] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    """Of the HTTP clients; both by agent."""

    @property
    def received(self) -> Path:
        """Where the webhook's receiver keeps what it was sent."""
        return self.folder / "received.jsonl"

    @property
    def url(self) -> str:
        """Where the door listens."""
        return f"http://127.0.0.1:{self.ports['door']}"

    def variables(self) -> Mapping[str, str]:
        """Return the settings, as variables of the environment."""
        return {
            "ECHOIC_MODEL_NAME": "openai/household",
            "ECHOIC_MODEL_API_BASE": f"http://127.0.0.1:{self.ports['model']}/v1",
            "ECHOIC_MODEL_API_KEY": "none",
            "ECHOIC_MODEL_DEADLINE_S": "3",
            "ECHOIC_WEBHOOK_URL": f"http://127.0.0.1:{self.ports['webhook']}/",
            "ECHOIC_WEBHOOK_SECRET": "of the household",
            # What comes at once after a part was away is no flood.
            "ECHOIC_INTAKE_RATE": "10000",
            "ECHOIC_INTAKE_BURST": "10000",
            "ECHOIC_COOLDOWN_S": "0.5",
            "ECHOIC_RATE_PER_HOUR": "0",
            "ECHOIC_BUDGET_CALLS_PER_MINUTE": "240",
            "ECHOIC_TTL_S": "20",
            "OTEL_TRACES_EXPORTER": "none",
            "ECHOIC_METRICS_LISTEN": "off",
            "OPENBLAS_NUM_THREADS": "1",
        }

    def begin(self) -> None:
        """Start everything, and give each agent a sensor and a client.

        Raises:
            RuntimeError: something does not start.
        """
        pack = self.folder / "household"
        pack.mkdir(exist_ok=True)
        # JSON is YAML.
        (pack / "manifest.yaml").write_text(json.dumps(_manifest()))
        for each in ("model", "webhook"):
            self.start_beside(each)
        self.up("--pack", str(pack))
        for agent in AGENTS:
            own = ("--agent", agent)
            self.sensors[agent] = self.access(agent, "--grant", "feedback")
            scopes = [f"--scope={each}" for each in ("events", "feedback", "outcomes")]
            made = self._succeeds(
                "http", "token", CLIENT + agent, *own, *scopes, "--source", CLIENT,
                "--per-s", "5000", "--burst", "5000", "--json",
            )  # fmt: skip
            self.tokens[agent] = json.loads(made)["token"]
        self.start_beside("door")
        self._door_listens()

    def access(self, agent: str, *options: str) -> Credentials:
        """Give an agent a sensor, and return its credentials.

        Raises:
            RuntimeError: the program refuses.
        """
        self._succeeds("sensor", "access", SENSOR, *options, "--agent", agent)
        named = self.data / "sensors" / f"{agent}.{SENSOR}.json"
        return Credentials(**json.loads(named.read_text()))

    def tend(self) -> None:
        """Start again what runs beside the instance and has ended, and the instance."""
        for each in BESIDE:
            if self.own[each].poll() is not None:
                self.start_beside(each)
        if self.own["instance"].poll() is not None:
            self.up()

    def start_beside(self, name: str) -> None:
        """Start a program beside the instance."""
        port = str(self.ports[name])
        if name == "door":
            listen = ("--listen", f"127.0.0.1:{port}", "--data", str(self.data))
            self.start(name, [*_ECHOIC, "http", "serve", *listen])
            return
        module = [sys.executable, "-m", f"bench.enduring.{name}"]
        self.start(name, [*module, port, str(self.seed), str(self.received)])

    def crash(self) -> None:
        """End the instance with all its servers at once, as a loss of power would."""
        for each in ("broker", "database", "worker", "projector"):
            self.signal(each, signal.SIGKILL)
        self.kill("instance")

    def _door_listens(self) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.url}/healthz", timeout=5).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise RuntimeError(f"the door does not open:\n{self.said()}")

    def _succeeds(self, *words: str) -> str:
        done = self.command(*words)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr}")
        return done.stdout


def _manifest() -> dict[str, Any]:
    """Return the bench's household, with some answers for the webhook."""
    made: dict[str, Any] = world.pack(HEURISTICS).model_dump(mode="json", by_alias=True)
    kinds = {each["type"]: each for each in made["events"]}
    made["events"] = [
        {
            "type": type_,
            "salience": {"threat": 0.9} if type_ in PRESSING else each["salience"],
            **({"channel": "webhook"} if type_ in POSTED else {}),
        }
        for type_, each in kinds.items()
    ]
    return Pack.model_validate(made).model_dump(
        mode="json", by_alias=True, exclude_defaults=True
    )


@contextmanager
def household(folder: Path, seed: int) -> Iterator[Household]:
    """Run a household for the length of the block."""
    made = Household(folder, seed=seed)
    try:
        made.begin()
        yield made
    finally:
        made.end()
