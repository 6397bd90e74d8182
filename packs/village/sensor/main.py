"""The sensor's command line.

Run it by path: `python packs/village/sensor --agent aria --characters 6 --pace 60`.
"""

import argparse
from collections.abc import Sequence

from packs import simulating
from packs.village.sensor.playing import play
from packs.village.sensor.telling import PLACE, SOURCE
from packs.village.sensor.villager import PEOPLE


def main(argv: Sequence[str] | None = None) -> int:
    """Play a village, and return the exit status."""
    args = _parser().parse_args(argv)
    return simulating.run(args, SOURCE, _names(args), play, PLACE)


def _names(args: argparse.Namespace) -> Sequence[str]:
    """Return who lives there: the agent, and then the others of the village."""
    others = [each for each in PEOPLE if each != args.agent]
    return [args.agent, *others][: args.characters]


def _parser() -> argparse.ArgumentParser:
    made = simulating.parser(SOURCE, "Let villagers live, each with a mind of its own.")
    made.add_argument("--characters", type=int, default=1,
        choices=range(1, len(PEOPLE) + 1), metavar="N",
        help=f"how many, of at most {len(PEOPLE)}")  # fmt: skip
    return made
