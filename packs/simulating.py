"""The command line of a simulated world, and its two outputs: a broker, or a file.

Each of those who live there is an agent with credentials of its own.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, time
from functools import partial
from itertools import product
from operator import itemgetter
from pathlib import Path

from nats.aio.msg import Msg

from packs import broker, playing
from packs.listening import Broker, inbox
from packs.lockstep import Debts
from packs.playing import Hear, Plan, Played
from packs.wires import Run
from schemas.values.record import Wire

_ROOM = 20_000
"""How many received messages may wait, of all members of a world."""
_TRIES = 30
"""How often a mind that does not answer is told the time again."""
_RECONNECTS = 240
_PAUSE_S = 1.0
"""Before an event is sent again that nobody stored."""

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
        help="go on once all has been answered; wait so long before asking again")  # fmt: skip
    add("--run", help="event ids derive from it; default: new ones each time")
    add("--seed", type=int, default=7, help=f"which {name}")
    add("--pace", type=float, default=1.0,
        help=f"seconds of the {name} a second; 0: no pause (raise `intake.rate`)")  # fmt: skip
    add("--day", type=broker.date, help="the date (YYYY-MM-DD); default today")
    add(
        "--hour",
        type=float,
        default=-1.0,
        help="when it begins; default: now, or 6 of --day",
    )
    add("--hours", type=float, default=24.0, help="how long it is played")
    add("--heard", type=Path, metavar="FILE",
        help="keep which responses were heard, as JSON lines")  # fmt: skip
    return made


def run(
    args: argparse.Namespace,
    source: str,
    names: Sequence[str],
    play: Play,
    place: str | None = None,
) -> int:
    """Play as the options say, tell what came of it, and return the exit status.

    `names` are the agents, the first with `--credentials`. The status is 0 when it was played,
    1 without a broker, 130 when interrupted, as shells expect.
    """
    plan = _plan(args, names, place)

    def to_its_end() -> None:
        if args.out:
            played = _into_file(args.out, plan, play)
        else:
            played = asyncio.run(_to_broker(args, source, plan, play))
        print(_summary(source, played), file=sys.stderr)

    return broker.status_of(source, to_its_end)


async def _to_broker(
    args: argparse.Namespace, source: str, plan: Plan, play: Play
) -> Played:
    """Play against a broker, as each of them with rights of its own."""
    said = inbox(_ROOM)
    has_own_clock = args.lockstep or plan.pace != 1
    sources = (source, playing.CLOCK.source) if has_own_clock else (source,)
    doors: dict[tuple[str, str], broker.Publish] = {}
    ears: list[Broker] = []
    async with AsyncExitStack() as stack:
        for name, speaks_as in product(plan.members, sources):
            login = _own(args.credentials, (args.agent, source), (name, speaks_as))
            live = broker.connected(speaks_as, args.url, login, reconnects=_RECONNECTS)
            client = await stack.enter_async_context(live)
            doors[name, speaks_as] = partial(broker.publish, client)
            if speaks_as == source:
                ears.append(Broker(client, said))
                await ears[-1].listen(name)

        async def listen(wait_s: float) -> Sequence[Msg]:
            # All hear into one queue: the first knows what all said.
            messages = await ears[0].heard(wait_s)
            if args.heard is not None:
                _keep(args.heard, messages)
            return messages

        steps = Steps(plan, doors, listen, args.lockstep / 1000)
        return await play(plan, steps.publish, steps.hear)


def _keep(file: Path, messages: Sequence[Msg]) -> None:
    """Append which responses were heard, each by the id of its ask."""
    with file.open("a", encoding="utf-8") as lines:
        for each in messages:
            _, agent, channel, *_ = each.subject.split(".")
            id_ = (each.headers or {}).get("ce-id")
            if id_ is not None:
                line = {"agent": agent, "channel": channel, "id": id_}
                lines.write(json.dumps(line) + "\n")


class Steps:
    """What goes to minds, and what comes from them; in lockstep until nobody owes anything."""

    def __init__(
        self,
        plan: Plan,
        doors: Mapping[tuple[str, str], broker.Publish],
        listen: Callable[[float], Awaitable[Sequence[Msg]]],
        patience_s: float,
    ) -> None:
        """Publish by `doors`, by agent and source; wait for `patience_s`, 0: not at all."""
        self._doors, self._listen = doors, listen
        self._patience_s = patience_s
        self._debts = Debts(plan.members)
        self._runs = {name: Run(name, plan.run) for name in plan.members}
        self._asked = 0
        self._last: str | None = None
        """The latest time that was told."""

    async def publish(self, wire: Wire) -> None:
        """Publish an event of a member's."""
        _, agent, source, _ = wire.subject.split(".")
        self._last = wire.headers["ce-time"]
        if self._patience_s:
            self._debts.told(agent, wire.headers["ce-id"])
        for left in reversed(range(_TRIES)):
            try:
                await self._doors[agent, source](wire)
            except broker.BrokerError:
                # The village stands still while its minds are away, as time does for them.
                if not (left and self._patience_s):
                    raise
                await asyncio.sleep(_PAUSE_S)
            else:
                return

    async def hear(self) -> Sequence[tuple[str, str, bytes]]:
        """Return what minds sent out since the last call, by agent if in lockstep."""
        said = self._read(await self._listen(0.0))
        tries = _TRIES
        while self._patience_s and self._debts.owing:
            more = self._read(await self._listen(self._patience_s))
            if not more and tries and self._debts.answering:
                tries -= 1
                await self._ask_again()
            elif not more:
                self._debts.forgive()
            said += more
        # Whose answer came first is chance: the same answers are obeyed in the same order.
        return sorted(said, key=itemgetter(0)) if self._patience_s else said

    def _read(self, messages: Sequence[Msg]) -> list[tuple[str, str, bytes]]:
        read = []
        for each in messages:
            _, agent, channel, *_ = each.subject.split(".")
            read.append((agent, channel, each.data))
            if channel == playing.WAKEUP and (told := playing.parse(each.data)):
                self._debts.heard(agent, told)
        return read

    async def _ask_again(self) -> None:
        """Forgive what a mind that was restarted cannot tell any more, and tell it the time.

        Its answer comes behind those to all that it was told before.
        """
        owing = self._debts.owing
        self._debts.forgive()
        for name in owing:
            self._asked += 1
            at = datetime.fromisoformat(self._last or "")
            # Below 0, where no event of the world's is.
            clock = playing.CLOCK
            await self.publish(
                self._runs[name].event(clock.source, clock, at, -self._asked)
            )


def _into_file(path: str, plan: Plan, play: Play) -> Played:
    """Play into a file, without a broker: nobody decides anything."""

    async def hear() -> Sequence[tuple[str, str, bytes]]:
        return ()

    async def run() -> Played:
        return await play(plan, publish, hear)

    with broker.into_file(path) as publish:
        return asyncio.run(run())


def _own(
    credentials: Path | None, given: tuple[str, str], wanted: tuple[str, str]
) -> Path | None:
    """Return somebody's credentials as a source: they lie beside those that are given."""
    if credentials is None:
        return None
    name = credentials.name.replace(".".join(given), ".".join(wanted), 1)
    return credentials.with_name(name)


def _plan(args: argparse.Namespace, names: Sequence[str], place: str | None) -> Plan:
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
        pace=0.0 if args.lockstep else args.pace,
        place=place,
    )


def _summary(source: str, played: Played) -> str:
    """Return what a world came to, in a line."""
    told = f"{played.events} events; obeyed {played.heard}"
    dead = f"died: {', '.join(played.dead)}" if played.dead else ""
    return "; ".join(
        filter(None, (f"{source}: {told}", broker.counted(played.outcomes), dead))
    )
