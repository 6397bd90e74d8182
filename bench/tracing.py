"""What traces cost a worker, as a share of its live loop, with them and without.

    python -m bench.tracing [--events 6000] [--pairs 4]

At default sampling, over HTTP to a collector that takes every batch and looks at it at the
end only. Runs with traces and without take turns, and so does which of the two is first, so
that a drift of the machine cancels out. What counts is the CPU time of the worker's process,
from when it is ready until the last trace is sent: the median of the pairs.

The mix decides on the cost: of silence in a burst a twentieth is traced, of what is said
all. One in seven events of the bench is answered.
"""

import argparse
import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench import live
from bench.rig import Rig
from echoic.run.process import prepare
from echoic.tracing import conventions as names

EVENTS = 6_000
PAIRS = 4


@dataclass(frozen=True, slots=True)
class Cost:
    """How much more a worker takes with traces than without, and what it sends."""

    cpu: float
    """Its CPU an event, as a share of that without: 0.1 is a tenth more."""
    rate: float
    """By how much the events a second fall, as a share."""
    traced_us: float
    untraced_us: float
    """CPU of the worker an event, in microseconds."""
    spoken: float
    """The share of events that were answered and traced."""
    traced: float
    """The share of events of which there is a trace."""
    candidates: float
    """Of a trace, on average."""


async def measured(running: Rig, events: int, pairs: int = PAIRS) -> Cost:
    """Let fresh workers answer other events each time, traced and not."""
    found: list[tuple[live.Throughput, live.Throughput]] = []
    taken: list[bytes] = []
    with collector(taken.append) as address:
        for number in range(pairs):
            pair: dict[str, live.Throughput] = {}
            for place in ("", address) if number % 2 else (address, ""):
                pair[place] = await live.throughput(running, events, collector=place)
            found.append((pair[""], pair[address]))
    spoken, decisions, candidates = _counted(taken)
    return Cost(
        cpu=median(on.worker_us / off.worker_us for off, on in found) - 1.0,
        rate=1.0 - median(on.events_per_s / off.events_per_s for off, on in found),
        traced_us=median(on.worker_us for _, on in found),
        untraced_us=median(off.worker_us for off, _ in found),
        spoken=spoken / events / pairs,
        traced=decisions / events / pairs,
        candidates=candidates / decisions,
    )


def _counted(taken: list[bytes]) -> tuple[int, int, int]:
    """Return how many decisions were spoken, and how many decisions and candidates."""
    spans = [each for body in taken for each in _spans(body)]
    decisions = [each for each in spans if each.name == names.DECIDE]
    shown = [event.name for each in spans for event in each.events]
    spoken = sum(map(_is_spoken, decisions))
    return spoken, len(decisions), shown.count(names.CANDIDATE_EVENT)


def _spans(body: bytes) -> Iterator[Span]:
    for group in ExportTraceServiceRequest.FromString(body).resource_spans:
        for scope in group.scope_spans:
            yield from scope.spans


def _is_spoken(decide: Span) -> bool:
    tags = {each.key: each.value.string_value for each in decide.attributes}
    return bool(tags[names.DECISION_OUTCOME] == "spoke")


@contextmanager
def collector(take: Callable[[bytes], None]) -> Iterator[str]:
    """Run a collector that takes everything; yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Taking, take))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class _Taking(BaseHTTPRequestHandler):
    # Connections are kept open, as real collectors do.
    protocol_version = "HTTP/1.1"

    def __init__(self, take: Callable[[bytes], None], *given: Any) -> None:
        self._take = take
        super().__init__(*given)

    def do_POST(self) -> None:  # the name is the library's
        """Take a batch."""
        with suppress(OSError, socket.timeout):
            self._take(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.tracing", description=__doc__
    )
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    given = parser.parse_args()
    async with live.with_packs(1_000) as running:
        print(await measured(running, given.events, given.pairs))


if __name__ == "__main__":
    prepare()
    asyncio.run(main())
