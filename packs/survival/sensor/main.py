"""The sensor's command line, and its two outputs: a broker, or a file.

Run it by path: `python packs/survival/sensor --agent steve --steps 600`.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from packs import broker
from packs.listening import connected
from packs.survival.sensor.playing import SOURCE, Plan, Played, play


def main(argv: Sequence[str] | None = None) -> int:
    """Play one session.

    Return 0 when it was played, 1 without a broker, 130 when interrupted, as shells expect.
    """
    args = _parser().parse_args(argv)

    def run() -> None:
        played = _into_file(args) if args.out else asyncio.run(_to_broker(args))
        print(_summary(played), file=sys.stderr)

    return broker.status_of("crafter", run)


async def _to_broker(args: argparse.Namespace) -> Played:
    wait_s = args.lockstep / 1000
    async with connected(SOURCE, args.agent, args.url, args.credentials) as live:

        async def hear(ids: Sequence[str]) -> Sequence[bytes]:
            # Nothing published, nothing to wait for: nobody can have been asked.
            said = await live.heard(wait_s if ids else 0.0)
            return [message.data for message in said]

        return await play(_plan(args), live.publish, hear)


def _into_file(args: argparse.Namespace) -> Played:
    """Play into a file, without a broker and so without advice."""

    async def hear(ids: Sequence[str]) -> Sequence[bytes]:
        return ()

    with broker.into_file(args.out) as publish:
        return asyncio.run(play(_plan(args), publish, hear))


def _plan(args: argparse.Namespace) -> Plan:
    now = datetime.now(UTC)
    return Plan(
        agent=args.agent,
        base=args.base or now,
        # Ids derive from it: without a name each run gets new ones, which are no repeats.
        run=args.run or now.isoformat(),
        steps=args.steps,
        seed=args.seed,
        follow=args.follow,
        rate=args.rate,
        clock=_wall_clock if args.clock == "broker" else None,
    )


def _wall_clock() -> datetime:
    return datetime.now(UTC)


def _summary(played: Played) -> str:
    outcomes = [outcome for _, outcome in played.reports]
    counts = broker.counted(outcomes)
    return (
        f"crafter: {played.events} events in {played.lives} lives; "
        f"heard {played.heard}, followed {len(outcomes)}"
        + (f" ({counts})" if counts else "")
    )


def _parser() -> argparse.ArgumentParser:
    parser = broker.simulated(
        "crafter", "Play Crafter and tell Echoic what happens.", follow=0.7
    )
    add = parser.add_argument
    add("--steps", type=int, default=600, help="seconds of the game to play")
    add("--seed", type=int, default=7, help="which world, and which player")
    add("--rate", type=float, default=1.0,
        help="steps a second; 0: no pause, so raise `intake.rate` first")  # fmt: skip
    add("--base", type=_moment, help="time of the first second (RFC 3339); default now")
    add("--clock", choices=("event", "broker"), default="broker",
        help="by which time advice expires: the game's, or the wall clock")  # fmt: skip
    return parser


def _moment(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text!r} has no time zone: add Z")
    return at
