"""Figures without a worker: replay, rebuilding the read models, starting the program."""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.rig import PARTITIONS, Rig, child
from bench.worker import started
from echoic.client import known_agents
from echoic.client.verification import Job, shares, verify_share
from echoic.embedders import embedder
from handlers.aids import AidProvider, PackLibrary
from projections.postgres.server import embedded_postgres
from projections.store.store import Store
from replay import process_pool
from replay.verify import Span, joined, verify

# An odd number, for a median of real measurements.
STARTS = 9


async def replaying(rig: Rig) -> float:
    """Measure events per second that are decided again and compared, from the broker."""
    provider = _provider(rig)
    inputs = 0
    begin = time.perf_counter()
    for partition in PARTITIONS:
        found = await verify(
            rig.log, Span(partition), provider, digests=started().digests
        )
        if not found.is_identical:
            raise RuntimeError(f"the replay differs: {found.divergence}")
        inputs += found.inputs
    return inputs / (time.perf_counter() - begin)


async def replaying_on_all_cores(rig: Rig) -> float:
    """Measure the same in one process per processor, without the time they start in."""
    inputs = await known_agents.inputs_by_partition(rig.client)
    cores = os.cpu_count() or 1
    jobs = [
        Job(rig.server.core, each, "wordllama", started().digests)
        for each in shares(inputs, cores)
    ]
    told: list[tuple[float, int]] = []
    found = await asyncio.to_thread(
        process_pool.run,
        verify_share,
        jobs,
        lambda done, _: told.append((time.perf_counter(), done)),
    )
    end, whole = (
        time.perf_counter(),
        joined([each for share in found for each in share.values()]),
    )
    if not whole.is_identical:
        raise RuntimeError(f"the replay differs: {whole.divergence}")
    # From the first progress on: the start of processes and their embedders is no replay.
    begin, before = next(each for each in told if each[1])
    return (whole.inputs - before) / (end - begin)


async def rebuilding(rig: Rig) -> float:
    """Measure inputs per second of a rebuild in PostgreSQL on all processors."""
    inputs = sum((await known_agents.inputs_by_partition(rig.client)).values())
    with TemporaryDirectory(prefix="echoic-bench-") as folder:
        async with embedded_postgres(Path(folder)) as server:
            with Store(server.url) as store:
                store.prepare()
            async with child(
                rig, "bench.rebuilding", server.url, may_end=True
            ) as process:
                assert process.stdout is not None
                return inputs / float(await process.stdout.readline())


def first_output_ms() -> float:
    """Return the median time from starting `echoic --version` to its first byte."""
    program = Path(sys.executable).with_name("echoic")
    return statistics.median(_first_output_ms(program) for _ in range(STARTS))


def _first_output_ms(program: Path) -> float:
    begin = time.perf_counter()
    with subprocess.Popen([program, "--version"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        return (time.perf_counter() - begin) * 1000


def _provider(rig: Rig) -> AidProvider:
    made_by = embedder("wordllama")
    return AidProvider(made_by, PackLibrary(rig.log, made_by))
