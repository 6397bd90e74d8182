"""Change the pure parts a little, many times, and count what no test notices.

    python -m bench.mutants MODULE ... --tests PATH ... [--sample N] [--seed 1] [--json]

Modules are files or folders. The tests are collected once; each mutant is put in place in a
fork of that process, which runs the tests that call its function. Only tests that need no
server take part. The score is the share of mutants that were killed, by a test that passes
without them; what ran over its time is told, and counts as not killed.
"""

import argparse
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from bench.mutants.judging import Judge, Verdict
from bench.mutants.mutating import Mutant, mutants

ROOT = Path(__file__).parents[2]
_ALONE = "not services and not slow and not crash and not model and not browser"


class Run:
    """A pytest session that judges mutants in place of running its tests."""

    def __init__(self, chosen: Sequence[Mutant]) -> None:
        """Judge these."""
        self._chosen = chosen
        self.verdicts: list[Verdict] = []
        self.failing: Sequence[str] = ()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge each, and tell at once."""
        if session.testsfailed:
            return False
        judge = Judge(session, sorted({each.path for each in self._chosen}))
        self.failing = judge.failing
        for number, mutant in enumerate(self._chosen, start=1):
            verdict = judge.judge(mutant)
            self.verdicts.append(verdict)
            _say(f"{number}/{len(self._chosen)} {_told(verdict)}")
        return True


def chosen(paths: Sequence[Path], sample: int | None, seed: int) -> list[Mutant]:
    """Return all mutants of files and folders, or so many of them, in order."""
    files = sorted({file for path in paths for file in _files(path)})
    made = [mutant for file in files for mutant in mutants(file)]
    if sample is None or sample >= len(made):
        return made
    places = sorted(random.Random(seed).sample(range(len(made)), sample))
    return [made[place] for place in places]


def _files(path: Path) -> list[Path]:
    path = path.resolve()
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def figures(verdicts: Sequence[Verdict]) -> dict[str, object]:
    """Return how many met each fate, and the score."""
    counts = Counter[str](each.fate for each in verdicts)
    judged = counts.total() - counts["impossible"]
    return {
        "mutants": counts.total(),
        **counts,
        "score": round(counts["killed"] / judged, 3) if judged else None,
    }


def _told(verdict: Verdict) -> str:
    """Return a verdict as one line, with the file as it stands in the tree."""
    line = f"{verdict.fate}: {verdict.mutant} {verdict.by}".rstrip()
    return line.replace(f"{ROOT}/", "")


def _say(what: str) -> None:
    print(what, file=sys.__stderr__, flush=True)


def main() -> int:
    """Judge, print what was not killed and the figures; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.mutants", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("modules", nargs="+", type=Path, metavar="MODULE")
    parser.add_argument("--tests", nargs="+", required=True, metavar="PATH")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    run = Run(chosen(given.modules, given.sample, given.seed))
    with TemporaryDirectory(prefix="echoic-mutants-") as folder:
        # Examples that failed with one mutant would be tried with the next.
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
        words = ["-q", "-m", _ALONE, "-p", "no:xdist", "-p", "no:cacheprovider",
                 f"--basetemp={folder}/tests", "--hypothesis-seed=1", *given.tests]  # fmt: skip
        code = pytest.main(words, plugins=[run])
    if not run.verdicts:
        return int(code) or 1
    found = figures(run.verdicts)
    if given.json:
        missed = [_told(each) for each in run.verdicts if each.fate != "killed"]
        print(json.dumps({**found, "missed": missed, "failing": list(run.failing)}))
    else:
        for each in run.verdicts:
            if each.fate not in ("killed", "impossible"):
                print(_told(each))
        print(", ".join(f"{name}: {value}" for name, value in found.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
