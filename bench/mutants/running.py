"""Runs of tests in forked processes, over one collection: with a mutant and without.

A fork has everything imported and collected, so that a mutant costs only its tests. It is
given so much CPU time, not time of the clock: others use the machine, too.
"""

import gc
import os
import pickle
import resource
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType

import pytest

from bench.mutants.mutating import CALLED

Called = set[tuple[str, str]]
"""Functions, by their file and name."""
Begin = Callable[[Called], None]
"""What a fork does first: it is given where functions note that they ran."""


@dataclass(slots=True)
class Ran:
    """What came of a run, as its process told."""

    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    called: dict[str, Called] = field(default_factory=dict)
    """By test, which functions it ran, if these were instrumented."""
    spent_s: dict[str, float] = field(default_factory=dict)
    """CPU seconds of each test."""
    is_over_time: bool = False
    """It took all the CPU time that it was given."""
    fault: str | None = None
    """It ended by itself without a word: a crash, or a fault of the runner's."""


class Functions:
    """The functions of a file, as they are in this process."""

    def __init__(self, file: str) -> None:
        """Find them; with decorators or not, whoever imported them has the same object."""
        gc.unfreeze()
        self._file = file
        self._found: dict[str, list[FunctionType]] = {}
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__.co_filename == file:
                name = each.__code__.co_qualname
                self._found.setdefault(name, []).append(each)

    def can_have(self, name: str, code: CodeType) -> bool:
        """Tell whether a function is in memory, and uses the same variables outside it."""
        found = self._found.get(name, [])
        wanted = code.co_freevars
        return bool(found) and all(e.__code__.co_freevars == wanted for e in found)

    def put(self, name: str, code: CodeType) -> None:
        """Give a function another code, in this process."""
        for each in self._found[name]:
            each.__code__ = code

    def note(self, codes: Mapping[str, CodeType], called: Called) -> None:
        """Have each function note in `called` that it ran."""
        for name, code in codes.items():
            for each in self._found.get(name, []):
                each.__globals__[CALLED] = _Noting(self._file, called)
                each.__code__ = code


@dataclass(frozen=True, slots=True)
class _Noting:
    file: str
    called: Called

    def add(self, name: str) -> None:
        self.called.add((self.file, name))


def forked(
    session: pytest.Session,
    items: Sequence[pytest.Item],
    *,
    cpu_s: float,
    begin: Begin = lambda _: None,
    is_ended_by_failure: bool = False,
) -> Ran:
    """Run tests in a fork that called `begin` first; end at the first failure, or not.

    Raises nothing that the fork raises: it is its fault.
    """
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        _be_forked(session, items, writes, cpu_s, begin, is_ended_by_failure)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if told and status == 0:
        ran: Ran = pickle.loads(told)
        return ran
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number in (signal.SIGXCPU, signal.SIGKILL):
        return Ran(is_over_time=True)
    return Ran(fault=f"it ended with status {status}")


def _be_forked(
    session: pytest.Session,
    items: Sequence[pytest.Item],
    pipe: int,
    cpu_s: float,
    begin: Begin,
    is_ended_by_failure: bool,
) -> None:
    """In the fork: run, tell, and end without whatever the parent does at its end."""
    status = 1
    try:
        os.setpgid(0, 0)
        limit = int(_spent_s() + cpu_s) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        called: Called = set()
        begin(called)
        plugins = session.config.pluginmanager
        plugins.unregister(plugins.get_plugin("terminalreporter"))
        ran = _run(session, items, called, is_ended_by_failure)
        with os.fdopen(pipe, "wb") as told:
            pickle.dump(ran, told)
        status = 0
    finally:
        os._exit(status)


def _run(
    session: pytest.Session,
    items: Sequence[pytest.Item],
    called: Called,
    is_ended_by_failure: bool,
) -> Ran:
    seen, ran = _Seen(), Ran()
    session.config.pluginmanager.register(seen)
    for item, following in zip(items, [*items[1:], None], strict=True):
        called.clear()
        seen.has_failed = False
        begun_s = _spent_s()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        ran.spent_s[item.nodeid] = _spent_s() - begun_s
        ran.called[item.nodeid] = set(called)
        (ran.failed if seen.has_failed else ran.passed).append(item.nodeid)
        if seen.has_failed and is_ended_by_failure:
            break
    return ran


class _Seen:
    """A plugin that sees whether a test failed."""

    has_failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.has_failed |= report.failed


def _spent_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
