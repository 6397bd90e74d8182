"""The command line of a simulated world, and its two outputs: a broker, or a file.

Each of those who live there is an agent with credentials of its own.
"""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, time
from pathlib import Path

from packs import broker
from packs.listening import Broker, connected
from packs.playing import Hear, Plan, Played
from schemas.values.record import Wire

Play = Callable[[Plan, broker.Publish, Hear], Awaitable[Played]]


def parser(name: str, description: str) -> argparse.ArgumentParser:
    """Return the options that all simulated worlds have."""
    made = broker.parser(name, description)
    add = made.add_argument
    add(
        "--out",
        metavar="FILE",
        help="write events as JSON lines instead; nobody decides",
    )
    add("--lockstep", type=float, default=0.0, metavar="MS",
        help="wait so long for decisions after what is published")  # fmt: skip
    add("--run", help="event ids derive from it; default: new ones each time")
    add("--seed", type=int, default=7, help=f"which {name}")
    add("--pace", type=float, default=1.0,
        help=f"seconds of the {name} a second; 0: no pause (raise `intake.rate`)")  # fmt: skip
    add("--day", type=_date, help="the date (YYYY-MM-DD); default today")
    add(
        "--hour",
        type=float,
        default=-1.0,
        help="when it begins; default: now, or 6 of --day",
    )
    add("--hours", type=float, default=24.0, help="how long it is played")
    return made


def played(
    args: argparse.Namespace, source: str, names: Sequence[str], play: Play
) -> Played:
    """Play as the options say; `names` are the agents, the first with `--credentials`."""
    plan = _plan(args, names)
    if args.out:
        return _into_file(args.out, plan, play)
    return asyncio.run(_to_broker(args, source, plan, play))


async def _to_broker(
    args: argparse.Namespace, source: str, plan: Plan, play: Play
) -> Played:
    """Play against a broker, as each of them with rights of its own."""
    wait_s = args.lockstep / 1000
    async with AsyncExitStack() as stack:
        minds: dict[str, Broker] = {}
        for name in plan.names:
            login = _own(args.credentials, args.agent, name)
            live = connected(source, name, args.url, login)
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

        return await play(plan, publish, hear)


def _into_file(path: str, plan: Plan, play: Play) -> Played:
    """Play into a file, without a broker: nobody decides anything."""

    async def hear() -> Sequence[tuple[str, str, bytes]]:
        return ()

    async def run() -> Played:
        return await play(plan, publish, hear)

    with broker.into_file(path) as publish:
        return asyncio.run(run())


def _own(credentials: Path | None, agent: str, name: str) -> Path | None:
    """Return somebody's credentials: they lie beside the agent's, under its name."""
    if credentials is None:
        return None
    return credentials.with_name(credentials.name.replace(agent, name, 1))


def _plan(args: argparse.Namespace, names: Sequence[str]) -> Plan:
    now = datetime.now(UTC)
    base = datetime.combine(args.day or now.date(), time(), UTC)
    begins_s = args.hour * 3_600
    if args.hour < 0:
        begins_s = (
            round((now - base).total_seconds()) if args.day is None else 6 * 3_600
        )
    return Plan(
        names=names,
        base=base,
        # Ids derive from it: without a name each run gets new ones, which are no repeats.
        run=args.run or now.isoformat(),
        seed=args.seed,
        begins_s=begins_s,
        lasts_s=args.hours * 3_600,
        pace=args.pace,
    )


def summary(source: str, played: Played) -> str:
    """Return what a world came to, in a line."""
    told = f"{played.events} events; obeyed {played.heard}"
    dead = f"died: {', '.join(played.dead)}" if played.dead else ""
    return "; ".join(
        filter(None, (f"{source}: {told}", broker.counted(played.outcomes), dead))
    )


def _date(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
