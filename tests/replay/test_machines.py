"""The recording comes out the same on every machine: kernels, threads, hash seeds, FMA."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S
from tests.replay.evening import evening

ROOT = Path(__file__).parents[2]

NO_FMA = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F"
BASELINE = "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"


def again(**variables: str) -> dict[str, Any]:
    """The recording, answered anew by a process with these variables."""
    return _again(tuple(sorted(variables.items())))


@cache
def _again(variables: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.replay.again"],
        cwd=ROOT,
        env=os.environ | dict(variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert ran.returncode == 0, ran.stderr
    report: dict[str, Any] = json.loads(ran.stdout)
    return report


MACHINES = {
    "haswell, one thread": {
        "OPENBLAS_CORETYPE": "Haswell",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONHASHSEED": "1",
    },
    "sandybridge, two threads": {
        "OPENBLAS_CORETYPE": "Sandybridge",
        "OPENBLAS_NUM_THREADS": "2",
        "PYTHONHASHSEED": "2",
    },
    "without fused multiply-add": {
        "OPENBLAS_CORETYPE": "Nehalem",
        "GLIBC_TUNABLES": NO_FMA,
        "NPY_DISABLE_CPU_FEATURES": BASELINE,
        "PYTHONHASHSEED": "3",
    },
}


@pytest.mark.parametrize("machine", MACHINES)
def test_every_machine_gives_the_same_outputs_and_chain(machine: str) -> None:
    """Every output is identical and the chain is the one that was recorded."""
    found = again(**MACHINES[machine])

    session = evening()
    assert found["divergence"] is None
    assert found["identical"] == found["total"] > 300
    assert found["chains"] == {session.header.agent: session.trailer.chain}


def test_the_machines_really_differ() -> None:
    """The settings above took effect: other kernels, threads and hashes were at work."""
    reports = [again(**MACHINES[name]) for name in MACHINES]

    assert [each["kernel"] for each in reports] == ["Haswell", "Sandybridge", "Nehalem"]
    assert [each["threads"] for each in reports][:2] == [1, min(2, os.cpu_count() or 1)]
    assert len({each["hash_of_a"] for each in reports}) == 3
    fused, _, plain = [each["exponentials"] for each in reports]
    has_fused = "fma" in Path("/proc/cpuinfo").read_text().split()
    assert (fused != plain) == has_fused
