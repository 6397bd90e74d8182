"""Kill parts of a household so many times, and count after each: `python -m bench.kills`.

    python -m bench.kills [--count 200] [--seed 1] [--rate 40] [--ledger]
        [--standing 3] [--standing-s 30]

Five kinds, each as often: the broker; a worker; the projector or the database; what the
effects talk to, the model or the webhook's receiver; the instance alone, with all its
servers at once, or the HTTP door. The moment is drawn: any, right when an input came into
the log, while the part stands still, as it goes on after it stood still, or while senders
are kept from hearing that they were acknowledged. A seed gives the same parts and manners
again, not the same moments: the processes keep no common time.

Before the first kill the broker stands still for `--standing-s`, as often as `--standing` says,
while four agents of which nobody has heard are told their first events
(`bench.enduring.standing`); with `--count 0` that is all.

After each kill every acknowledged event is in the log, and decided once. After each tenth
and in the end every ask has its result as well, and in the end the program's own commands
find nothing. With `--ledger` the run is noted in `bench/kills.json`, whatever came of it.
"""

import argparse
import asyncio
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from bench.beside import beside
from bench.enduring.accounting import Books, asks_and_ends, compare, deliveries
from bench.enduring.findings import Findings, ask_the_program, connected
from bench.enduring.household import Household, household
from bench.enduring.proxy import Proxy, proxy
from bench.enduring.senders import Account, Senders
from bench.enduring.standing import stand_still, unused
from echoic.client.connection import Connection, addresses
from echoic.config.load import load
from echoic.errors import NotRunningError
from schemas.values.subjects import partition_of
from streams.errors import StreamsError

KINDS = {
    "broker": ("broker",),
    "worker": ("worker",),
    "tables": ("projector", "database"),
    "effects": ("model", "webhook"),
    "whole": ("instance", "everything", "door"),
}
"""What is killed, by kind."""
MANNERS = ("any", "written", "frozen", "stalled", "unheard")
LEDGER = Path(__file__).with_name("kills.json")
_PATIENCE_S = 600.0
_EVERY = 10
"""After so many kills asks are waited for, too, which takes as long as a model may hang."""


@dataclass(slots=True)
class Campaign:
    """Kills, and what came of them."""

    home: Household
    seed: int
    rate: float
    kinds: Counter[str] = field(default_factory=Counter)
    manners: Counter[str] = field(default_factory=Counter)
    found: Findings = field(default_factory=Findings)
    books: Books = field(default_factory=Books)

    async def stand(self, times: int, seconds: float) -> None:
        """Have the broker stand still so many times, each time with four unused intakes."""
        names = list(unused(f"still-{self.seed}-"))
        used = {partition_of(agent) for agent in self.home.sensors}
        fresh = iter([each for each in names if partition_of(each) not in used])
        settings = load({"data": str(self.home.data)}, environment={})
        events, whole_s = 0, 0.0
        for _ in range(times):
            sensors = {each: self.home.access(each) for each in islice(fresh, 4)}
            process_id = self.home.process_of("broker")
            if process_id is None or not sensors:
                raise RuntimeError("no broker runs, or every intake stream was used")
            core, _ = addresses(settings)
            stood = await stand_still(process_id, core, sensors, seconds=seconds)
            events += stood.acknowledged
            whole_s = max(whole_s, stood.whole_after_s)
            self.found.faults += stood.faults
        self.found.figures["while the broker stood still"] = (
            f"{times} times, {events} events acknowledged; the log had all of them after"
            f" {whole_s:.1f} s at most"
        )

    async def run(self, count: int) -> None:
        """Kill so many times, and count after each."""
        moments = random.Random(self.seed)
        access = next(iter(self.home.sensors.values()))
        at = urlsplit(access.url)
        async with proxy(at.hostname or "", at.port or 0) as between:
            for agent, each in self.home.sensors.items():
                self.home.sensors[agent] = replace(each, url=between.address)
            senders = Senders(self.home, self.seed, self.rate)
            async with beside(senders.run(), self._tend()):
                for number, (kind, part) in enumerate(
                    drawn_parts(count, moments), start=1
                ):
                    manner = moments.choice(MANNERS)
                    senders.go()
                    await asyncio.sleep(moments.uniform(0.5, 2.0))
                    began = time.monotonic()
                    await self._kill(part, manner, between, moments)
                    self.kinds[kind] += 1
                    self.manners[manner] += 1
                    await asyncio.sleep(moments.uniform(0.2, 1.0))
                    is_whole = number % _EVERY == 0 or number == count
                    await self._count(senders, is_whole=is_whole)
                    print(
                        f"{number}/{count}: {part}, {manner}:"
                        f" {len(senders.account.events):,} events,"
                        f" {len(self.found.faults)} faults,"
                        f" {time.monotonic() - began:.1f} s",
                        file=sys.stderr,
                    )
                    if self.found.faults:
                        return
        ask_the_program(self.home, self.found)

    async def _kill(
        self, part: str, manner: str, between: Proxy, moments: random.Random
    ) -> None:
        """Kill a part in one of the manners, once it runs."""
        target = "broker" if part == "everything" else part
        match manner:
            case "any":
                await asyncio.sleep(moments.uniform(0, 1.0))
            case "written":
                await self._until_written()
            case "frozen" | "stalled":
                self.home.signal(target, signal.SIGSTOP)
                await asyncio.sleep(moments.uniform(0.05, 2.5))
                if manner == "stalled":
                    self.home.signal(target, signal.SIGCONT)
                    await asyncio.sleep(moments.uniform(0, 0.05))
            case "unheard":
                between.hears.clear()
                await asyncio.sleep(moments.uniform(0.05, 1.0))
            case _:
                raise AssertionError(manner)
        if part == "everything":
            await asyncio.to_thread(self.home.crash)
        else:
            while not await asyncio.to_thread(self.home.kill, part):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        between.hears.set()

    async def _until_written(self) -> None:
        """Wait until the log has one more input, which cannot be answered yet."""

        async def written(connection: Connection) -> None:
            log = connection.log
            last = await log.last_sequence("ev.*.in.>")
            async for _ in log.follow("ev.*.in.>", last, 1):
                return

        with suppress(StreamsError, NotRunningError, TimeoutError):
            async with connected(self.home) as connection, asyncio.timeout(5):
                await written(connection)

    async def _count(self, senders: Senders, *, is_whole: bool) -> None:
        """Wait until nothing is under way, and compare the log with what was sent."""
        pausing = asyncio.create_task(senders.pause())
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            with suppress(StreamsError, NotRunningError):
                async with connected(self.home) as connection:
                    while time.monotonic() < until:
                        await self.books.read_on(connection.log)
                        waits = self.books.waits(for_asks=is_whole)
                        lacks = self.books.lacks(senders.account)
                        if pausing.done() and not (waits or lacks):
                            # At once: who hears a late answer reports on it.
                            self._compare(senders.account, is_whole=is_whole)
                            return
                        await asyncio.sleep(0.1)
            await asyncio.sleep(0.2)
        if not pausing.done():
            self.found.faults.append("senders are not acknowledged")
            pausing.cancel()
        self._compare(senders.account, is_whole=is_whole)

    def _compare(self, account: Account, *, is_whole: bool) -> None:
        compare(self.books, account, self.found)
        if is_whole:
            asks_and_ends(self.books, self.found)
            deliveries(self.books, account, self.home.received, self.found)

    async def _tend(self) -> None:
        while True:
            await asyncio.to_thread(self.home.tend)
            await asyncio.sleep(0.1)


def drawn_parts(count: int, moments: random.Random) -> Iterator[tuple[str, str]]:
    """Yield kind and part of each kill: all kinds as often, in any order."""
    kinds = list[str]()
    turns = dict.fromkeys(KINDS, 0)
    for _ in range(count):
        kinds = kinds or moments.sample(list(KINDS), len(KINDS))
        kind = kinds.pop()
        parts = KINDS[kind]
        yield kind, parts[turns[kind] % len(parts)]
        turns[kind] += 1


def entry(done: Campaign, events: int, commit: str) -> dict[str, Any]:
    """Return what the ledger keeps of a run."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": commit,
        "seed": done.seed,
        "kills": done.kinds.total(),
        "kinds": dict(done.kinds),
        "manners": dict(done.manners),
        "events": events,
        "faults": done.found.faults,
        "outcome": "failed" if done.found.faults else "held",
    }


def note(made: dict[str, Any]) -> int:
    """Add a run to the ledger; return how many kills have held by now."""
    runs = json.loads(LEDGER.read_text()) if LEDGER.exists() else []
    runs.append(made)
    LEDGER.write_text(json.dumps(runs, indent=1) + "\n")
    return sum(each["kills"] for each in runs if each["outcome"] == "held")


def _commit() -> str:
    asked = ("git", "describe", "--always", "--dirty", "--exclude=*")
    ran = subprocess.run(
        asked, capture_output=True, text=True, cwd=LEDGER.parent, check=False
    )
    return ran.stdout.strip() or "unknown"


def main() -> int:
    """Run a campaign, print what came of it, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.kills", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=40.0)
    parser.add_argument("--standing", type=int, default=3)
    parser.add_argument("--standing-s", type=float, default=30.0)
    parser.add_argument("--ledger", action="store_true")
    given = parser.parse_args()
    commit = _commit()
    with (
        TemporaryDirectory(prefix="echoic-kills-") as folder,
        household(Path(folder), given.seed) as home,
    ):
        done = Campaign(home, given.seed, given.rate)
        try:
            asyncio.run(done.stand(given.standing, given.standing_s))
            if given.count:
                asyncio.run(done.run(given.count))
            else:
                ask_the_program(home, done.found)
        except* (RuntimeError, TimeoutError) as errors:
            said = [f"{each!r}\n{home.said()}" for each in errors.exceptions]
            done.found.faults += said
    print(f"seed {given.seed}: {done.kinds.total()} kills: {dict(done.kinds)}")
    print("\n".join(done.found.lines()))
    if given.ledger and given.count:
        kept = note(entry(done, len(done.books.arrived), commit))
        print(f"the ledger: {kept} kills after which all held")
    return int(bool(done.found.faults))


if __name__ == "__main__":
    sys.exit(main())
