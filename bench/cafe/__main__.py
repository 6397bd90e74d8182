"""Play hours in the café on each tier, on the same seeds, and count: `python -m bench.cafe`.

With the fixed model of the pack; `--record FOLDER` keeps each session.
"""

import argparse
from pathlib import Path

from bench.cafe import counting
from bench.cafe.counting import Counts
from bench.cafe.playing import TIERS, Cafe
from schemas.packs.autonomous import Tier
from streams.session_files.file import write_session

NAMES = ("0: chance", "1: a model", "2: with memory", "3: improving")


def main() -> None:
    """Play, count and print; keep the sessions if that was asked for."""
    args = _arguments()
    found = [
        (NAMES[tier], of_tier(tier, args.seeds, args.hours, args.record))
        for tier in TIERS
    ]
    print(counting.table(found), end="")
    for name, each in found:
        ends = ", ".join(f"{n} {end}" for end, n in each.ends.most_common())
        calls = ", ".join(f"{n} {purpose}" for purpose, n in each.calls.most_common())
        print(
            f"{name}: {ends}; calls: {calls or 'none'}; {each.fallbacks} by chance instead"
        )


def of_tier(tier: Tier, seeds: int, hours: float, record: Path | None = None) -> Counts:
    """Return what some seeds on one tier came to."""
    counts = Counts()
    for seed in range(1, seeds + 1):
        cafe = Cafe(seed, tier, hours=hours)
        cafe.played()
        session = cafe.recorded()
        counting.count(counts, session, hours)
        if record is not None:
            record.mkdir(parents=True, exist_ok=True)
            write_session(record / f"tier{tier}-{seed}.echoic", session)
    return counts


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.cafe", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--record", type=Path, metavar="FOLDER")
    return parser.parse_args()


if __name__ == "__main__":
    main()
