"""An instance with an HTTP door that is killed, for `python -m bench.fuzz http`."""

import asyncio
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import psutil  # type: ignore[import-untyped]  # has no types

from bench.enduring.findings import (
    Findings,
    ask_the_program,
    connected,
    folded_states,
    settle,
)
from bench.enduring.processes import Processes
from bench.fuzz.http import flood, held, judge
from bench.fuzz.requests import Maker, Token
from echoic.client.find import last_decision
from streams.embedded import free_port

AGENTS = ("ada", "ben", "cleo")
KILLS = 12
"""How often the door is killed in a run."""
RSS_MB = 260.0
"""What a door may take, whatever comes; it begins with about 120."""
_SOURCES = ("cam", "user")
_START_S = 120.0
_ANSWER_S = 60.0


@dataclass(slots=True)
class Doors(Processes):
    """An instance and a door, over a data folder."""

    port: int = field(default_factory=free_port)
    lives: int = 0
    rss_mb: float = 0.0
    """The most that a door took."""
    ended: int = 0
    """How often one ended by itself, as where another program has its port for a while."""

    def variables(self) -> Mapping[str, str]:
        """Return the settings: without an allowance, which would shed what is counted."""
        return {"ECHOIC_INTAKE_RATE": "10000", "OTEL_TRACES_EXPORTER": "none"}

    def begin(self) -> Sequence[Token]:
        """Start everything, and return tokens, one for each agent."""
        self.up()
        tokens = [self._token(agent) for agent in AGENTS]
        self.open()
        self.wait()
        return tokens

    def open(self) -> None:
        """Start a door."""
        self.lives += 1
        words = ["http", "serve", "--listen", f"127.0.0.1:{self.port}"]
        own = ["--data", str(self.data)]
        self.start("door", [sys.executable, "-m", "echoic", *words, *own])

    def wait(self) -> None:
        """Wait until the door answers.

        Raises:
            RuntimeError: it does not.
        """
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            with suppress(OSError):
                address = f"http://127.0.0.1:{self.port}/healthz"
                with urllib.request.urlopen(address, timeout=_ANSWER_S):
                    return
            self.revive()
            time.sleep(0.2)
        raise RuntimeError(f"the door does not open: {self.said()}")

    def revive(self) -> None:
        """Start a door that ended by itself again, as a service manager would."""
        if self.process_of("door") is None:
            self.ended += 1
            self.open()
            self.lives -= 1

    def look(self) -> None:
        """Note what the door takes now."""
        process_id = self.process_of("door")
        with suppress(psutil.Error):
            taken = psutil.Process(process_id).memory_info().rss / 1e6
            self.rss_mb = max(self.rss_mb, taken)

    def _token(self, agent: str) -> Token:
        scopes = [f"--scope={each}" for each in ("events", "feedback", "outcomes")]
        sources = [f"--source={each}" for each in _SOURCES]
        limits = ["--per-s=100000", "--burst=100000", "--scope=read", "--agent", agent]
        made = self.command(
            "http", "token", f"t-{agent}", "--json", *scopes, *sources, *limits
        )
        if made.returncode:
            raise RuntimeError(f"there is no token: {made.stderr}")
        secret = orjson.loads(made.stdout)["token"]
        return Token(f"t-{agent}", secret, agent, _SOURCES)


def run(count: int, seed: str) -> tuple[dict[str, Any], Sequence[str]]:
    """Send so many requests, and return what came of them, and what is wrong."""
    with TemporaryDirectory(prefix="echoic-fuzz-") as folder:
        made = Doors(Path(folder))
        try:
            return asyncio.run(_run(made, made.begin(), count, seed))
        finally:
            made.end()


async def _run(
    doors: Doors, tokens: Sequence[Token], count: int, seed: str
) -> tuple[dict[str, Any], Sequence[str]]:
    first = {each.agent: _first(doors, each) for each in tokens}
    found = Findings()
    async with connected(doors) as connection:
        await settle(connection, found)
        decisions = {
            agent: (await last_decision(connection.log, agent)).id for agent in first
        }
    maker = Maker(seed, tokens, decisions)
    every, answered = max(count // (KILLS + 1), 1), Counter[str]()

    def done() -> None:
        answered["all"] += 1
        if answered["all"] % 50 == 0:
            doors.look()
        if answered["all"] % every == 0 and doors.lives <= KILLS:
            doors.kill("door")
            doors.open()

    ledger = await flood(maker, range(count), doors.port, done, doors.revive)
    ledger.accepted |= dict.fromkeys(first.values(), "")
    async with connected(doors) as connection:
        await settle(connection, found)
        log = await held(connection.log, AGENTS)
        await folded_states(connection, set(AGENTS), found)
    faults = [*judge(maker, ledger, log), *_others(doors, found)]
    return {
        "requests": dict(ledger.asked),
        "answers": {str(code): times for code, times in sorted(ledger.codes.items())},
        "cut off": ledger.cut,
        "doors killed": doors.lives - 1,
        "doors that ended by themselves": doors.ended,
        "events taken": len(ledger.accepted),
        "sent again and dropped": sum(log.events.values()) - len(log.events),
        "votes counted": len(ledger.votes),
        "door_rss_mb": round(doors.rss_mb, 1),
        "log": found.figures,
        "faults": faults[:20],
    }, faults


def _first(doors: Doors, token: Token) -> str:
    """Send one event as anybody would, and return its id."""
    asked = urllib.request.Request(
        f"http://127.0.0.1:{doors.port}/v1/events",
        orjson.dumps({"type": "seen", "text": "the first"}),
        {"Authorization": f"Bearer {token.secret}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(asked, timeout=_ANSWER_S) as answer:
        id_: str = orjson.loads(answer.read())["events"][0]["event_id"]
    return id_


def _others(doors: Doors, found: Findings) -> Sequence[str]:
    """Return what the program itself finds, and whether the door took too much."""
    ask_the_program(doors, found)
    if doors.rss_mb > RSS_MB:
        found.faults.append(f"the door took {doors.rss_mb:.0f} MB, over {RSS_MB:.0f}")
    said = (doors.folder / "door.log").read_text(errors="replace")
    if "Traceback" in said:
        found.faults.append(f"the door raised: {said[-1_500:]}")
    return found.faults
