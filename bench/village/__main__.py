"""Play days of the village, and count which layer decided: `python -m bench.village`.

With the pack's model of rules, and without one by `--no-model`, where every decision is a
reflex's. `--record FILE` keeps the world as one file.

With `--kills 50` a village lives on real processes, of which one is killed at so many random
moments, each of which is told; nothing may be lost, doubled or stuck afterwards. It exits with
1 if something is, and if nobody spoke.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from bench import facts
from bench.village import shares
from bench.village.kills import campaign
from bench.village.playing import Village
from packs.broker import counted
from packs.village import model
from packs.village.sensor.villager import PEOPLE, TRAITS
from streams.session_files.file import write_world


def main() -> None:
    """Play a village, print what came of it, keep it if that was asked for."""
    args = _arguments()
    if args.kills:
        sys.exit(_kill(args))
    village = Village(
        args.seed,
        characters=args.characters,
        hours=args.hours,
        begins_h=args.begins,
        has_model=not args.no_model,
        answer=partial(model.answer, opening=args.opening),
    )
    played = village.played()
    sessions = village.recorded()
    found = {name: facts.of_session(sessions[name]) for name in village.plan.names}
    whole = facts.total(found.values())
    sociable = {name: PEOPLE[name][TRAITS.index("extraversion")] for name in found}
    print(shares.table(found, sociable), end="")
    print(f"\n{shares.cadences(whole)}\n{shares.purposes(whole)}")
    print(f"tasks ended by talk: {whole.by_talk}")
    print(f"{played.events} events, {counted(played.outcomes)}", end="")
    print(f"; died: {', '.join(played.dead)}" if played.dead else "; nobody died")
    for name, each in found.items():
        acts = ", ".join(f"{action} {n}" for action, n in each.acted.most_common())
        print(f"{name}: {acts}")
    if args.record:
        write_world(args.record, village.plan.run, list(sessions.values()))


def _kill(args: argparse.Namespace) -> int:
    """Run a campaign; return 1 if something is wrong afterwards."""
    done = campaign(args.kills, args.seed, args.characters)
    print("\n".join(done.lines()))
    return int(done.found is None or bool(done.found.faults))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.village", description=__doc__
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--characters", type=int, default=6, choices=range(1, 7))
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--begins", type=float, default=6.0, metavar="HOUR")
    parser.add_argument("--no-model", action="store_true")
    parser.add_argument("--opening", type=float, default=model.OPENING,
        help="how likely the model opens a conversation when it may")  # fmt: skip
    parser.add_argument("--kills", type=int, default=0, metavar="N")
    parser.add_argument("--record", type=Path, metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
