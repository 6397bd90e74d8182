"""Play worlds of known truth and hold the estimator to it: `python -m bench.estimates`.

    python -m bench.estimates [--runs N]

Writes `bench/estimates/latest.json` and the table of `docs/evaluation.md`. Every seed is
fixed: the same command gives the same figures, in a few minutes.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

from bench.estimates.measuring import Measured, measured
from bench.estimates.worlds import World

LATEST = Path(__file__).with_name("latest.json")
PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"
BEGIN, END = "<!-- estimates begin -->\n", "<!-- estimates end -->\n"
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all worlds; write the figures and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--show", action="store_true", help="print only, write nothing")
    given = parser.parse_args(arguments)
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(partial(measured, runs=given.runs), WORLDS))
    text = "".join(f"{line}\n" for line in table(found))
    print(text, end="")
    if given.show:
        return
    LATEST.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n")
    # Only the part between the marks is generated; the prose around it is written by hand.
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{text}{END}{rest.partition(END)[2]}")


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
