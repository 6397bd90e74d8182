"""A worker as an instance runs it, in a process.

    python -m bench.worker [1/2] [limited] [proactive] [http://collector:4318]

`1/2` is the second of two that share the partitions, counted from 0. With a collector, it
sends traces there, by default settings. `proactive`: it says unasked all that it may.
"""

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

# Before the worker is ready, with traces and without: to load it is no cost of an event.
# The exporter loads `requests` when it is made.
import requests  # noqa: F401

from bench.beside import until_terminated
from bench.rig import connected_child
from echoic.embedders import embedder
from echoic.packs.phrases import shipped
from echoic.run.process import prepare
from echoic.tracing import over_http  # noqa: F401
from echoic.tracing.export import Tracer, open_tracer
from echoic.tracing.observe import Answered, Observer, Trace
from handlers.aids import AidProvider, PackLibrary
from handlers.worker.listening import Listeners, tell_nobody
from handlers.worker.loop import SILENT, Worker
from schemas.codec.upcasts import as_before
from schemas.messages.controls import MindStarted
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.model_settings import ModelSettings
from schemas.values.settings import (
    CodeDigests,
    IntakeSettings,
    MatchLimits,
    MindSettings,
)
from schemas.values.subjects import ALL_PARTITIONS
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.checkpoints import Checkpoints, JetStreamCheckpoints
from streams.jetstream.migrate import epoch_of
from streams.jetstream.read import JetStreamReader
from streams.log import ReadableLog, WritableLog


async def main() -> None:
    """Answer all inputs until terminated."""
    prepare()
    with TemporaryDirectory(prefix="echoic-bench-") as folder:
        await _work(_tracer(Path(folder)))


async def _work(tracer: Tracer | None) -> None:
    client = await connected_child()
    log = JetStreamReader(client, await epoch_of(client))
    worker = a_worker(
        log,
        JetStreamWriter(client),
        Listeners(answered=tracer.observe) if tracer else SILENT,
        checkpoints=JetStreamCheckpoints(client),
        partitions=_partitions(),
        is_limited="limited" in sys.argv,
        executive=PROACTIVE if "proactive" in sys.argv else None,
    )
    await until_terminated(worker.run(), begun=worker.ready.wait)
    await client.close()
    if tracer is not None:
        tracer.close()


def _tracer(folder: Path) -> Tracer | None:
    """Open a tracer to the collector that the arguments name, if one does.

    What it does not take goes into a file in `folder`.
    """
    base = next((each for each in sys.argv[1:] if each.startswith("http")), None)
    if base is None:
        return None
    # The notice would stand on the standard output before the line that says "ready".
    return open_tracer(
        base, os.environ, spool=folder / "traces.jsonl", notify=tell_nobody,
        observer=_AtOnce(),
    )  # fmt: skip


class _AtOnce(Observer):
    """Holds nothing: nobody delivers here, and what waits for it is a trace's cost too."""

    def answered(self, seen: Answered) -> Iterator[Trace]:
        """Yield the traces that this input completes or begins."""
        yield from super().answered(seen)
        yield from self.rest()


def _partitions() -> tuple[int, ...]:
    """Return the partitions of this process."""
    share = next((each for each in sys.argv[1:] if each[0].isdigit()), "0/1")
    number, processes = share.split("/")
    # Every n-th, as an instance shares them out: neighbours differ in process.
    return ALL_PARTITIONS[int(number) :: int(processes)]


def a_worker(
    log: ReadableLog,
    writer: WritableLog,
    listeners: Listeners = SILENT,
    *,
    partitions: Sequence[int] = ALL_PARTITIONS,
    checkpoints: Checkpoints | None = None,
    is_limited: bool = False,
    provider: AidProvider | None = None,
    executive: ExecutiveSettings | None = None,
) -> Worker:
    """Create a worker of some partitions."""
    made_by = embedder("wordllama")
    return Worker(
        log,
        writer,
        provider or AidProvider(made_by, PackLibrary(log, made_by)),
        started(is_limited=is_limited, executive=executive),
        partitions=partitions,
        checkpoints=checkpoints,
        listeners=listeners,
    )


def plain(**changes: object) -> ExecutiveSettings:
    """Return the executive's settings, with nothing on that `changes` do not bring."""
    return ExecutiveSettings.model_validate({**as_before({})["executive"], **changes})


PROACTIVE = plain(
    timing=True,
    check_in=True,
    observation=True,
    mood_comment=True,
    phrases=shipped(("en",)),
)
"""All that may be said unasked is."""


def started(
    model: str | None = None,
    *,
    is_limited: bool = False,
    executive: ExecutiveSettings | None = None,
) -> MindStarted:
    """Return settings with nothing on that is not asked for, such as a model by its name.

    Sensors have no rate limit, unless they are limited as in an instance.
    """
    made_by = embedder("wordllama")
    limits = MatchLimits(
        match=made_by.limits.match,
        duplicate=made_by.limits.duplicate,
        endorse=made_by.limits.endorse,
    )
    return MindStarted(
        settings=MindSettings.model_validate(
            as_before(
                {
                    "limits": limits,
                    "embedder": made_by.name,
                    "model": ModelSettings(name=model) if model else None,
                    "executive": executive or plain(),
                    "intake": IntakeSettings() if is_limited else None,
                }
            )
        ),
        digests=CodeDigests(version=version("echoic"), embedder=made_by.digest),
    )


if __name__ == "__main__":
    asyncio.run(main())
