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
from math import hypot
from pathlib import Path
from statistics import fmean, stdev
from typing import TypeVar

from bench.truth.measuring import Lived, Pair, explored, lived
from evaluation.ope.estimate import estimate
from evaluation.ope.intervals import quantile
from schemas.values.settings import StrategySpec

T = TypeVar("T")

LATEST = Path(__file__).with_name("latest.json")
PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"
BEGIN, END = "<!-- truth begins -->\n", "<!-- truth ends -->\n"
# One step is a second of the game; sessions of 700 are as long as the shipped recording.
SESSIONS, STEPS, RATE = 40, 700, 0.4
LIVED = 80
"""Sessions by which the truth is measured, which has an error of its own."""
FIRST_SEED = 100

CHANCE = 1.96
"""The normal quantile of 0.975: 19 in 20 differences are within so many errors."""

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
    apart: float | None
    """How many standard errors of both lie between estimate and truth."""
    baseline_value: float
    challenger_value: float


def measure(
    pair: Pair, sessions: int, lived_sessions: int, steps: int, rate: float
) -> Row:
    """Estimate one pair, then play both sides."""
    seeds = range(FIRST_SEED, FIRST_SEED + sessions)
    recorded = _each(partial(explored, pair, steps=steps, rate=rate), seeds)
    found = estimate([row for session in recorded for row in session.rows])
    # Worlds of their own, so that what was estimated and what is true share no luck.
    others = range(FIRST_SEED + 1000, FIRST_SEED + 1000 + lived_sessions)
    ours = _each(partial(lived, pair.baseline, steps=steps), others)
    theirs = _each(partial(lived, pair.challenger, steps=steps), others)
    truth, error = _difference(ours, theirs)
    # Student's t with n - 1 degrees of freedom: the error is itself estimated.
    reach = quantile(lived_sessions - 1) * error
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
        truth_interval=(truth - reach, truth + reach),
        apart=_apart(difference.dr, difference.se, truth, error) if is_told else None,
        baseline_value=_value(ours),
        challenger_value=_value(theirs),
    )


def _each(play: Callable[[int], T], seeds: Sequence[int]) -> list[T]:
    with ProcessPoolExecutor() as processes:
        return list(processes.map(play, seeds))


def _value(sessions: Sequence[Lived]) -> float:
    """Return the mean outcome of a decision, over all of them."""
    return sum(each.total for each in sessions) / sum(each.known for each in sessions)


def _difference(ours: Sequence[Lived], theirs: Sequence[Lived]) -> tuple[float, float]:
    """Return challenger less baseline over the worlds that both played, with its error."""
    # Both sides played the same worlds: paired differences leave out what the worlds share.
    off = [
        _influence(second, theirs) - _influence(first, ours)
        for first, second in zip(ours, theirs, strict=True)
    ]
    return _value(theirs) - _value(ours), stdev(off) / len(off) ** 0.5


def _apart(
    estimated: float | None, error: float | None, truth: float, truth_error: float
) -> float | None:
    if estimated is None or error is None:
        return None
    return abs(estimated - truth) / hypot(error, truth_error)


def _influence(session: Lived, of: Sequence[Lived]) -> float:
    """Return a session's influence on the ratio of means (delta method)."""
    known = fmean(each.known for each in of)
    return (session.total - _value(of) * session.known) / known


def table(rows: Sequence[Row]) -> str:
    """Return the figures as a table of the page."""
    lines = [
        "| challenger | flips | flip observations | verdict | estimated Δ"
        " | interval or bounds | true Δ | its interval | hit |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(_line, rows)]) + "\n"


def _line(row: Row) -> str:
    low, high = row.interval or row.bounds
    kind = "" if row.interval else " (bounds)"
    estimated = "none" if row.estimated is None else f"{row.estimated:+.3f}"
    truth_low, truth_high = row.truth_interval
    return (
        f"| {row.pair} | {row.flip_share:.1%} | {row.flip_observations:.0f}"
        f" | {row.verdict} | {estimated} | [{low:+.3f}, {high:+.3f}]{kind}"
        f" | {row.truth:+.3f} | [{truth_low:+.3f}, {truth_high:+.3f}] | {_hit(row)} |"
    )


def _hit(row: Row) -> str:
    """Return whether the truth lies where it was said to lie."""
    low, high = row.interval or row.bounds
    if low <= row.truth <= high:
        return "yes"
    if row.apart is not None and row.apart < CHANCE:
        return f"within chance ({row.apart:.1f} errors apart)"
    return "**no**" if row.apart is None else f"**no** ({row.apart:.1f} errors apart)"


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
    parser.add_argument("--lived-sessions", type=int, default=LIVED)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--show", action="store_true", help="print only, write nothing")
    arguments = parser.parse_args()
    is_shown = vars(arguments).pop("show")
    rows = []
    for pair in PAIRS:
        print(f"{pair.name} …", file=sys.stderr, flush=True)
        rows.append(measure(pair, **vars(arguments)))
    if not is_shown:
        write(rows, arguments)
    print(table(rows), end="")


if __name__ == "__main__":
    main()
