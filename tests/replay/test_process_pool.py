"""Many recordings at once: results in order, errors whole, and nothing left behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from replay.process_pool import JobFailedError, Progress, run
from streams.errors import LogDamaged, SessionFileError
from tests.patience import PATIENCE_S
from tests.processes import is_alive

ROOT = Path(__file__).parents[2]


def squared(job: int, progress: Progress) -> tuple[int, int]:
    for step in range(1, 301):
        progress(step, 300)
    return job * job, os.getpid()


def fussy(job: int, progress: Progress) -> int:
    if job == 2:
        raise SessionFileError(f"{job} is cut")
    if job == 3:
        raise LogDamaged("skipped", 3, "something is missing")
    return job


def endless(job: int, progress: Progress) -> int:
    (Path(os.environ["TOLD"]) / f"{os.getpid()}").touch()
    while True:
        time.sleep(0.05)


def test_results_come_in_the_order_of_the_jobs():
    """Each job runs in another process, and progress is the sum of all."""
    reports: list[tuple[int, int]] = []
    found = run(
        squared, range(5), lambda *progress: reports.append(progress), processes=2
    )

    assert [result for result, _ in found] == [0, 1, 4, 9, 16]
    assert os.getpid() not in {process for _, process in found}
    assert reports[-1] == (1_500, 1_500)
    assert reports == sorted(reports)
    assert multiprocessing.active_children() == []


def test_one_process_is_this_one():
    """Without others to share with, nothing is started."""
    reports: list[tuple[int, int]] = []
    found = run(
        squared, [3, 4], lambda *progress: reports.append(progress), processes=1
    )

    assert found == [(9, os.getpid()), (16, os.getpid())]
    assert reports[0] == (1, 600)
    assert reports[-1] == (600, 600)


@pytest.mark.parametrize("jobs", [(1, 2, 3, 4), (4, 1, 2, 2)])
def test_an_error_comes_through_as_what_it_is(jobs):
    """The first failing job's error is raised, and every process ends."""
    with pytest.raises(SessionFileError, match="2 is cut"):
        run(fussy, jobs, processes=2)

    _until(lambda: not multiprocessing.active_children())


def test_an_error_that_cannot_travel_is_told_in_words():
    """What cannot be passed on between processes keeps its name and its words."""
    with pytest.raises(JobFailedError, match=r"LogDamaged: .*something is missing"):
        run(fussy, (1, 3), processes=2)


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_an_interruption(tmp_path, by):
    """Interrupted from the keyboard, or killed, it takes its processes along."""
    code = (
        "from replay.process_pool import run\n"
        "from tests.replay.test_process_pool import endless\n"
        "if __name__ == '__main__': run(endless, [1, 2], processes=2)\n"
    )
    script = tmp_path / "endless_run.py"
    script.write_text(code)
    environment = {**os.environ, "TOLD": str(tmp_path), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, script], env=environment, stderr=subprocess.DEVNULL
    ) as program:
        try:
            _until(lambda: len(_workers(tmp_path)) == 2)
            workers = [psutil.Process(each) for each in _workers(tmp_path)]
            program.send_signal(by)
            program.wait(PATIENCE_S)
            _until(lambda: not any(is_alive(each) for each in workers))
        finally:
            # A failure leaves none behind, either.
            program.kill()
            for each in _workers(tmp_path):
                with suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)


def _workers(folder: Path) -> list[int]:
    return [int(each.name) for each in folder.iterdir() if each.name.isdigit()]


def _until(condition) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)
