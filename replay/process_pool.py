"""Many recordings at once: each in a process of its own, the results in their order.

A task gets one job and tells how far it is. Whatever ends the whole ends every process: an
error of one job, or an interruption by the keyboard.
"""

import gc
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextvars import ContextVar
from functools import partial
from multiprocessing import active_children, connection
from multiprocessing.process import BaseProcess
from multiprocessing.queues import SimpleQueue
from threading import Thread
from typing import TypeAlias, TypeVar

from handlers.mind.strategies import plugin

Job = TypeVar("Job")
Result = TypeVar("Result")

Told: TypeAlias = "SimpleQueue[tuple[int, int, int]]"
"""The index of a job, how much of it is done, and of how much."""
Progress = Callable[[int, int], None]
"""Told how much of one job, or of all, is done, and of how much."""
Task = Callable[[Job, Progress], Result]
"""A function of a module, so that another process can find it."""

LOOK_S = 0.1
"""How often progress is looked at."""

TELL_EVERY = 100
"""After how many steps of a job the next is told."""

PATIENCE_S = 5.0
"""How long a process may take to end when it is told to."""

METHOD = "spawn"
"""How processes are started: afresh, without threads and connections of this one."""


class JobFailedError(RuntimeError):
    """A job ended with an error that cannot be passed on as it was."""


def run(
    task: Task[Job, Result],
    jobs: Sequence[Job],
    progress: Progress = lambda done, whole: None,
    processes: int | None = None,
) -> list[Result]:
    """Return the results of all jobs, in the order of the jobs.

    `progress` is told the sum over all jobs; one of which nothing was heard counts as
    much as the others on average. With one process, or one job, all happens in this one.

    Raises:
        Exception: whatever the first job in order raised that failed; the others end.
    """
    count = min(processes or os.cpu_count() or 1, len(jobs))
    if count <= 1:
        return _in_turn(task, jobs, progress)
    context = multiprocessing.get_context(METHOD)
    told: Told = context.SimpleQueue()
    others = active_children()
    with ProcessPoolExecutor(
        count,
        mp_context=context,
        initializer=_begin,
        initargs=(told, plugin.allowed(), gc.get_threshold()),
    ) as pool:
        try:
            futures = [
                pool.submit(_work, task, index, job) for index, job in enumerate(jobs)
            ]
            return _gathered(futures, told, progress)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            _end([each for each in active_children() if each not in others])
            raise


def _end(processes: Sequence[BaseProcess]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(PATIENCE_S)
        process.kill()


def _in_turn(
    task: Task[Job, Result], jobs: Sequence[Job], progress: Progress
) -> list[Result]:
    sum_ = _Sum(len(jobs), progress)
    return [task(job, partial(sum_, index)) for index, job in enumerate(jobs)]


def _gathered(
    futures: Sequence[Future[Result]], told: Told, progress: Progress
) -> list[Result]:
    sum_ = _Sum(len(futures), progress)
    wanted = list(futures)
    while pending := [each for each in wanted if not each.done()]:
        wait(pending, LOOK_S, FIRST_COMPLETED)
        while not told.empty():
            sum_(*told.get())
        # The first error by order, not by time: the same run ends with the same words.
        failed = (place for place, each in enumerate(wanted) if _has_failed(each))
        wanted = wanted[: next(failed, len(wanted)) + 1]
    return [future.result() for future in wanted]


def _has_failed(future: Future[Result]) -> bool:
    return future.done() and future.exception() is not None


class _Sum:
    """Adds up what the jobs tell."""

    def __init__(self, jobs: int, progress: Progress) -> None:
        self._jobs = jobs
        self._progress = progress
        self._told: dict[int, tuple[int, int]] = {}

    def __call__(self, index: int, done: int, whole: int) -> None:
        """Note what one job tells, and tell the sum."""
        self._told[index] = done, whole
        total = sum(each for _, each in self._told.values())
        # None is missing at the end, where the figure must be exact.
        total = total * self._jobs // len(self._told)
        self._progress(sum(each for each, _ in self._told.values()), total)


class _Teller:
    """Tells the other process how far a job is, now and then."""

    def __init__(self, told: Told, index: int) -> None:
        self._told = told
        self._index = index
        self._last = 0

    def __call__(self, done: int, whole: int) -> None:
        if done - self._last >= TELL_EVERY or done == whole:
            self._last = done
            self._told.put((self._index, done, whole))


_TOLD: ContextVar[Told] = ContextVar("told")
"""What a worker process was begun with."""


def _begin(told: Told, allowed: tuple[str, ...], garbage: tuple[int, int, int]) -> None:
    """Begin a worker process: it ends when told to, or with its parent."""
    # A fresh process looks for cycles often, which takes a tenth of its time.
    gc.set_threshold(*garbage)
    plugin.allow(allowed)
    _TOLD.set(told)
    end_with_parent()


def end_with_parent() -> None:
    """End this process when its parent ends, however that does; not by the keyboard."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _work(task: Task[Job, Result], index: int, job: Job) -> Result:
    try:
        return task(job, _Teller(_TOLD.get(), index))
    except Exception as error:  # noqa: BLE001  # it is raised again, where it belongs
        raise _portable(error) from None


def _portable(error: Exception) -> Exception:
    """Return an error that reaches the other process as what it is, if that can be."""
    try:
        pickle.loads(pickle.dumps(error))  # our own bytes
    except Exception:  # noqa: BLE001  # whatever keeps it from being passed on
        return JobFailedError(f"{type(error).__name__}: {error}")
    return error
