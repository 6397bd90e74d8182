"""Many recordings in parallel: a process for each job, the results in the order of jobs.

A task gets one job and reports its progress. An error of one job or an interrupt from the
keyboard ends every process.
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

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

_Reports: TypeAlias = "SimpleQueue[tuple[int, int, int]]"
"""The index of a job, how much of it is done, and of how much."""
Progress = Callable[[int, int], None]
"""Called with how much of one job, or of all, is done, and of how much."""
_Task = Callable[[_Job, Progress], _Result]
"""A module-level function, since another process imports it by name."""

LOOK_S = 0.1
"""Seconds between two looks at the progress."""

_REPORT_EVERY = 100
"""After how many steps a job reports its progress; each report goes through a pipe."""

PATIENCE_S = 5.0
"""Seconds that a process may take to terminate before it is killed."""

_METHOD = "spawn"
"""The start method: a fresh interpreter, without this one's threads, connections and locks,
which a fork would copy in any state."""


class JobFailedError(RuntimeError):
    """A job ended with an error that cannot be passed on as it was."""


def run(
    task: _Task[_Job, _Result],
    jobs: Sequence[_Job],
    progress: Progress = lambda done, whole: None,
    processes: int | None = None,
) -> list[_Result]:
    """Return the results of all jobs, in the order of the jobs.

    `progress` is called with the sum over all jobs; one that has not reported yet counts as
    much as the others on average. With one process, or one job, all runs in this process.

    Raises:
        Exception: whatever the first job in order raised that failed; the others end.
    """
    count = min(processes or os.cpu_count() or 1, len(jobs))
    if count <= 1:
        return _in_turn(task, jobs, progress)
    context = multiprocessing.get_context(_METHOD)
    reports: _Reports = context.SimpleQueue()
    # The pool does not name its processes, so ours are those that were not there before.
    others = active_children()
    with ProcessPoolExecutor(
        count,
        mp_context=context,
        initializer=_begin,
        initargs=(reports, plugin.allowed(), gc.get_threshold()),
    ) as pool:
        try:
            futures = [
                pool.submit(_work, task, index, job) for index, job in enumerate(jobs)
            ]
            return _gathered(futures, reports, progress)
        except BaseException:
            # KeyboardInterrupt included: the workers ignore it, and would run on.
            pool.shutdown(wait=False, cancel_futures=True)
            _end([each for each in active_children() if each not in others])
            raise


def _end(processes: Sequence[BaseProcess]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        # Of a process that ended within its patience, `kill` does nothing.
        process.join(PATIENCE_S)
        process.kill()


def _in_turn(
    task: _Task[_Job, _Result], jobs: Sequence[_Job], progress: Progress
) -> list[_Result]:
    sum_ = _Sum(len(jobs), progress)
    return [task(job, partial(sum_, index)) for index, job in enumerate(jobs)]


def _gathered(
    futures: Sequence[Future[_Result]], reports: _Reports, progress: Progress
) -> list[_Result]:
    sum_ = _Sum(len(futures), progress)
    wanted = list(futures)
    while pending := [each for each in wanted if not each.done()]:
        wait(pending, LOOK_S, FIRST_COMPLETED)
        while not reports.empty():
            sum_(*reports.get())
        # The first error by order, not by time, so that the same run raises the same error:
        # what follows a failed job need not be waited for.
        failed = (place for place, each in enumerate(wanted) if _has_failed(each))
        wanted = wanted[: next(failed, len(wanted)) + 1]
    return [future.result() for future in wanted]


def _has_failed(future: Future[_Result]) -> bool:
    return future.done() and future.exception() is not None


class _Sum:
    """Adds up the progress of the jobs."""

    def __init__(self, jobs: int, progress: Progress) -> None:
        self._jobs = jobs
        self._progress = progress
        self._known: dict[int, tuple[int, int]] = {}

    def __call__(self, index: int, done: int, whole: int) -> None:
        """Record the progress of one job, and report the sum."""
        self._known[index] = done, whole
        total = sum(each for _, each in self._known.values())
        # Extrapolated to the jobs that have not reported; at the end none is missing, and
        # the figure is exact.
        total = total * self._jobs // len(self._known)
        self._progress(sum(each for each, _ in self._known.values()), total)


class _Reporter:
    """Reports the progress of a job to the parent process, every `_REPORT_EVERY` steps."""

    def __init__(self, reports: _Reports, index: int) -> None:
        self._reports = reports
        self._index = index
        self._last = 0

    def __call__(self, done: int, whole: int) -> None:
        if done - self._last >= _REPORT_EVERY or done == whole:
            self._last = done
            self._reports.put((self._index, done, whole))


_REPORTS: ContextVar[_Reports] = ContextVar("reports")
"""The progress queue that a worker process was started with."""


def _begin(
    reports: _Reports, allowed: tuple[str, ...], garbage: tuple[int, int, int]
) -> None:
    """Set up a worker process, so that it ends with its parent at the latest."""
    # The parent's thresholds: a fresh process's defaults collect so often that it takes a
    # tenth of the time.
    gc.set_threshold(*garbage)
    plugin.allow(allowed)
    _REPORTS.set(reports)
    end_with_parent()


def end_with_parent() -> None:
    """End this process when its parent ends, in whichever way, and ignore Ctrl-C.

    The parent gets the interrupt as well, and terminates its workers in order.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        # Not sys.exit, which in a thread ends that thread alone.
        os._exit(1)


def _work(task: _Task[_Job, _Result], index: int, job: _Job) -> _Result:
    try:
        return task(job, _Reporter(_REPORTS.get(), index))
    except Exception as error:  # noqa: BLE001  # it is raised again, where it belongs
        raise _portable(error) from None


def _portable(error: Exception) -> Exception:
    """Return the error itself if it survives pickling, else a `JobFailedError` with its text.

    An exception with required arguments fails only when it is unpickled, in the parent.
    """
    try:
        pickle.loads(pickle.dumps(error))  # our own bytes
    except Exception:  # noqa: BLE001  # whatever keeps it from being passed on
        return JobFailedError(f"{type(error).__name__}: {error}")
    return error
