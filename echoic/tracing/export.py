"""The worker's entry to tracing: it enqueues answered inputs and never waits.

A thread of its own turns them into spans and sends them. The queue is bounded, what does
not fit is counted and dropped, and closing takes less than a second whatever hangs.
"""

import os
import socket
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Protocol

from echoic.config.options import Content
from echoic.tracing import conventions as names
from echoic.tracing.collector import Collector, endpoint
from echoic.tracing.destinations import Destination, Spool
from echoic.tracing.naming import Held
from echoic.tracing.observe import Answered, Observer, Trace
from echoic.tracing.sampling import DEFAULT, Sampler, Sampling, is_silent
from echoic.tracing.spans import (
    Attributes,
    FollowUp,
    SpanData,
    decision_spans,
    follow_up_spans,
)
from handlers.mind.turn import Turn
from handlers.worker.timing import Times
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Output
from schemas.packs.compiled import CompiledPack
from streams.groups import groups
from streams.log import ReadableLog

QUEUE_MAX = 4_096
"""Answered inputs that wait for the thread at most; they hold their groups in memory."""
BATCH_MAX = 512
"""Spans in one request at most, the default of OpenTelemetry's batch processor."""
_PAUSE_S = 0.5
"""Seconds between two rounds of the thread: a request costs as much as ten traces."""
_CLOSE_S = 0.9
"""Seconds that closing may take."""
BACK_MAX = 65_536
"""Messages of the log, of all partitions, that a start reads back for an open decision."""

_NO_PACKS: Mapping[str, CompiledPack] = {}


class Traces(Protocol):
    """Makes traces of groups in the log."""

    def answered(self, seen: Answered) -> Iterable[Trace]:
        """Return the traces that a group completes."""

    def overdue(self, now_ns: int) -> Iterable[Trace]:
        """Return those that have waited too long for their end."""


class Tracer:
    """Accepts answered inputs from the worker; never blocks it and never raises."""

    def __init__(
        self, observer: Traces, destination: Destination, sampling: Sampling = DEFAULT
    ) -> None:
        self._observer = observer
        self._destination = destination
        self._resource: Attributes = {}
        # Appending and popping are atomic, so the two threads need no lock.
        self._queue: deque[tuple[int, Answered]] = deque()
        self._earlier: deque[Callable[[int], None]] = deque()
        # Apart, so that these go first where there is no room.
        self._silent: deque[tuple[int, Answered]] = deque()
        self._numbers = count()
        self._wake = threading.Event()
        self._closing = False
        self._sampler = Sampler(sampling)
        self.dropped = 0
        """Answered inputs that did not fit, and spans that were not sent."""
        self.dropped_silent = 0
        """Silent decisions that did not fit, or made room for others."""
        self.thinned = 0
        """Silent decisions that were left out by sampling."""
        self._thread = threading.Thread(target=self._run, name="tracing", daemon=True)
        self._thread.start()

    def observe(
        self,
        made: Iterable[tuple[Turn, Times]],
        packs: Mapping[str, CompiledPack] = _NO_PACKS,
    ) -> None:
        """Trace turns that are in the log; `packs` are those of the mind, by digest."""
        for turn, times in made:
            # First of all: most inputs are left out, which is to cost next to nothing.
            silent = is_silent(turn.outputs)
            share = self._share(turn.outputs[0], times) if silent else 1.0
            if share:
                held = Held(turn.state, packs)
                seen = Answered(turn.input, turn.outputs, times, held, share)
                self._enqueue(seen, silent)

    def answered(self, seen: Answered) -> None:
        """Trace an input whose group is in the log."""
        silent = is_silent(seen.outputs)
        share = self._share(seen.outputs[0], seen.times) if silent else 1.0
        if share:
            self._enqueue(replace(seen, share=share), silent)

    async def take_up(self, log: ReadableLog, partition: int, held: Held) -> None:
        """Take up what a partition's decisions still wait for, before it is answered.

        A program that was killed had sent nothing of them: a trace goes out whole.
        """
        observer = self._observer
        if isinstance(observer, Observer) and held.state.agents:
            found = await unfinished(observer, log, partition, held)
            self._earlier.append(lambda now_ns: observer.take_up(found, now_ns))

    def _share(self, decision: Output, times: Times) -> float:
        """Return of which share a silent decision is one; 0 leaves it out, and counts it."""
        share = self._sampler.share(decision, times.committed_ns)
        self.thinned += not share
        return share

    def _enqueue(self, seen: Answered, silent: bool) -> None:
        is_full = len(self._queue) + len(self._silent) >= QUEUE_MAX
        if is_full and not silent and not self._closing:
            # The thread may have taken the last one meanwhile: then there is room.
            with suppress(IndexError):
                self._silent.popleft()
                self.dropped_silent += 1
            is_full = len(self._queue) >= QUEUE_MAX
        if not (is_full or self._closing):
            numbered = next(self._numbers), seen
            (self._silent if silent else self._queue).append(numbered)
        elif silent:
            self.dropped_silent += 1
        else:
            self.dropped += 1

    def close(self) -> None:
        """Send what is left and stop, within a second."""
        # Set before waking the thread, which then drains the queue once more and ends.
        self._closing = True
        self._wake.set()
        self._thread.join(_CLOSE_S / 2)
        if self._thread.is_alive():
            self._destination.abort()
            self._thread.join(_CLOSE_S / 2)
        self.dropped += len(self._queue)
        self.dropped_silent += len(self._silent)

    def _run(self) -> None:
        # In this thread, as it loads the SDK, which takes 80 ms.
        self._resource = resource()
        self._destination.prepare()
        while not self._closing:
            self._wake.wait(_PAUSE_S)
            self._drain()
            self._send(self._observer.overdue(time.time_ns()))
        self._drain()
        # What is still held is taken up from the log when the program starts again.
        self._destination.close()

    def _drain(self) -> None:
        # What comes meanwhile waits for the next round, and goes with more.
        waiting = len(self._queue) + len(self._silent)
        while self._earlier:
            self._earlier.popleft()(time.time_ns())
        traces: list[Trace] = []
        for seen in filter(None, (self._next() for _ in range(waiting))):
            traces.extend(self._observer.answered(seen))
            # A decision has about eight spans, so this many traces make about one batch.
            if len(traces) >= BATCH_MAX // 8:
                self._send(traces)
                traces = []
        self._send(traces)

    def _next(self) -> Answered | None:
        # In order, since a vote links to the decision before it, and that may be a silent
        # one. The worker may take one away between a look and a pop.
        with suppress(IndexError):
            some = [each for each in (self._queue, self._silent) if each]
            return min(some, key=lambda each: each[0][0]).popleft()[1] if some else None
        return None

    def _send(self, traces: Iterable[Trace]) -> None:
        spans = [span for trace in traces for span in spans_of(trace)]
        for start in range(0, len(spans), BATCH_MAX):
            batch = spans[start : start + BATCH_MAX]
            try:
                self._destination.send(self._resource, batch)
            except OSError:
                # Neither collector nor file took it; the log still has everything.
                self.dropped += len(batch)


async def unfinished(
    observer: Observer, log: ReadableLog, partition: int, held: Held
) -> Observer:
    """Return an observer that holds which decisions of a partition the log leaves open.

    It shows as much as `observer`; `held` is what the mind holds at the log's end. Read is
    no further back than it takes, and what is older than `BACK_MAX` is not found.

    Raises:
        LogDamaged, LogUnavailable, UnreadableOutputError: of what is read.
    """
    agents = held.state.agents.values()
    wanted = {each.decision_id for agent in agents for each in agent.pending.values()}
    wanted |= {each.decision_id for agent in agents for each in agent.executive.waiting}
    back = BACK_MAX >> 6
    while True:
        found, seen = observer.again(), None
        after = max(0, held.state.position - back)
        async with aclosing(groups(log, partition, after)) as reading:
            async for group in reading:
                outputs = tuple(map(read_output, group.outputs))
                entry, written_ns = read_input(group.input), outputs[-1].record.time_ns
                seen = Answered.of_log(entry, outputs, written_ns, held)
                # What it completes was sent, but for the last second before a kill.
                deque(found.answered(seen), maxlen=0)
        if not after or back >= BACK_MAX or not found.lacks(wanted):
            break
        back *= 4
    if seen is not None:
        deque(found.overdue(seen.times.committed_ns), maxlen=0)
    return found


def open_tracer(
    base: str | None,
    environment: Mapping[str, str],
    *,
    spool: Path,
    notify: Callable[[str], None],
    sampling: Sampling = DEFAULT,
    content: Content = "auto",
    packs: Mapping[str, str] | None = None,
    observer: Traces | None = None,
) -> Tracer | None:
    """Open a tracer to the collector at `base`; None if the environment switches it off.

    `content` is whether traces hold what people wrote and models said; `auto` means only
    if they stay on this machine. `packs` are the versions in force, by name.
    `observer` makes the traces, by default those of the mind.

    Raises:
        SettingsError: the collector's address or protocol cannot be used.
    """
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    if environment.get("OTEL_TRACES_EXPORTER", "otlp") == "none":
        return None
    collector = Collector(endpoint(base, environment))
    # If nothing answers there, spans go into a file, which is to hold nobody's words.
    near = collector.endpoint.is_loopback and collector.answers()
    shown = content == "on" or (content == "auto" and near)
    return Tracer(
        observer or Observer(content=shown, packs=packs),
        Destination(collector, Spool(spool), notify),
        sampling,
    )


def resource() -> dict[str, str]:
    """Return the resource attributes; without a host Jaeger distrusts every clock.

    OTEL_RESOURCE_ATTRIBUTES wins over what is found here, and OTEL_SERVICE_NAME over both.
    """
    # Imported when they are needed: a command that traces nothing starts without.
    from importlib.metadata import version

    from opentelemetry.sdk.resources import OTELResourceDetector, Resource

    host = socket.gethostname()
    # Its spans are not made by OpenTelemetry's own SDK, which would put its name there.
    ours = version("echoic")
    found = Resource(
        {
            names.TELEMETRY_SDK_NAME: "echoic.tracing",
            names.TELEMETRY_SDK_LANGUAGE: "python",
            names.TELEMETRY_SDK_VERSION: ours,
            names.SERVICE_NAME: names.ENGINE,
            names.SERVICE_VERSION: ours,
            names.SERVICE_INSTANCE_ID: f"{host}-{os.getpid()}",
            names.HOST_NAME: host,
            names.HOST_ID: _machine() or f"{uuid.getnode():012x}",
            names.DEPLOYMENT_ENVIRONMENT_NAME: "development",
        }
    )
    # Not `Resource.create`, for which the variables are a default, and whose detectors may
    # find values that are no scalars.
    merged = found.merge(OTELResourceDetector().detect())
    return {name: str(value) for name, value in merged.attributes.items()}


def _machine() -> str | None:
    try:
        return Path("/etc/machine-id").read_text().strip() or None
    except OSError:
        return None


def spans_of(trace: Trace) -> tuple[SpanData, ...]:
    """Return the spans of a trace, its root first."""
    if isinstance(trace, FollowUp):
        return follow_up_spans(trace)
    return decision_spans(trace)
