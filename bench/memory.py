"""How much memory a worker takes: `python -m bench.memory [--heuristics N] [--events N]`.

A real worker with all packs in force answers events, and is looked at when it has. Pages
that processes share, such as the table of word vectors, count whole in RSS and in parts in
PSS.
"""

import argparse
import asyncio
import os

# Before numpy is loaded: a second thread of it takes the server's processor.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from bench import live
from echoic.run.process import prepare

HEURISTICS = 100_000
EVENTS = 6_000


async def measured(heuristics: int, events: int) -> live.Throughput:
    """Return what a worker took that answered so many events."""
    async with live.with_packs(heuristics) as running:
        return await live.throughput(running, events)


def main() -> None:
    """Measure and print."""
    prepare()
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("--heuristics", type=int, default=HEURISTICS)
    parser.add_argument("--events", type=int, default=EVENTS)
    given = parser.parse_args()
    found = asyncio.run(measured(given.heuristics, given.events))
    print(f"rss {found.rss_mb:.0f} MB, pss {found.pss_mb:.0f} MB")


if __name__ == "__main__":
    main()
