"""The desk sensor's command line and loop: read, compare, publish, wait.

Run it by path: `python packs/desk/sensor --agent NAME`.
"""

import argparse
import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial

import orjson

from packs import broker
from packs.desk.sensor import gauges, machine
from packs.desk.sensor.gauges import Readings
from schemas.messages.sensing import Sensed
from schemas.values.ids import filled_event_id
from schemas.values.record import Wire
from schemas.values.subjects import sensor_subject

SOURCE = "desk"


def main(argv: Sequence[str] | None = None) -> int:
    """Watch the machine until interrupted.

    Return 0 at the end, 1 without a broker, 130 when interrupted, as shells expect.
    """
    args = _parser().parse_args(argv)
    return broker.status_of(SOURCE, lambda: asyncio.run(_run(args)))


async def watch(
    agent: str,
    publish: broker.Publish,
    read: Callable[[], Readings] = machine.read,
    *,
    interval_s: float,
    count: int | None = None,
) -> None:
    """broker.Publish the first readings, then every change; end after `count` readings."""
    now = read()
    await publish(_to_wire(agent, gauges.greet(now)))
    levels, taken = gauges.CALM, 0
    while True:
        levels, events = gauges.observe(levels, now)
        for event in events:
            await publish(_to_wire(agent, event))
        taken += 1
        if count is not None and taken >= count:
            return
        await asyncio.sleep(interval_s)
        now = read()


def _to_wire(agent: str, event: Sensed) -> Wire:
    """Make the message that carries an event, with an id of its own."""
    # The monotonic clock stands for a sequence: two events of one moment get two ids.
    event_id = filled_event_id(time.time_ns(), time.monotonic_ns())
    return Wire(
        subject=sensor_subject(agent, SOURCE, event.type),
        headers={"ce-id": event_id},
        # Source and type stand in the subject, from which the log fills them in.
        body=orjson.dumps(event.changed(without=("source", "type"))),
    )


async def _run(args: argparse.Namespace) -> None:
    watching = partial(watch, args.agent, interval_s=args.interval, count=args.count)
    if args.out:
        await watching(_print)
        return
    # For ever, so that a restart of the broker does not end the sensor.
    connection = broker.connected(SOURCE, args.url, args.credentials, reconnects=-1)
    async with connection as client:
        await watching(partial(broker.publish, client))


async def _print(message: Wire) -> None:
    """Print an event as a line of JSON instead."""
    print(broker.as_line(message), flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = broker.parser(SOURCE, "Watch this machine and tell Echoic what changes.")
    add = parser.add_argument
    add("--out", choices=["-"], help="print events as JSON lines instead")
    add("--interval", type=float, default=5.0, help="seconds between two readings")
    add("--count", type=int, help="readings to take; default: until interrupted")
    return parser
