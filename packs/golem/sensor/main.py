"""The sensor's command line.

Run it by path: `python packs/golem/sensor --agent golem --pace 60`.
"""

from collections.abc import Sequence

from packs import playing, simulating
from packs.broker import Publish
from packs.golem.sensor.world import SOURCE, World
from packs.playing import Hear, Plan, Played


def main(argv: Sequence[str] | None = None) -> int:
    """Play a café, and return the exit status."""
    about = "Let a character live in a café, by a mind of its own."
    args = simulating.parser(SOURCE, about).parse_args(argv)
    return simulating.run(args, SOURCE, [args.agent], play)


async def play(plan: Plan, publish: Publish, hear: Hear) -> Played:
    """Play a café from its beginning to its end."""
    (name,) = plan.names
    world = World(str(plan.seed), name, plan.begins_s)
    return await playing.play(world, plan, publish, hear)
