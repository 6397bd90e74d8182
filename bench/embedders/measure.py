"""Measure from which cosine on an embedder's texts count as alike.

Run from the root of the project:

    python -m bench.embedders.measure [EMBEDDER]

It reads the labelled pairs beside it and prints, for each use, precision and recall at
each limit. Traps (low and full, on and not on) are no part of them: no limit separates
them, a condition's `when` does. How many of them a limit lets through is printed too.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from echoic.embedders import embedder
from schemas.values.vectors import Embedder, cosine

PAIRS = Path(__file__).with_name("pairs.jsonl")
STEPS = tuple(step / 100 for step in range(5, 100, 5))

Use = Literal["match", "duplicate", "endorse", "goal"]
WANTED_PRECISION: dict[Use, float] = {
    "match": 0.95,
    "duplicate": 0.99,
    "endorse": 0.95,
    "goal": 0.95,
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts and whether they ought to count as alike for a use."""

    use: Use
    label: Literal["same", "other", "trap"]
    domain: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Row:
    """Precision and recall of one limit."""

    limit: float
    precision: float
    recall: float
    traps: float
    """The share of the traps that passes."""


def main() -> None:
    """Print a table for each use."""
    chosen = embedder(sys.argv[1] if len(sys.argv) > 1 else "wordllama")
    pairs = read_pairs()
    print(f"{chosen.name} ({chosen.dimension} dimensions), {len(pairs)} pairs")
    for use in get_args(Use):
        rows = measure([pair for pair in pairs if pair.use == use], chosen)
        print_table(use, rows, getattr(chosen.limits, use))


def read_pairs() -> list[Pair]:
    """Read the labelled pairs."""
    lines = PAIRS.read_text(encoding="utf-8").splitlines()
    return [Pair(**json.loads(line)) for line in lines]


def measure(pairs: list[Pair], chosen: Embedder) -> list[Row]:
    """Return what each limit does to the pairs of one use."""
    vectors = chosen.embed([text for pair in pairs for text in (pair.a, pair.b)])
    scores: dict[str, list[float]] = {"same": [], "other": [], "trap": []}
    for pair, a, b in zip(pairs, vectors[::2], vectors[1::2], strict=True):
        scores[pair.label].append(cosine(a, b))
    return [_row(limit, scores) for limit in STEPS]


def lowest(rows: list[Row], precision: float) -> float | None:
    """Return the lowest limit from which on the precision is reached."""
    reached = None
    # From the top down: precision need not grow with the limit, and one that dips again
    # above a limit disqualifies it.
    for row in reversed(rows):
        if row.precision < precision:
            break
        reached = row.limit
    return reached


def print_table(use: Use, rows: list[Row], shipped: float) -> None:
    """Print the rows of one use and the limit that follows from them."""
    wanted = WANTED_PRECISION[use]
    print(
        f"\n{use}: precision of {wanted} from {lowest(rows, wanted)}, ships {shipped}"
    )
    print("limit  precision  recall  traps let through")
    for row in rows:
        mark = " <" if row.limit == shipped else ""
        print(
            f" {row.limit:.2f}      {row.precision:.2f}     {row.recall:.2f}   "
            f"{row.traps:.2f}{mark}"
        )


def _row(limit: float, scores: dict[str, list[float]]) -> Row:
    passed = {
        label: sum(score >= limit for score in all_) for label, all_ in scores.items()
    }
    claimed = passed["same"] + passed["other"]
    return Row(
        limit=limit,
        # Where nothing passes nothing is claimed wrongly.
        precision=passed["same"] / claimed if claimed else 1.0,
        recall=passed["same"] / len(scores["same"]),
        traps=passed["trap"] / len(scores["trap"]) if scores["trap"] else 0.0,
    )


if __name__ == "__main__":
    main()
