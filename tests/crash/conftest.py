"""What tests that kill share: random moments that can be had again, and processes."""

import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any

import pytest

FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "tests.crash.worker_process",
        "tests.crash.speaking_process",
        "tests.crash.standing_process",
    ]
)

Running = Callable[..., AbstractContextManager[BaseProcess]]
"""Runs a function of its arguments in a process of its own, gone after the block."""


@pytest.fixture
def moments() -> random.Random:
    """Where the moments come from; the seed is printed, so that a failure can be had again."""
    seed = time.time_ns()
    sys.stdout.write(f"seed of the moments: {seed}\n")
    return random.Random(seed)


@pytest.fixture
def running() -> Running:
    """Run what is to be killed."""
    return _running


@contextmanager
def _running(serve: Callable[..., None], *arguments: Any) -> Iterator[BaseProcess]:
    process = FORKS.Process(target=serve, args=arguments)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


@pytest.fixture
def kill() -> Callable[[BaseProcess], None]:
    """Kill a process that runs, and see that it died of it."""

    def end(process: BaseProcess) -> None:
        assert process.is_alive()
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL

    return end
