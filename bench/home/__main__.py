"""Judge days of the home: `python -m bench.home [FILE ...] [--seeds 1,2,3] [--write]`.

A FILE is a recorded session; without one the shipped recording and three days that nobody
looked at while the pack was written. `--record FILE --seeds N` plays a day into a file.
`--write` puts the table into `docs/evaluation.md`.
"""

import argparse
import sys
from pathlib import Path

from bench.home import needs, report
from bench.home.day import of_session
from bench.home.judging import Judgement, judge
from bench.home.playing import PACK, played
from streams.session_files.file import read_session, write_session

RECORDING = PACK / "recording" / "day.echoic"
UNSEEN = (101, 102, 103)
"""Seeds that no change was tried on: only the table of the page is made of them."""
PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"


def main() -> None:
    """Play or read days, judge them, print or write what came of them."""
    args = _arguments()
    if args.record:
        args.record.parent.mkdir(parents=True, exist_ok=True)
        write_session(args.record, played(args.seeds[0]))
        args.files, args.seeds = [args.record], []
    elif not (args.files or args.seeds):
        args.files, args.seeds = [RECORDING], list(UNSEEN)
    table = needs.load(PACK / "needs.yaml")
    days: dict[str, Judgement] = {}
    for file in args.files:
        days[file.stem] = judge(of_session(read_session(file)), table)
    for seed in args.seeds:
        days[f"seed {seed}"] = judge(of_session(played(seed)), table)
    for name, found in days.items():
        print(report.details(name, found))
    print(report.table(days), end="")
    if args.write:
        report.write(PAGE, days)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.home", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seeds", type=_numbers, default=[])
    parser.add_argument("--record", type=Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    if args.record and len(args.seeds) != 1:
        sys.exit("--record needs the one seed to play: --seeds 7")
    return args


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


if __name__ == "__main__":
    main()
