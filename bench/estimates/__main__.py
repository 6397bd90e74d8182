"""Play worlds of known truth and hold the estimator to it: `python -m bench.estimates`.

    python -m bench.estimates [--runs N] [--only worlds|people]

Writes `bench/estimates/latest.json`, `latest-people.json` and the tables of
`docs/evaluation.md`. Every seed is fixed: the same command gives the same figures, in some
ten minutes.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

from bench.estimates.measuring import Measured, MeasuredCrowd, measured, measured_crowd
from bench.estimates.people import Crowd
from bench.estimates.worlds import World

LATEST = Path(__file__).with_name("latest.json")
LATEST_PEOPLE = Path(__file__).with_name("latest-people.json")
PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"
BEGIN, END = "<!-- {} begin -->\n", "<!-- {} end -->\n"
# The standard error of a coverage of 0.95 is then 0.007.
RUNS = 1000

WORLDS = (
    World(name="challenger .1", challenger=0.1),
    World(name="challenger .3", challenger=0.3),
    World(name="challenger .5", challenger=0.5),
    World(name="challenger .3, 20 sessions", sessions=20),
    World(name="challenger .3, 20 sessions with moods", sessions=20, mood=0.15),
    World(name="uniform .5", uniform=0.5),
    World(name="uniform .3", uniform=0.3),
    World(name="Pareto sizes", sizes="pareto"),
    World(name="Pareto sizes, moods", sizes="pareto", mood=0.15),
    World(name="Pareto sizes, 20 sessions", sizes="pareto", sessions=20),
    World(name="effect grows with size", sizes="pareto", by_size=0.1),
    World(name="effect grows with size, lognormal", sizes="lognormal", by_size=0.2),
    World(name="success .02, uniform .3", success=0.02, uniform=0.3),
    World(name="success .05, uniform .3", success=0.05, uniform=0.3),
    World(name="failure .05, uniform .3", success=0.95, uniform=0.3),
    World(name="success .2, uniform .3", success=0.2, uniform=0.3),
    World(name="success .02, challenger .3", success=0.02),
    World(name="success .05, challenger .3", success=0.05, sessions=85),
    World(name="success .5 to .05, uniform .3", gain=-0.45, uniform=0.3),
    World(name="success .1 to .3, uniform .3", success=0.1, gain=0.2, uniform=0.3),
)


CROWDS = (
    Crowd(name="1 x 40", people=1, sessions=40, is_null=True),
    Crowd(name="5 x 3 to 12, uneven", people=5, sessions=(3, 12), uneven=True,
          is_null=True),
    Crowd(name="8 x 12", people=8, sessions=12, is_null=True),
    Crowd(name="20 x 1 to 40, uneven", people=20, sessions=(1, 40), uneven=True,
          length=5, is_null=True),
    Crowd(name="60 x 1", people=60, sessions=1, is_null=True),
    Crowd(name="8 x 12", population="alike", people=8, sessions=12),
    Crowd(name="10 x 1 to 40, uneven", population="alike", people=10,
          sessions=(1, 40), uneven=True),
    Crowd(name="20 x 6", population="alike", people=20, sessions=6),
    Crowd(name="60 x 1 to 3, uneven", population="alike", people=60, sessions=(1, 3),
          uneven=True),
    Crowd(name="1 x 20, uneven, .15 unknown", people=1, sessions=20, uneven=True,
          length=20, unknown=0.15, is_null=True),
    Crowd(name="3 x 12, .3 unknown of b", people=3, sessions=12, unknown=0.3,
          hidden="of b", is_null=True),
    Crowd(name="3 x 12, .3 of b's failures unknown", people=3, sessions=12,
          unknown=0.3, hidden="failures of b", is_null=True),
    Crowd(name="3 x 12, .5 of late ones unknown", people=3, sessions=12,
          unknown=0.5, hidden="late", gain=0.3, spread=0.05),
)  # fmt: skip
"""People x sessions of each."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all worlds; write the figures and the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--show", action="store_true", help="print only, write nothing")
    parser.add_argument("--only", choices=("worlds", "people"))
    given = parser.parse_args(arguments)
    with ProcessPoolExecutor() as pool:
        if given.only != "people":
            worlds = list(pool.map(partial(measured, runs=given.runs), WORLDS))
            _tell(worlds, table(worlds), LATEST, given.show)
        if given.only != "worlds":
            crowds = list(pool.map(partial(measured_crowd, runs=given.runs), CROWDS))
            _tell(crowds, table_of_people(crowds), LATEST_PEOPLE, given.show)


def _tell(
    found: Sequence[Measured | MeasuredCrowd],
    lines: Iterator[str],
    file: Path,
    shows_only: bool,
) -> None:
    text = "".join(f"{line}\n" for line in lines)
    print(text, end="", flush=True)
    if shows_only:
        return
    file.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n")
    mark = "people" if file == LATEST_PEOPLE else "estimates"
    begin, end = BEGIN.format(mark), END.format(mark)
    # Only the part between the marks is generated; the prose around it is written by hand.
    before, _, rest = PAGE.read_text().partition(begin)
    PAGE.write_text(f"{before}{begin}{text}{end}{rest.partition(end)[2]}")


def table_of_people(found: Sequence[MeasuredCrowd]) -> Iterator[str]:
    """Yield the figures of people as they stand in the document."""
    yield (
        "| people x sessions | for | interval shown | holds the truth, at least | width |"
        " wrong verdicts, at most | verdicts | propensity cautions |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for each in found:
        held = (
            "-, -"
            if each.coverage is None or each.coverage_bound is None
            else f"{each.coverage:.3f}, {each.coverage_bound:.3f}"
        )
        width = "-" if each.width is None else f"{each.width:.3f}"
        yield (
            f"| {each.world} | {each.population} | {each.shown:.0%} | {held} | {width} |"
            f" {each.wrong:.3f}, {each.wrong_bound:.3f} | {each.claims:.1%} |"
            f" {each.cautions:.1%} |"
        )


def table(found: Sequence[Measured]) -> Iterator[str]:
    """Yield the figures as they stand in the document."""
    yield (
        "| world | true Δ | flip observations | interval shown | holds the truth |"
        " width | wrong verdicts | right ones |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for each in found:
        coverage = "-" if each.coverage is None else f"{each.coverage:.3f}"
        width = "-" if each.width is None else f"{each.width:.3f}"
        yield (
            f"| {each.world} | {each.truth:+.3f} | {each.flip_observations:.0f} |"
            f" {each.shown:.0%} | {coverage} | {width} | {each.wrong:.3f} |"
            f" {each.found:.3f} |"
        )


if __name__ == "__main__":
    main()
