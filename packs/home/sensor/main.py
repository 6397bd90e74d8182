"""The sensor's command line, and its two outputs: a broker, or a file.

Run it by path: `python packs/home/sensor --agent anna --pace 600`.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, time
from pathlib import Path

from packs import broker
from packs.home.sensor.plan import HOME, PERSON
from packs.home.sensor.playing import Plan, Played, play
from packs.listening import connected
from schemas.values.record import Wire


def main(argv: Sequence[str] | None = None) -> int:
    """Play one day.

    Return 0 when it was played, 1 without a broker, 130 when interrupted, as shells expect.
    """
    args = _parser().parse_args(argv)

    def run() -> None:
        played = _into_file(args) if args.out else asyncio.run(_to_broker(args))
        print(_summary(played), file=sys.stderr)

    return broker.status_of(HOME, run)


async def _to_broker(args: argparse.Namespace) -> Played:
    """Play against a broker; people speak and vote with rights of their own, if given."""
    wait_s = args.lockstep / 1000
    async with AsyncExitStack() as stack:
        home = await stack.enter_async_context(
            connected(HOME, args.agent, args.url, args.credentials)
        )
        people = home
        if args.person_credentials:
            people = await stack.enter_async_context(
                connected(PERSON, args.agent, args.url, args.person_credentials)
            )

        async def publish(wire: Wire) -> None:
            is_persons = wire.subject.split(".")[2] == PERSON
            await (people if is_persons else home).publish(wire)

        async def hear(id_: str | None) -> Sequence[tuple[str, bytes]]:
            said = await home.heard(wait_s if id_ else 0.0)
            return [(each.subject.split(".")[2], each.data) for each in said]

        return await play(_plan(args), publish, hear)


def _into_file(args: argparse.Namespace) -> Played:
    """Play into a file, without a broker and so without advice."""

    async def hear(id_: str | None) -> Sequence[tuple[str, bytes]]:
        return ()

    with broker.into_file(args.out) as publish:
        return asyncio.run(play(_plan(args), publish, hear))


def _plan(args: argparse.Namespace) -> Plan:
    now = datetime.now(UTC)
    return Plan(
        agent=args.agent,
        base=datetime.combine(args.day or now.date(), time(), UTC),
        # Ids derive from it: without a name each run gets new ones, which are no repeats.
        run=args.run or now.isoformat(),
        seed=args.seed,
        follow=args.follow,
        pace=args.pace,
    )


def _summary(played: Played) -> str:
    told = f"{played.events} events and {played.votes} votes; heard {played.heard}"
    return "; ".join(filter(None, (f"home: {told}", broker.counted(played.outcomes))))


def _parser() -> argparse.ArgumentParser:
    parser = broker.simulated(
        HOME, "Play a day of a home and tell Echoic what happens.", follow=0.8
    )
    add = parser.add_argument
    add("--person-credentials", type=Path, metavar="FILE",
        help="as --credentials, for what people say and how they vote")  # fmt: skip
    add("--seed", type=int, default=7, help="which day")
    add("--pace", type=float, default=300.0,
        help="seconds of the day a second; 0: no pause (raise `intake.rate`)")  # fmt: skip
    add("--day", type=broker.date, help="the date (YYYY-MM-DD); default today")
    return parser
