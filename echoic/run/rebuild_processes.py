"""Rebuild of the read models on all processors: each partition is folded by one process.

Partitions do not depend on each other. A process keeps the states that it folded, so the
next pass continues from there; all processes end with their parent.
"""

import asyncio
import multiprocessing
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from typing import Any, Self

from echoic.embedders import embedder
from echoic.run.process import prepare
from handlers.aids import AidProvider, PackLibrary
from projections.errors import StoreUnavailable
from projections.projector.rebuild import Here
from projections.store.store import Store
from replay.process_pool import end_with_parent
from schemas.values.subjects import PARTITIONS
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected
from streams.jetstream.sealed_log import open_reader

_END_S = 5.0
"""Seconds that a process may take to end before it is killed."""

_NEXT = "next"
"""What a process says when it can take another partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Which log is folded into which database."""

    credentials: Credentials
    database_url: str
    embedder: str


@dataclass(slots=True)
class _Worker:
    """One process, and what it is to do."""

    process: BaseProcess
    pipe: Any
    partitions: list[int] = field(default_factory=list)
    """The partitions whose folded states this process keeps."""
    due: deque[int] = field(default_factory=deque)
    """Those of them that the present pass has still to fill."""

    def next_partition(self, free: deque[int]) -> int | None:
        """Return the next partition to fill, its own first; None if none is left."""
        if self.due:
            return self.due.popleft()
        if not free:
            return None
        self.partitions.append(free.popleft())
        return self.partitions[-1]


class Crew:
    """A pool of processes that fill a version of the tables within a `with` block."""

    def __init__(self, job: Job, processes: int | None = None) -> None:
        """Prepare `processes` processes, by default one for each processor."""
        self._job = job
        self._count = min(processes or os.cpu_count() or 1, PARTITIONS)
        self._workers: list[_Worker] = []
        self.order: Sequence[int] = range(PARTITIONS)
        """The order in which partitions begin; the longest first ends soonest."""
        self.progress: Callable[[int], None] = lambda _: None
        """Called with the number of groups written so far."""
        self._written = 0

    def __enter__(self) -> Self:
        # A forked process has all modules loaded, which otherwise takes a second or two.
        # Forking is safe only while no other thread may hold a lock: enter before all else.
        is_alone = sys.platform == "linux" and threading.active_count() == 1
        context: Any = multiprocessing.get_context("fork" if is_alone else "spawn")
        for _ in range(self._count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(self._job, theirs))
            process.start()
            # With our copy open, the end of the process would not show as the end of the
            # pipe.
            theirs.close()
            self._workers.append(_Worker(process, ours))
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    async def fill(self, version: int, until: Mapping[int, int] | None = None) -> None:
        """Fill all partitions, up to the sequences of `until` where given.

        Raises:
            StoreUnavailable: a process ended by itself.
            Exception: whatever a process raised.
        """
        try:
            # `connection.wait` blocks, and the loop has to stay free for the caller's
            # connection.
            await asyncio.to_thread(self._fill, version, until)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise StoreUnavailable(
                "a process of the rebuild ended by itself: the tables that serve stay"
                " as they are; run it again"
            ) from None
        except BaseException:
            self._end()
            raise

    def _fill(self, version: int, until: Mapping[int, int] | None) -> None:
        # A state cannot move between processes, so a partition stays where it was folded.
        owned = {each for worker in self._workers for each in worker.partitions}
        free = deque(each for each in self.order if each not in owned)
        busy = {worker.pipe: worker for worker in self._workers}
        for worker in self._workers:
            worker.due = deque(worker.partitions)
            worker.pipe.send((version, until))
        while busy:
            for pipe in connection.wait(list(busy)):
                if self._is_done(busy[pipe], free):
                    del busy[pipe]

    def _is_done(self, worker: _Worker, free: deque[int]) -> bool:
        """Receive one message of a process; tell whether it has finished its pass.

        An int counts groups just written, `_NEXT` asks for a partition, None ends the pass,
        a tuple is an error.
        """
        said = worker.pipe.recv()
        if isinstance(said, int):
            self._written += said
            self.progress(self._written)
        elif said == _NEXT:
            worker.pipe.send(worker.next_partition(free))
        elif said is not None:
            raise raised(*said)
        return said is None

    def _end(self) -> None:
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            # kill does nothing to a process that has ended.
            worker.process.join(_END_S)
            worker.process.kill()
            worker.pipe.close()


def _serve(job: Job, pipe: Pipe) -> None:
    """Run as one of the processes, until the other end of the pipe closes."""
    prepare()
    end_with_parent()
    try:
        asyncio.run(_fill_ordered(job, pipe))
    except EOFError:
        return
    except Exception as error:  # noqa: BLE001  # it is raised again by the other process
        # Most errors cannot be pickled: they are made of other arguments than their text.
        pipe.send((type(error), error.args, vars(error)))


async def _fill_ordered(job: Job, pipe: Pipe) -> None:
    """Fill partitions, pass by pass as the pipe says; EOFError ends it."""
    made_by = embedder(job.embedder)
    async with connected(job.credentials, "echoic rebuild") as client:
        log = await open_reader(client)
        aids = AidProvider(made_by, PackLibrary(log, made_by))
        with Store(job.database_url) as store:
            here = Here(log, store, aids, pipe.send)
            while True:
                version, until = await asyncio.to_thread(pipe.recv)
                await here.fill_partitions(_handed_out(pipe), version, until)
                pipe.send(None)


def _handed_out(pipe: Pipe) -> Iterator[int]:
    """Yield the partitions that this process gets, asking for each once the last is folded.

    What was folded is written meanwhile. The answer comes at once, so that blocking for it
    delays nothing.
    """
    while True:
        pipe.send(_NEXT)
        partition: int | None = pipe.recv()
        if partition is None:
            return
        yield partition


def raised(
    kind: type[Exception], arguments: tuple[object, ...], fields: Mapping[str, object]
) -> Exception:
    """Return an error rebuilt from its arguments and fields, past its constructor."""
    error = kind.__new__(kind, *arguments)
    vars(error).update(fields)
    return error
