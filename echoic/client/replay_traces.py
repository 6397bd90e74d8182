"""Traces of a recording, and of a replay: flips, and a sample of the other decisions, as
challengers make them.

They go to a collector or into a file, and each replayed decision has its place on Jaeger's
page that compares two traces.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from echoic.client.recordings import FileSource, Source, opened, tell_altered
from echoic.config.load import Settings
from echoic.errors import EchoicError, NotRunningError
from echoic.tracing import conventions as names
from echoic.tracing.collector import Collector, CollectorError, endpoint
from echoic.tracing.destinations import Spool
from echoic.tracing.export import BATCH_MAX, resource, spans_of
from echoic.tracing.recorded import recorded_traces, replayed_trace
from echoic.tracing.resend import Batch
from echoic.tracing.run import Run
from echoic.tracing.spans import Attributes, SpanData
from evaluation.compare.session import Plan, SessionResult
from handlers.aids import AidProvider
from replay.closed_loop.history import history_of
from replay.closed_loop.once import decided_once
from replay.recording.source import Recording
from schemas.messages.experiments import Variant
from schemas.values import ids

_SAMPLE = 20
"""Decisions besides the flips that are traced of each session and challenger."""


class _Destination(Protocol):
    """Takes batches of spans."""

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Take one batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which traces are wanted, and where."""

    destination: _Destination
    jaeger: str
    """The address of Jaeger's pages."""
    content: bool
    """Whether the traces may hold people's words."""
    limit: int
    """Decisions of each session and challenger at most."""
    originals: bool
    """Whether the recorded decisions' own traces are sent as well."""


def destination_of(settings: Settings, file: Path | None) -> tuple[_Destination, bool]:
    """Return where traces go, and whether they may hold people's words there.

    Raises:
        NotRunningError: no collector answers.
    """
    if file is not None:
        return Spool(file), False
    collector = Collector(endpoint(settings.trace_endpoint, os.environ))
    if not collector.answers():
        raise NotRunningError(
            f"no trace collector at {collector.name}",
            next_step="start Jaeger, or add --trace-to traces.otlp.jsonl",
        )
    return collector, collector.endpoint.is_loopback


async def trace_all(
    sources: Sequence[Source],
    results: Sequence[SessionResult],
    plan: Plan,
    labels: Sequence[str],
    wanted: Wanted,
) -> list[dict[str, str]]:
    """Send the traces; return for each challenger the compare page of each decision's id.

    `labels` are what the challengers are called, in order.

    Raises:
        EchoicError: the destination did not take them.
    """
    left = {each.recording.digest: each for each in results}
    found: list[dict[str, str]] = [{} for _ in labels]
    for source in sources:
        async with opened(source) as (recording, provider):
            result = left.pop(recording.digest, None)
            # The same recording under two names is traced once.
            if result is None:
                continue
            replayed = _Replayed(recording, provider, result, wanted)
            # A file's decisions were traced elsewhere, if at all: without them one half of
            # each compare page would be missing.
            if wanted.originals or isinstance(source, FileSource):
                await replayed.send_originals()
            for index, strategy in enumerate(plan.challengers):
                found[index] |= await replayed.send(index, strategy, labels[index])
    return found


class _Replayed:
    """One recording, whose decisions are made again and traced."""

    def __init__(
        self,
        recording: Recording,
        provider: AidProvider,
        result: SessionResult,
        wanted: Wanted,
    ) -> None:
        self._recording = recording
        self._provider = provider
        self._result = result
        self._wanted = wanted

    async def send(self, index: int, strategy: Variant, label: str) -> dict[str, str]:
        """Send what one challenger decides; return the compare page of each decision."""
        _, cassette = await history_of(self._recording, self._recording.first)
        chosen = chosen_of(self._result, index, self._wanted.limit)
        again = await decided_once(
            self._recording, strategy, self._provider, chosen, cassette
        )
        run = Run(_run_id(self._recording, label), label, self._wanted.jaeger)
        traces = {
            each.id: replayed_trace(each, run, content=self._wanted.content)
            for each in again
        }
        spans = [span for trace in traces.values() for span in spans_of(trace)]
        for start in range(0, len(spans), BATCH_MAX):
            self._send(_by(run.id), spans[start : start + BATCH_MAX])
        return {
            id_: run.compared_at(trace.event_id) or "" for id_, trace in traces.items()
        }

    async def send_originals(self) -> None:
        """Send the traces of all that is recorded."""
        found = _recorded(self._recording, content=self._wanted.content)
        async for whose, spans in found:
            self._send(whose, spans)

    def _send(self, whose: Attributes, spans: list[SpanData]) -> None:
        try:
            self._wanted.destination.send(whose, spans)
        except CollectorError as error:
            raise EchoicError(f"the trace collector took no batch: {error}") from error


def recorded_batches(sources: Sequence[Source], *, content: bool) -> Iterator[Batch]:
    """Yield the spans of recordings as live tracing would have sent them, batch by batch.

    Raises:
        SessionFileError: a file is none, of another version, cut or damaged.
        RecordingError: there is no such session, or no decision in it.
    """

    async def read() -> AsyncGenerator[Batch, None]:
        for source in sources:
            async with opened(source) as (recording, _):
                tell_altered(recording.origin, recording.altered)
                async for batch in _recorded(recording, content=content):
                    yield batch

    # A command writes each batch before the next is read, so memory does not grow.
    with asyncio.Runner() as runner:
        batches = read()
        try:
            while batch := runner.run(anext(batches, None)):
                yield batch
        finally:
            runner.run(batches.aclose())


async def _recorded(
    recording: Recording, *, content: bool
) -> AsyncGenerator[Batch, None]:
    spans: list[SpanData] = []
    async with aclosing(recorded_traces(recording, content=content)) as traces:
        async for trace in traces:
            spans += spans_of(trace)
            if len(spans) >= BATCH_MAX:
                yield _by(recording.digest), spans
                spans = []
    if spans:
        yield _by(recording.digest), spans


def _by(instance: str) -> Attributes:
    # Of no process: sent again, the same trace is the same to the byte, and Jaeger shows
    # it once.
    return {**resource(), names.SERVICE_INSTANCE_ID: instance}


def _run_id(recording: Recording, label: str) -> str:
    """Return the id of a challenger's run over a recording: the same each time."""
    return f"replay-{ids.digest(recording.digest.encode(), label.encode())[:12]}"


def chosen_of(result: SessionResult, index: int, limit: int) -> frozenset[str]:
    """Return the decisions to trace: the worst flips first, then a sample, evenly spread."""
    flips = [flip.decision for flip in result.flips[index]][:limit]
    listed = {flip.decision for flip in result.flips[index]}
    others = [
        each.record.id for each in result.decisions if each.record.id not in listed
    ]
    count = min(_SAMPLE, limit - len(flips), len(others))
    sample = [others[place * len(others) // count] for place in range(count)]
    return frozenset((*flips, *sample))
