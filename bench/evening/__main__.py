"""Live through evenings and judge them: `python -m bench.evening [--unseen] [--write NAME]`.

Without arguments the fifty evenings for tuning are lived, half of them with one person and
half with two. `--unseen` lives the two hundred that nobody tunes on as well, of which only
the figures are printed. `--seeds 7,8` lives those alone and lists all that was wrong;
`--causes` counts by which silence each kind of need was missed. `--write before` or
`--write now` puts the table between these marks of `docs/evaluation.md`.
"""

import argparse
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench.evening import report
from bench.evening.grammar import drawn
from bench.evening.judged import Judgement
from bench.evening.judging import judge
from bench.evening.playing import played

TUNING = range(1, 51)
UNSEEN = range(1001, 1201)
PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"


def main() -> None:
    """Live, judge, print; write if told to."""
    args = _arguments()
    seeds = args.seeds or list(TUNING)
    groups = _grouped(f"{len(seeds)} for tuning", _lived(seeds, unseen=False))
    if args.seeds:
        for each in next(iter(groups.values())):
            print(report.details(each))
    if args.causes:
        print(report.causes(next(iter(groups.values()))))
    if args.unseen or args.write:
        count = UNSEEN[: args.count]
        groups |= _grouped(f"{len(count)} unseen", _lived(count, unseen=True))
    text = report.table(groups)
    print(text, end="")
    if args.write:
        report.write(PAGE, args.write, text)


def _lived(seeds: Iterable[int], *, unseen: bool) -> list[Judgement]:
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(_judged, seeds, [unseen] * len(list(seeds)), chunksize=5))


def _judged(seed: int, unseen: bool) -> Judgement:
    return judge(played(drawn(seed, 1 + seed % 2, unseen=unseen)))


def _grouped(name: str, found: list[Judgement]) -> dict[str, list[Judgement]]:
    by_people = {
        n: [each for each in found if len(each.course.evening.people) == n]
        for n in (1, 2)
    }
    return {
        name: found,
        f"{name}: with one": by_people[1],
        f"{name}: with two": by_people[2],
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.evening", description=__doc__
    )
    parser.add_argument(
        "--seeds", type=_numbers, help="evenings for tuning, such as 1,2"
    )
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--count", type=int, default=len(UNSEEN), help="of unseen ones")
    parser.add_argument("--causes", action="store_true")
    parser.add_argument("--write", choices=("before", "now"))
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


if __name__ == "__main__":
    main()
