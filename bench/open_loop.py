"""An open loop: events at a rate, whoever is late, and what each is answered with."""

import asyncio
import gc
import time
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from operator import attrgetter

import orjson

from bench import world
from bench.rig import Rig
from schemas.values.record import Record
from streams.log import scan

PATIENCE_S = 30.0
WARM_UP_S = 1.0
"""So much of an open loop is not counted."""

DECIDED = "ev.*.out.*.decision.decided"


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds at one rate of events."""

    p50_ms: float
    p95_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class _Seen:
    """A decision as the follower got it; all in nanoseconds since 1970."""

    at_ns: int
    decided_ns: int
    arrived_ns: int
    """When its event came into the log."""
    path: str


@dataclass(frozen=True, slots=True)
class Loop:
    """What came of an open loop."""

    published: dict[str, int]
    """When each event was sent, in nanoseconds since 1970."""
    seen: dict[str, _Seen]
    counted: Sequence[str]
    """The events after the warm-up."""

    def latencies(self, path: str = "") -> tuple[Latency, Latency]:
        """Return those of decisions that took a path: on the wire, and at the broker."""
        seen = self.seen
        took = [id_ for id_ in self.counted if path in ("", seen[id_].path)]
        on_the_wire = [seen[id_].at_ns - self.published[id_] for id_ in took]
        at_the_broker = [seen[id_].decided_ns - seen[id_].arrived_ns for id_ in took]
        return _percentiles(on_the_wire), _percentiles(at_the_broker)

    @property
    def per_s(self) -> float:
        """How many events a second were answered, from the first on."""
        first = min(self.published[id_] for id_ in self.counted)
        last = max(self.seen[id_].at_ns for id_ in self.counted)
        return len(self.counted) / (last - first) * 1e9

    def share(self, path: str) -> float:
        """Return the share of decisions that took a path."""
        took = [id_ for id_ in self.counted if self.seen[id_].path == path]
        return len(took) / len(self.counted)


async def open_loop(
    running: Rig,
    events: Sequence[world.Event],
    per_s: int,
    body: Callable[[world.Event], bytes] = attrgetter("body"),
    notice: Callable[[Record], None] = lambda _: None,
) -> Loop:
    """Tell events at a rate, whoever is late, and see what each is answered with.

    `body` is asked for each event's content when it is sent, `notice` is told of each
    decision when it comes.
    """
    after = await running.log.last_sequence(">")
    with _uncollected():
        wanted = {event.id for event in events}
        seeing = asyncio.create_task(_see(running, after, wanted, notice))
        published = await _publish(running, events, per_s, body)
        seen = await asyncio.wait_for(seeing, PATIENCE_S)
    return Loop(published, seen, [each.id for each in events[int(per_s * WARM_UP_S) :]])


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage in this process: it would count as latency of what is measured."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def _publish(
    running: Rig,
    events: Sequence[world.Event],
    per_s: int,
    body: Callable[[world.Event], bytes],
) -> dict[str, int]:
    """Publish as sensors do, each event at its own time; return when each was sent."""
    sent: dict[str, int] = {}
    begin = time.perf_counter()
    for number, event in enumerate(events):
        # From the begin, not from the last event: delays must not add up to a lower rate.
        early = begin + number / per_s - time.perf_counter()
        if early > 0:
            await asyncio.sleep(early)
        content = body(event)
        sent[event.id] = time.time_ns()
        await running.client.publish(event.published, content, headers=event.headers)
    return sent


async def _see(
    running: Rig, after: int, wanted: Set[str], notice: Callable[[Record], None]
) -> dict[str, _Seen]:
    """Follow decisions until all events have one; what was left over before counts not."""
    decided: dict[str, tuple[int, Record]] = {}
    async with aclosing(running.log.follow(DECIDED, after, 1000)) as following:
        async for records in following:
            # One clock reading a page: that is when the follower got all of it.
            now = time.time_ns()
            for record in records:
                notice(record)
                cause = record.headers["ce-causeid"]
                if cause in wanted:
                    decided[cause] = (now, record)
            if len(decided) >= len(wanted):
                break
    # Only now: reading the log beside the follower would take time from the broker.
    arrivals = await _arrivals(running, after)
    return {
        id_: _Seen(at_ns, record.time_ns, arrivals[id_], _path(record))
        for id_, (at_ns, record) in decided.items()
    }


def _path(decided: Record) -> str:
    return str(orjson.loads(decided.body)["path"])


async def _arrivals(running: Rig, after: int) -> dict[str, int]:
    """Return when each event came into the log, by id."""
    events = scan(running.log, "ev.*.in.*.sensor.>", after)
    return {each.headers["ce-id"]: each.time_ns async for each in events}


def _percentiles(nanoseconds: Sequence[int]) -> Latency:
    ordered = sorted(nanoseconds)
    p50, p95, p99 = (
        ordered[int(len(ordered) * part)] / 1e6 for part in (0.5, 0.95, 0.99)
    )
    return Latency(p50, p95, p99)
