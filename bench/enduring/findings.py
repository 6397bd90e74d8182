"""What is found of a log, its states and its tables once nothing is under way any more.

What a program of ours can tell is asked of it by its commands, the rest of the log.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from typing import Any

from bench.enduring.processes import Processes
from echoic.client.connection import Connection, connect
from echoic.config.load import load
from echoic.embedders import embedder
from handlers.aids import AidProvider, PackLibrary
from handlers.state_sources import state_code
from handlers.worker.recovery import Recovery
from schemas.codec import checkpoint
from schemas.state.agent import AgentState
from schemas.values.subjects import partition_of
from streams.audit import audit
from streams.errors import LogUnavailable
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.jetstream.consumers import CONSUMERS
from streams.topology import LOG

_SETTLE_S = 900.0
_FAULTS = 20


@dataclass(slots=True)
class Findings:
    """What was looked at, and what was found wrong."""

    figures: dict[str, object] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def lines(self) -> Sequence[str]:
        """Return it in words."""
        told = [f"{name}: {value}" for name, value in self.figures.items()]
        wrong = [f"FAULT: {each}" for each in self.faults[:_FAULTS]]
        return [*told, *(wrong or ["nothing is lost, doubled or stuck"])]

    def expect(self, what: str, *, holds: bool) -> None:
        """Note a fault unless something holds."""
        if not holds:
            self.faults.append(what)


def connected(living: Processes) -> AbstractAsyncContextManager[Connection]:
    """Connect to the instance of these processes."""
    return connect(load({"data": str(living.data)}, environment={}))


async def settle(connection: Connection, found: Findings) -> None:
    """Wait until every input is answered, every ask has a result, and none is in hand."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_SETTLE_S):
            while True:
                with suppress(LogUnavailable):
                    in_hand = await asks_in_hand(connection)
                    counts = await audit(connection.log)
                    if not in_hand and counts.sound:
                        found.figures["inputs"] = counts.inputs
                        return
                await asyncio.sleep(1)
    found.faults.append("asks or inputs are still under way")


async def asks_in_hand(connection: Connection) -> int:
    """Return how many asks nobody has performed yet."""
    jetstream = connection.client.jetstream()
    infos = [
        await jetstream.consumer_info(LOG.name, spec.durable) for spec in CONSUMERS
    ]
    return sum((info.num_pending or 0) + (info.num_ack_pending or 0) for info in infos)


async def folded_states(
    connection: Connection, agents: Set[str], found: Findings
) -> Mapping[str, AgentState]:
    """Fold these agents, from their checkpoints and from the log's start: the same state."""
    made = embedder(connection.settings["embedder"])
    log, code = connection.log, state_code(made.digest)
    provider = AidProvider(made, PackLibrary(log, made))
    kept_at = JetStreamCheckpoints(connection.client)
    states = dict[str, AgentState]()
    for place in {partition_of(agent) for agent in agents}:
        kept = await Recovery(log, provider, kept_at, code).recover(place)
        whole = await Recovery(log, provider, None, code).recover(place)
        same = checkpoint.dump(kept.state) == checkpoint.dump(whole.state)
        found.expect(f"partition {place} has another state", holds=same)
        states |= {
            agent: each for agent, each in whole.state.agents.items() if agent in agents
        }
    return states


def ask_the_program(living: Processes, found: Findings) -> None:
    """Ask the program itself: its log, its tables, and every agent decided again."""
    told = as_json(living, found, "log", "verify", "--full")
    found.figures["log"] = {
        each: told.get(each)
        for each in ("inputs", "broken_chains", "stray_messages", "missed_messages")
    }
    tables = as_json(living, found, "projection", "rebuild", "--verify")
    found.figures["tables"] = tables.get("rows", "as the log makes them")
    every = as_json(living, found, "replay", "verify", "--all-agents")
    found.figures["every agent"] = f"{every.get('identical')}/{every.get('total')}"


def as_json(living: Processes, found: Findings, *words: str) -> Mapping[str, Any]:
    """Run a command, and return what it told; that it fails is a fault."""
    done = living.command(*words, "--json")
    if done.returncode:
        said = (done.stderr or done.stdout)[-500:]
        found.faults.append(f"echoic {' '.join(words)}: {said}")
    with suppress(ValueError):
        read = json.loads(done.stdout)
        return read if isinstance(read, dict) else {}
    return {}
