"""A household under load for a long time, of which a part is killed each minute.

    python -m bench.soak [--minutes 20] [--rate 100] [--seed 1]

Four agents of a real instance (broker, two workers, effects, projector, PostgreSQL) are told
so many events a second, half of them by sensors over NATS and half over HTTP, with votes and
outcomes; the model and the receiver of the webhook answer, fail and hang by turns. Each
minute one part is killed, by seed. In the end everything has to add up: each acknowledged
event in the log and decided once, each vote applied, each ask with one result that counted,
`log verify --full`, `replay verify --all-agents` and `projection rebuild --verify` clean,
and memory, open files and disk within the limits of `bench/enduring/sampling.py`.

It prints a table and a line of JSON, and exits with 1 if something does not add up.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.beside import beside
from bench.enduring.accounting import Books, asks_and_ends, compare, deliveries
from bench.enduring.findings import Findings, ask_the_program, connected, settle
from bench.enduring.household import Household, household
from bench.enduring.sampling import EVERY_S, Sampling, disk_bytes
from bench.enduring.senders import Senders

KILLED = (
    "broker", "worker", "projector", "database", "model", "webhook", "door", "instance",
)  # fmt: skip
DISK_PER_EVENT = 8_000.0
"""How many bytes of disk the broker may take for an event with all that comes of it: its
decision is about 2 kB before compression, and its checkpoints are counted, too."""
COMMAND_S = 1_800.0
"""How long a command may take over the log of an hour."""
_PATIENCE_S = 600.0


async def soak(home: Household, minutes: float, rate: float, seed: int) -> Findings:
    """Send for so long, kill a part each minute, and look at what is left."""
    found, killed, books = Findings(), Counter[str](), Books()
    sampling, senders = Sampling(KILLED), Senders(home, seed, rate)
    began = time.monotonic()
    async with beside(senders.run(), _tend(home, sampling)):
        senders.go()
        for minute, part, second in _parts(seed, minutes):
            await asyncio.sleep(60.0 * minute + second - (time.monotonic() - began))
            while not await asyncio.to_thread(home.kill, part):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            killed[part] += 1
            told = len(senders.account.events)
            _say(f"minute {minute}: {part} killed after {told:,} events")
        await asyncio.sleep(60.0 * minutes - (time.monotonic() - began))
        async with asyncio.timeout(_PATIENCE_S):
            await senders.pause()
        async with connected(home) as connection:
            await settle(connection, found)
            await books.read_on(connection.log)
    found.figures["killed"] = dict(killed)
    compare(books, senders.account, found)
    asks_and_ends(books, found)
    deliveries(books, senders.account, home.received, found)
    sampling.judge(found)
    _disk(home, len(books.arrived), found)
    ask_the_program(home, found)
    return found


def _parts(seed: int, minutes: float) -> Iterator[tuple[int, str, float]]:
    """Yield for each minute what is killed in it, and at which second."""
    rng, left = random.Random(f"{seed}/kills"), list[str]()
    for minute in range(int(minutes)):
        # Each as often as the others.
        left = left or rng.sample(KILLED, len(KILLED))
        yield minute, left.pop(), rng.uniform(10.0, 50.0)


async def _tend(home: Household, sampling: Sampling) -> None:
    """Look at every part now and then, and start again what has ended."""
    while True:
        await asyncio.to_thread(home.tend)
        await asyncio.to_thread(sampling.look, home)
        await asyncio.sleep(EVERY_S)


def _disk(home: Household, events: int, found: Findings) -> None:
    taken = disk_bytes(home.data / "nats")
    each = taken / max(events, 1)
    found.figures["disk of the broker"] = f"{taken:,} bytes, {each:,.0f} an event"
    found.expect(f"{each:.0f} bytes of disk an event", holds=each <= DISK_PER_EVENT)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> int:
    """Run it, print what came of it, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with (
        TemporaryDirectory(prefix="echoic-soak-") as folder,
        household(Path(folder), given.seed) as home,
    ):
        home.command_s = COMMAND_S
        found = asyncio.run(soak(home, given.minutes, given.rate, given.seed))
    print("\n".join(found.lines()))
    print(json.dumps({**vars(given), **found.figures, "faults": found.faults}))
    return int(bool(found.faults))


if __name__ == "__main__":
    sys.exit(main())
