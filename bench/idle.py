"""What agents cost with whom nobody is: `python -m bench.idle [--agents N] [--seconds S]`.

    python -m bench.idle --characters [--agents N] [--seconds S]

Each agent met somebody, who then left: an event of a sensor, a person's words, and that the
person is away. Everything that speaks unasked is switched on. Then a whole minute of a real
worker and a real broker is measured, with no agents and with all of them: CPU seconds of each
process, as parts of one core, and how many messages the log grew by.

Characters are villagers of `packs/village`. Every second one sleeps; the others are on their
way to a shelter from a storm, and need nothing until they are there.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import psutil  # type: ignore[import-untyped]  # has no types

from bench import villagers
from bench.characters import meet
from bench.rig import Rig, answered, child, cpu_s, rig, store_all
from echoic.run.process import prepare
from schemas.codec.encode import write_input
from schemas.messages.executive import UserStateChanged
from schemas.values.record import Wire
from schemas.values.subjects import input_subject, partition_of

AGENTS = 10_000
CHARACTERS = 1_000
SECONDS = 60.0
SETTLE_S = 10.0
"""After the last answer: checkpoints are written then, and garbage is collected."""
_AT_ONCE = 500
"""How many agents' events wait in the log at once: none waits for minutes."""
_EMPTY = "nobody"
"""The agent that makes its partition known where there are no others."""


@dataclass(frozen=True, slots=True)
class Idle:
    """A quiet span, with so many agents."""

    agents: int
    seconds: float
    messages: int
    """By how many the log grew."""
    worker_percent: float
    """Of one core, by CPU time."""
    broker_percent: float


async def measured(agents: int, seconds: float) -> tuple[Idle, Idle]:
    """Measure a quiet span with one agent, then with so many."""
    async with rig() as running, child(running, "bench.worker", "proactive") as worker:
        await _meet(running, [_EMPTY])
        await _settled(seconds)
        before = await _quiet(running, worker.pid, 1, seconds)
        await _meet(running, [f"agent-{number}" for number in range(agents)])
        await _settled(seconds)
        return before, await _quiet(running, worker.pid, agents, seconds)


async def characters(agents: int, seconds: float) -> tuple[Idle, Idle]:
    """Measure the same of characters that sleep, or do something by themselves."""
    names = villagers.names(agents)
    first = [
        *villagers.met(names[::2], asleep=True),
        *villagers.met(names[1::2], storm=True, sheltered=False),
    ]
    async with rig() as running, child(running, "bench.worker") as worker:
        await meet(running, first[:1])
        await _settled(seconds)
        before = await _quiet(running, worker.pid, 1, seconds)
        await meet(running, first[1:])
        await _settled(seconds)
        return before, await _quiet(running, worker.pid, agents, seconds)


async def _meet(running: Rig, agents: list[str]) -> None:
    """Let each agent meet somebody who leaves, and wait until all is answered."""
    for start in range(0, len(agents), _AT_ONCE):
        some = agents[start : start + _AT_ONCE]
        wires = [wire for agent in some for wire in _met(agent)]
        for last in await store_all(running, wires):
            await answered(running, last)


async def _settled(seconds: float) -> None:
    """Wait for what follows from answers; no longer than what is measured then lasts."""
    await asyncio.sleep(min(SETTLE_S, seconds))


def _met(agent: str) -> Iterator[Wire]:
    partition = partition_of(agent)
    for source, type_, text in (
        ("home", "rain_began", b'{"text": "It begins to rain."}'),
        ("user", "message", b'{"text": "Good bye.", "person": "ada"}'),
    ):
        headers = {
            "ce-specversion": "1.0",
            "ce-id": f"{agent}-{type_}",
            "ce-type": "echoic.sensed",
            "ce-source": f"/bench/{source}",
            "ce-subject": agent,
        }
        subject = input_subject(partition, agent, "sensor", f"{source}.{type_}")
        yield Wire(subject, headers, text)
    yield write_input(
        UserStateChanged(away=True),
        agent=agent,
        partition=partition,
        id_=f"{agent}-away",
        source="/bench",
    )


async def _quiet(running: Rig, worker_id: int, agents: int, seconds: float) -> Idle:
    worker = psutil.Process(worker_id)
    broker = psutil.Process(running.server.process_id)
    begun = await running.log.last_sequence(">")
    spent = cpu_s(worker), cpu_s(broker)
    await asyncio.sleep(seconds)
    worker_s, broker_s = cpu_s(worker) - spent[0], cpu_s(broker) - spent[1]
    return Idle(
        agents,
        seconds,
        await running.log.last_sequence(">") - begun,
        round(100 * worker_s / seconds, 2),
        round(100 * broker_s / seconds, 2),
    )


def main() -> None:
    """Measure and print."""
    prepare()
    parser = argparse.ArgumentParser(prog="python -m bench.idle", description=__doc__)
    parser.add_argument("--agents", type=int)
    parser.add_argument("--characters", action="store_true")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    args = parser.parse_args()
    usual, measure = (CHARACTERS, characters) if args.characters else (AGENTS, measured)
    for each in asyncio.run(measure(args.agents or usual, args.seconds)):
        print(json.dumps(asdict(each)))


if __name__ == "__main__":
    main()
