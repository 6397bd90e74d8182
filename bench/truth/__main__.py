"""Estimate from recordings, then play for real: `python -m bench.truth`.

    python -m bench.truth [--sessions N] [--steps N] [--rate P]

Writes `bench/truth/latest.json` and the table of `docs/evaluation.md`. Every seed is
fixed: the same command gives the same figures.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import TypeVar

from bench.truth.measuring import Lived, Pair, explored, lived
from replay.estimation.estimate import estimate
from replay.estimation.intervals import quantile
from schemas.settings import StrategySpec

T = TypeVar("T")

LATEST = Path(__file__).with_name("latest.json")
PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"
BEGIN, END = "<!-- truth begins -->\n", "<!-- truth ends -->\n"
SESSIONS, STEPS, RATE = 40, 700, 0.4
FIRST_SEED = 100

PAIRS = (
    Pair(
        "more daring",
        StrategySpec(parameters={"threshold": 0.7}),
        StrategySpec(parameters={"threshold": 0.5}),
    ),
    Pair(
        "more cautious",
        StrategySpec(parameters={"threshold": 0.7}),
        StrategySpec(parameters={"threshold": 0.74}),
    ),
    Pair(
        "Thompson sampling",
        StrategySpec(parameters={"threshold": 0.7}),
        StrategySpec(name="thompson"),
    ),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One pair: what was estimated, and what it was."""

    pair: str
    verdict: str
    flip_share: float
    flip_observations: float
    estimated: float | None
    interval: tuple[float, float] | None
    bounds: tuple[float, float]
    truth: float
    """Challenger less baseline, both played for real."""
    truth_interval: tuple[float, float]
    baseline_value: float
    challenger_value: float


def measure(pair: Pair, sessions: int, steps: int, rate: float) -> Row:
    """Estimate one pair, then play both sides."""
    seeds = range(FIRST_SEED, FIRST_SEED + sessions)
    recorded = _each(partial(explored, pair, steps=steps, rate=rate), seeds)
    found = estimate([row for session in recorded for row in session.rows])
    # Worlds of their own, so that what was estimated and what is true share no luck.
    others = range(FIRST_SEED + 1000, FIRST_SEED + 1000 + sessions)
    ours = _each(partial(lived, pair.baseline, steps=steps), others)
    theirs = _each(partial(lived, pair.challenger, steps=steps), others)
    truth, low, high = _difference(ours, theirs)
    difference = found.difference
    is_told = difference.verdict not in ("NOT_ENOUGH_OVERLAP", "INVALID")
    return Row(
        pair=pair.name,
        verdict=str(difference.verdict),
        flip_share=difference.flip_share,
        flip_observations=difference.flip_observations,
        estimated=difference.dr if is_told else None,
        interval=difference.ci if is_told else None,
        bounds=difference.bounds,
        truth=truth,
        truth_interval=(low, high),
        baseline_value=_value(ours),
        challenger_value=_value(theirs),
    )


def _each(play: Callable[[int], T], seeds: Sequence[int]) -> list[T]:
    with ProcessPoolExecutor() as processes:
        return list(processes.map(play, seeds))


def _value(sessions: Sequence[Lived]) -> float:
    """The mean outcome of a decision, over all of them."""
    return sum(each.total for each in sessions) / sum(each.known for each in sessions)


def _difference(
    ours: Sequence[Lived], theirs: Sequence[Lived]
) -> tuple[float, float, float]:
    """Challenger less baseline, with the 95 % interval over worlds played by both."""
    centre = _value(theirs) - _value(ours)
    off = [
        _influence(second, theirs) - _influence(first, ours)
        for first, second in zip(ours, theirs, strict=True)
    ]
    error = stdev(off) / len(off) ** 0.5
    reach = quantile(len(off) - 1) * error
    return centre, centre - reach, centre + reach


def _influence(session: Lived, of: Sequence[Lived]) -> float:
    """How far a session draws the mean over all of them."""
    known = fmean(each.known for each in of)
    return (session.total - _value(of) * session.known) / known


def table(rows: Sequence[Row]) -> str:
    """The figures as a table of the page."""
    lines = [
        "| challenger | flips | flip observations | estimated Δ | interval or bounds"
        " | verdict | true Δ | its interval | hit |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(_line, rows)]) + "\n"


def _line(row: Row) -> str:
    low, high = row.interval or row.bounds
    kind = "" if row.interval else " (bounds)"
    inside = low <= row.truth <= high
    overlaps = row.truth_interval[0] <= high and low <= row.truth_interval[1]
    hit = "yes" if inside else "overlaps" if overlaps else "**no**"
    estimated = "none" if row.estimated is None else f"{row.estimated:+.3f}"
    truth_low, truth_high = row.truth_interval
    return (
        f"| {row.pair} | {row.flip_share:.1%} | {row.flip_observations:.0f} | {estimated}"
        f" | [{low:+.3f}, {high:+.3f}]{kind} | {row.verdict} | {row.truth:+.3f}"
        f" | [{truth_low:+.3f}, {truth_high:+.3f}] | {hit} |"
    )


def write(rows: Sequence[Row], arguments: argparse.Namespace) -> None:
    """Keep the figures, and show them in the page."""
    figures = {**vars(arguments), "pairs": [asdict(row) for row in rows]}
    LATEST.write_text(json.dumps(figures, indent=2) + "\n")
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + table(rows) + END + after)


def main() -> None:
    """Read the arguments, measure, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.truth", description=__doc__)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rate", type=float, default=RATE)
    arguments = parser.parse_args()
    rows = []
    for pair in PAIRS:
        print(f"{pair.name} …", file=sys.stderr, flush=True)
        rows.append(measure(pair, **vars(arguments)))
    write(rows, arguments)
    print(table(rows), end="")


if __name__ == "__main__":
    main()
