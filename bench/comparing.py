"""Compare recordings with a challenger: decisions a second, of CPU and of the clock.

Each recording is a session that the mind itself made, read from its file, as
`echoic replay compare` would.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import logged
from echoic.client.comparison import Job, compare_one
from echoic.client.recordings import FileSource
from evaluation.compare.session import Plan, SessionResult
from handlers.mind.strategies.spec import parse
from replay import process_pool
from schemas.messages.experiments import Variant
from streams.session_files.file import write_session

CHALLENGER = "heuristic_first:threshold=0.5"


@dataclass(frozen=True, slots=True)
class Found:
    """How fast recordings are compared."""

    decisions_per_cpu_s: float
    """In one process, without its start."""
    decisions_per_s: float
    """In as many processes as there are processors, with their starts."""


def measured(events: int = logged.EVENTS) -> Found:
    """Compare one recording here, then one for each processor in processes."""
    plan = Plan(baseline=Variant(), challengers=(Variant(strategy=parse(CHALLENGER)),))
    with TemporaryDirectory(prefix="echoic-bench-") as folder:
        session = logged.session(events)
        jobs = []
        for number in range(os.cpu_count() or 1):
            path = Path(folder) / f"{number}.echoic"
            write_session(path, session)
            jobs.append(Job(FileSource(path, "wordllama"), plan))
        cpu = time.process_time()
        alone = _decisions([compare_one(jobs[0], lambda done, whole: None)])
        cpu = time.process_time() - cpu
        begin = time.perf_counter()
        together = _decisions(process_pool.run(compare_one, jobs))
        return Found(alone / cpu, together / (time.perf_counter() - begin))


def _decisions(results: Sequence[SessionResult]) -> int:
    if not all(each.verification.is_identical for each in results):
        raise RuntimeError("a recording does not replay identically")
    return sum(len(each.recorded.records) for each in results)
