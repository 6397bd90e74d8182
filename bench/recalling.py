"""How long the memory is searched: `python -m bench.recalling [--episodes N]`.

Episodes of made-up events are written as the projector writes them, into a PostgreSQL of
its own; then texts like them, and texts of other words, are recalled as of a place in the
log. CPU is the server's, of all its processes: other work on the machine moves the wall
clock more.
"""

import argparse
import asyncio
import itertools
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from uuid import UUID

from echoic.embedders import embedder
from projections.postgres.server import embedded_postgres
from projections.rows.changes import Put, Row, join
from projections.rows.episodes import Episode, embedding
from projections.store.places import Move, Position
from projections.store.recall import Wanted, nearest_in_time
from projections.store.store import Store
from schemas.values.subjects import partition_of
from schemas.values.vectors import Embedder, Vector

EPISODES = 100_000
QUERIES = 60
EPOCH = UUID(int=7)
AGENT = "ada"
_NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
_BATCH = 2_000
_WORDS = """
health oven door key zombie water garden bread window child mail tea wood stone iron
night morning rain storm garage light lamp bath towel soup salt knife table chair
music radio clock battery phone charger printer paper meeting call train ticket dog
cat fence roof ladder paint engine tyre bicycle river bridge cave gold ring sword
arrow shield potion horse cow sheep wheat seed flower tree leaf snow ice fire smoke
red blue green old new broken lost found open closed low high empty full cold warm
loud quiet near far first last left right hidden rusty wooden glass small huge dark
""".split()  # noqa: SIM905  # a list of words reads as words


@dataclass(frozen=True, slots=True)
class Recalls:
    """What recalling took, with so many episodes of one agent."""

    p50_ms: float
    p95_ms: float
    cpu_ms: float
    """Of the server, for one search."""
    found: float
    """Which share of the five nearest an exact scan finds as well."""
    write_us: float
    """CPU of the server for one more row, with the index."""
    unindexed_write_us: float
    """The same without."""


async def measured(episodes: int = EPISODES) -> Recalls:
    """Write episodes, index them as the projector does, and recall."""
    made = embedder("wordllama")
    # A folder that the server's own user can pass to.
    with TemporaryDirectory(prefix="echoic-bench-") as folder:
        async with embedded_postgres(Path(folder), durable=False) as server:
            with Store(server.url) as store:
                processor = _Processor(Path(folder))
                return await asyncio.to_thread(
                    _measured, store, made, episodes, processor
                )


def _measured(
    store: Store, made: Embedder, episodes: int, processor: "_Processor"
) -> Recalls:
    version = store.prepare().number
    rows, chance = _rows(made), random.Random(3)
    _write(store, version, rows, episodes - _BATCH)
    without = processor.spent_by(lambda: _write(store, version, rows, _BATCH)) / _BATCH
    queries = made.embed([_text(chance) for _ in range(QUERIES)])
    exact = [_recall(store, each, episodes) for each in queries]
    store.tend(version)
    with store.transaction() as connection:
        connection.exec_driver_sql(f"ANALYZE episodes__v{version}")
    write = processor.spent_by(lambda: _write(store, version, rows, _BATCH)) / _BATCH
    took: list[float] = []
    found: list[Sequence[Episode]] = []

    def search() -> None:
        for each in queries:
            began = time.perf_counter()
            found.append(_recall(store, each, episodes))
            took.append((time.perf_counter() - began) * 1e3)

    cpu = processor.spent_by(search) / QUERIES
    took.sort()
    return Recalls(
        p50_ms=took[len(took) // 2],
        p95_ms=took[len(took) * 95 // 100],
        cpu_ms=cpu * 1e3,
        found=fmean(map(_shared, exact, found)),
        write_us=write * 1e6,
        unindexed_write_us=without * 1e6,
    )


def _recall(store: Store, vector: Vector, as_of: int) -> Sequence[Episode]:
    wanted = Wanted(
        vector=vector,
        embedder="wordllama",
        as_of=as_of - 100,
        person="ada",
        is_private=True,
        limit=20,
    )
    return nearest_in_time(store, AGENT, wanted, EPOCH, 30.0)[0]


def _shared(exact: Sequence[Episode], found: Sequence[Episode]) -> float:
    best = {each.id for each in exact[:5]}
    return len(best & {each.id for each in found[:5]}) / len(best)


def _write(
    store: Store, version: int, rows: Iterator[tuple[int, Put]], count: int
) -> None:
    partition = partition_of(AGENT)
    while count > 0:
        batch = list(itertools.islice(rows, min(count, _BATCH)))
        count -= len(batch)
        stands = store.positions(version).get(partition)
        end = Position(batch[-1][0], str(EPOCH), "bench")
        changes = join(put for _, put in batch)
        store.write(version, changes, [Move(partition, stands, end)])


def _rows(made: Embedder) -> Iterator[tuple[int, Put]]:
    chance = random.Random(1)
    for first in itertools.count(1, 1_000):
        texts = [_text(chance) for _ in range(1_000)]
        for place, (text, vector) in enumerate(
            zip(texts, made.embed(texts), strict=True), first
        ):
            yield place, Put("episodes", (AGENT, str(place)), _row(place, text, vector))


def _row(place: int, text: str, vector: Vector) -> Row:
    person = ("ada", "lee", None, None)[place % 4]
    return {
        "source": "home", "type": "noted", "text": text, "person": person,
        "entities": "[]", "said": "I see.", "said_sequence": place,
        "embedding": embedding(vector), "embedder": "wordllama",
        "dimension": len(vector), "at": _NOON, "sequence": place,
    }  # fmt: skip


def _text(chance: random.Random) -> str:
    return " ".join(chance.sample(_WORDS, chance.randint(3, 8)))


class _Processor:
    """The processor time of a server and of all its processes."""

    def __init__(self, folder: Path) -> None:
        (found,) = folder.rglob("postmaster.pid")
        self._server = found.read_text().split()[0]

    def spent_by(self, work: Callable[[], None]) -> float:
        """Return the seconds that a piece of work took."""
        before = self._seconds()
        work()
        return self._seconds() - before

    def _seconds(self) -> float:
        spent = 0
        for each in Path("/proc").glob("[0-9]*/stat"):
            try:
                _, _, rest = each.read_text().rpartition(") ")
            except OSError:
                # It ended while we looked.
                continue
            fields = rest.split()
            if fields[1] == self._server:
                spent += int(fields[11]) + int(fields[12])
        return spent / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.recalling")
    parser.add_argument("--episodes", type=int, default=EPISODES)
    found = asyncio.run(measured(parser.parse_args().episodes))
    print(
        f"recall p50 {found.p50_ms:.1f} ms, p95 {found.p95_ms:.1f} ms,"
        f" CPU {found.cpu_ms:.1f} ms; {found.found:.0%} of the five nearest;"
        f" a row takes {found.write_us:.0f} µs to write,"
        f" {found.unindexed_write_us:.0f} without the index"
    )


if __name__ == "__main__":
    main()
