"""Judge days of the home: `python -m bench.home [FILE ...] [--seeds 1,2,3] [--write]`.

A FILE is a recorded session; without one the shipped recording and three days that nobody
looked at while the pack was written. `--record FILE --seeds N` plays a day into a file.
`--before` plays with the parts of the executive off, as the recording was made. `--write`
puts the tables into `docs/evaluation.md`: of the recording and the seeds, before and now.
"""

import argparse
import sys
from pathlib import Path

from bench.home import needs, report
from bench.home.day import of_session
from bench.home.judging import Judgement, judge
from bench.home.playing import PACK, played, settings_of
from streams.errors import SessionFileError
from streams.session_files.file import SessionFile, read_session, write_session

RECORDING = PACK / "recording" / "day.echoic"
SHIPPED = 18
"""The seed of the recording."""
UNSEEN = (301, 302, 303)
"""Seeds that nothing was tried on, chosen after the last change: 1 to 40 were for that, and
earlier tables were of 101 to 103."""
PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"


def main() -> None:
    """Play or read days, judge them, print or write what came of them."""
    args = _arguments()
    if args.record:
        args.record.parent.mkdir(parents=True, exist_ok=True)
        write_session(args.record, _played(args.seeds[0], args.before))
        args.files, args.seeds = [args.record], []
    elif not (args.files or args.seeds):
        args.files, args.seeds = [RECORDING], [SHIPPED, *UNSEEN]
    try:
        days = {file.stem: _judged(read_session(file)) for file in args.files}
    except SessionFileError as error:
        sys.exit(f"bench.home: {error}")
    now = {f"seed {n}": _judged(_played(n, args.before)) for n in args.seeds}
    for name, found in (days | now).items():
        print(report.details(name, found))
    print(report.table(days | now), end="")
    if args.write:
        earlier = {f"seed {n}": _judged(_played(n, True)) for n in UNSEEN}
        report.write(PAGE, {"before": days | earlier, "now": now})


def _played(seed: int, before: bool) -> SessionFile:
    return played(seed, settings_of(seed, executive=not before))


def _judged(session: SessionFile) -> Judgement:
    return judge(of_session(session), needs.load(PACK / "needs.yaml"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.home", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seeds", type=_numbers, default=[])
    parser.add_argument("--record", type=Path)
    parser.add_argument("--before", action="store_true")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    if args.record and len(args.seeds) != 1:
        sys.exit("--record needs the one seed to play: --seeds 7")
    return args


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


if __name__ == "__main__":
    main()
