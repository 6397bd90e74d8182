"""Hostile inputs in great numbers: `python -m bench.fuzz mind|subjects|http`.

    python -m bench.fuzz mind [--count 1000000] [--seed 1] [--processes 2]
    python -m bench.fuzz http [--count 20000] [--seed 1]
    python -m bench.fuzz subjects [--count 100000] [--seed 1]

`mind` tells minds in memory anything at all, one after the other on a state that grows, in
as many processes as there are processors, each with a seed of its own. Every input has to be
answered once, no error may escape, and a second state, folded from the bytes of what was
said, has to be the same. The same seed and number of processes give the same digests.

`http` sends requests to a door beside an instance of its own, six at once: events, votes and
reports that are right, nearly right and made to hurt, some cut off, some sent again, and a
door that is killed twelve times. What the door took has to be in the log once and answered
once, what it refused must not be there, and the tables have to be what the log makes them.

`subjects` publishes hostile subjects, headers and bodies to a running instance, with the
account of a sensor and with Echoic's own. What the broker acknowledged has to be in the log,
once, and answered, and another agent is answered all the while.

It prints what came of it as JSON, and exits with 1 if anything does not add up.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

# Before numpy is loaded: a second thread of it takes the other process's processor.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from bench.fuzz import mind, subjects

MIND = 1_000_000
HTTP = 20_000
SUBJECTS = 100_000


def told_minds(count: int, seed: str, processes: int) -> mind.Found:
    """Tell as many minds as there are processes their parts of so many inputs."""
    parts = [
        count // processes + (each < count % processes) for each in range(processes)
    ]
    seeds = [f"{seed}/{each}" for each in range(processes)]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        runs = list(pool.map(mind.run, parts, seeds))
    whole = sum(runs, mind.Found())
    whole.judge(count)
    return whole


def _mind(given: argparse.Namespace) -> tuple[dict[str, Any], Sequence[str]]:
    found = told_minds(given.count or MIND, given.seed, given.processes)
    return found.as_fields(), found.faults


def _http(given: argparse.Namespace) -> tuple[dict[str, Any], Sequence[str]]:
    # Its instance and its door are no business of the others.
    from bench.fuzz import doors

    return doors.run(given.count or HTTP, given.seed)


def _subjects(given: argparse.Namespace) -> tuple[dict[str, Any], Sequence[str]]:
    with TemporaryDirectory(prefix="echoic-fuzz-") as folder:
        found = subjects.run(given.count or SUBJECTS, given.seed, Path(folder))
    return {**found.figures, "faults": found.faults}, found.faults


_RUNS = {"mind": _mind, "subjects": _subjects, "http": _http}


def main() -> int:
    """Run what is asked for, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("what", choices=tuple(_RUNS))
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", default="1")
    processors = len(os.sched_getaffinity(0))
    parser.add_argument("--processes", type=int, default=processors)
    given = parser.parse_args()
    began = monotonic()
    found, faults = _RUNS[given.what](given)
    found["seed"], found["wall_s"] = given.seed, round(monotonic() - began)
    print(json.dumps(found, indent=2))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
