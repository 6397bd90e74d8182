"""The sensor's command line, and its two outputs: a broker, or a file.

Run it by path: `python packs/village/sensor --agent aria --characters 6 --pace 60`.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, time
from pathlib import Path

from packs import broker
from packs.listening import Broker, connected
from packs.village.sensor.playing import Plan, Played, play
from packs.village.sensor.telling import SOURCE
from packs.village.sensor.villager import PEOPLE
from schemas.values.record import Wire


def main(argv: Sequence[str] | None = None) -> int:
    """Play a village.

    Return 0 when it was played, 1 without a broker, 130 when interrupted, as shells expect.
    """
    args = _parser().parse_args(argv)

    def run() -> None:
        played = _into_file(args) if args.out else asyncio.run(_to_broker(args))
        print(_summary(played), file=sys.stderr)

    return broker.status_of(SOURCE, run)


async def _to_broker(args: argparse.Namespace) -> Played:
    """Play against a broker, as each villager with rights of its own."""
    wait_s = args.lockstep / 1000
    async with AsyncExitStack() as stack:
        minds: dict[str, Broker] = {}
        for name in _names(args):
            login = _own(args.credentials, args.agent, name)
            live = connected(SOURCE, name, args.url, login)
            minds[name] = await stack.enter_async_context(live)

        async def publish(wire: Wire) -> None:
            await minds[wire.subject.split(".")[1]].publish(wire)

        async def hear() -> Sequence[tuple[str, str, bytes]]:
            # All minds answer at once, so only the first is waited for.
            return [
                (name, each.subject.split(".")[2], each.data)
                for number, name in enumerate(minds)
                for each in await minds[name].heard(0.0 if number else wait_s)
            ]

        return await play(_plan(args), publish, hear)


def _into_file(args: argparse.Namespace) -> Played:
    """Play into a file, without a broker: nobody decides anything."""

    async def hear() -> Sequence[tuple[str, str, bytes]]:
        return ()

    with broker.into_file(args.out) as publish:
        return asyncio.run(play(_plan(args), publish, hear))


def _names(args: argparse.Namespace) -> Sequence[str]:
    """Return who lives there: the agent, and then the others of the village."""
    others = [each for each in PEOPLE if each != args.agent]
    return [args.agent, *others][: args.characters]


def _own(credentials: Path | None, agent: str, name: str) -> Path | None:
    """Return a villager's credentials: they lie beside the agent's, under its name."""
    if credentials is None:
        return None
    return credentials.with_name(credentials.name.replace(agent, name, 1))


def _plan(args: argparse.Namespace) -> Plan:
    now = datetime.now(UTC)
    base = datetime.combine(args.day or now.date(), time(), UTC)
    begins_s = args.hour * 3_600
    if args.hour < 0:
        begins_s = (
            round((now - base).total_seconds()) if args.day is None else 6 * 3_600
        )
    return Plan(
        names=_names(args),
        base=base,
        # Ids derive from it: without a name each run gets new ones, which are no repeats.
        run=args.run or now.isoformat(),
        seed=args.seed,
        begins_s=begins_s,
        lasts_s=args.hours * 3_600,
        pace=args.pace,
    )


def _summary(played: Played) -> str:
    told = f"{played.events} events; obeyed {played.heard}"
    dead = f"died: {', '.join(played.dead)}" if played.dead else ""
    return "; ".join(
        filter(None, (f"village: {told}", broker.counted(played.outcomes), dead))
    )


def _parser() -> argparse.ArgumentParser:
    parser = broker.parser(SOURCE, "Let villagers live, each with a mind of its own.")
    add = parser.add_argument
    add("--characters", type=int, default=1, choices=range(1, len(PEOPLE) + 1),
        metavar="N", help=f"how many, of at most {len(PEOPLE)}")  # fmt: skip
    add(
        "--out",
        metavar="FILE",
        help="write events as JSON lines instead; nobody decides",
    )
    add("--lockstep", type=float, default=0.0, metavar="MS",
        help="wait so long for decisions after what is published")  # fmt: skip
    add("--run", help="event ids derive from it; default: new ones each time")
    add("--seed", type=int, default=7, help="which village")
    add("--pace", type=float, default=1.0,
        help="seconds of the village a second; 0: no pause (raise `intake.rate`)")  # fmt: skip
    add("--day", type=_date, help="the date (YYYY-MM-DD); default today")
    add(
        "--hour",
        type=float,
        default=-1.0,
        help="when it begins; default: now, or 6 of --day",
    )
    add("--hours", type=float, default=24.0, help="how long it is played")
    return parser


def _date(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
