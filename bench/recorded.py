"""What recorded lives cost: `python -m bench.recorded [FILE ...] [--runs 3] [--json]`.

CPU time an input of each session that is shipped, or of those that are named: reading the
input, embedding its texts, compiling the packs in force, and the whole answer of the mind,
as a worker does for inputs that come one at a time. The made-up events of `bench.mind`
compare runs; these say what a life costs, with its executive, its
timers, its character and its packs. The least of several runs: others use the machine, too.
"""

import argparse
import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time_ns

# Before numpy is loaded: a second thread of it counts as the mind's.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from echoic.embedders import embedder
from echoic.run.process import prepare
from handlers.aids import AidProvider, PackLibrary
from handlers.mind import turn as turns
from handlers.worker.loop import INPUTS_AT_ONCE
from replay.recording.source import Recording, RecordingError, from_file
from schemas.codec.decode import read_input
from schemas.codec.envelope import Input
from schemas.ports.aids import Aids
from streams.groups import Group
from streams.session_files.file import world_of

ROOT = Path(__file__).parents[1]
RUNS = 3


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds of CPU an input of one recording."""

    inputs: int
    us: float
    """All of it, inputs one at a time."""
    reading_us: float
    embedding_us: float
    answering_us: float
    packs_us: float
    """Compiling the packs in force once, shared out over the inputs."""
    batched_us: float
    """All of it, in batches as of a backlog."""


def shipped() -> list[Path]:
    """Return every recording that a pack ships."""
    return sorted((ROOT / "packs").rglob("*.echoic"))


async def measured(paths: Sequence[Path], runs: int = RUNS) -> dict[str, Cost]:
    """Return the cost of each recording; of a world's, that of each agent's session."""
    return {
        name: await _cost(recording, runs)
        for path in paths
        for name, recording in _recordings(path)
    }


def _recordings(path: Path) -> Iterator[tuple[str, Recording]]:
    name = str(path.resolve()).removeprefix(f"{ROOT}/packs/")
    world = world_of(path)
    if world is None:
        yield name, from_file(path)
        return
    for agent in world.members:
        # One that decided nothing, as a place, has no recording.
        with suppress(RecordingError):
            yield f"{name}: {agent}", from_file(path, agent)


async def _cost(recording: Recording, runs: int) -> Cost:
    groups = [each async for each in recording.groups()]
    alone = [await _Life(recording).lived(groups, 1) for _ in range(runs)]
    batched = [
        await _Life(recording).lived(groups, INPUTS_AT_ONCE) for _ in range(runs)
    ]
    count = len(groups) * 1e3
    least = min(alone, key=sum)
    reading, embedding, answering, packs = (each / count for each in least)
    return Cost(
        inputs=len(groups),
        us=round(sum(least) / count, 1),
        reading_us=round(reading, 1),
        embedding_us=round(embedding, 1),
        answering_us=round(answering, 1),
        packs_us=round(packs, 1),
        batched_us=round(min(map(sum, batched)) / count, 1),
    )


Spent = tuple[int, int, int, int]
"""Nanoseconds for reading, embedding, answering and packs."""


class _Life:
    """A recorded life that is lived once more."""

    def __init__(self, recording: Recording) -> None:
        made = embedder("wordllama")
        self._recording = recording
        # Of its own: a library keeps what it compiled.
        self._provider = AidProvider(made, PackLibrary(recording.log, made))
        self._state = recording.start

    async def lived(self, groups: Sequence[Group], at_once: int) -> Spent:
        """Answer all inputs, so many at once, and return what that took.

        Raises:
            RuntimeError: an answer is not the recorded one, so that its cost is not, either.
        """
        begun = process_time_ns()
        await self._provider.fetch_packs_of(self._state)
        packs = process_time_ns() - begun
        reading = embedding = answering = 0
        for start in range(0, len(groups), at_once):
            some = groups[start : start + at_once]
            at = process_time_ns()
            inputs = [read_input(each.input) for each in some]
            read = process_time_ns()
            brought = await self._provider.for_inputs(inputs)
            embedded = process_time_ns()
            made = [self._answer(*each) for each in zip(inputs, brought, strict=True)]
            answering += process_time_ns() - embedded
            embedding += embedded - read
            reading += read - at
            for group, turn in zip(some, made, strict=True):
                _check(self._recording, group, turn)
        return reading, embedding, answering, packs

    def _answer(self, input_: Input, aids: Aids) -> turns.Turn:
        turn = turns.answer(self._state, input_, aids, self._recording.log.epoch)
        self._state = turn.state
        return turn


def _check(recording: Recording, group: Group, turn: turns.Turn) -> None:
    recorded = [each.body for each in group.outputs]
    if [each.record.body for each in turn.outputs] != recorded:
        sequence = group.input.sequence
        raise RuntimeError(
            f"{recording.origin} is answered otherwise at sequence {sequence}:"
            " `echoic replay verify` says how"
        )


def as_table(found: dict[str, Cost]) -> str:
    """Return a line for each recording, as Markdown."""
    head = [
        "recording", "inputs", "CPU µs an input", "reading", "embedding", "answering",
        "packs", "in batches",
    ]  # fmt: skip
    lines = [head, ["---", *["--:"] * (len(head) - 1)]]
    lines += [[name, *map(str, asdict(each).values())] for name, each in found.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Measure and print."""
    prepare()
    parser = argparse.ArgumentParser(prog="python -m bench.recorded")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = asyncio.run(measured(given.files or shipped(), given.runs))
    told = {name: asdict(each) for name, each in found.items()}
    print(json.dumps(told, indent=2) if given.json else as_table(found))


if __name__ == "__main__":
    main()
