"""How large the code may be at most: figures that only fall, and where they are to go.

`python -m bench.shape --check` holds the tree against them; `make docs` writes them into
`docs/architecture.md`. A figure that fell takes its ceiling down with it. That of lines may
be raised by what an ADR names; no other is ever raised.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Ceiling(NamedTuple):
    """The most that a figure may be now, what it was at first, and is to become."""

    most: int
    first: int
    """Of the tree of 2026-11-24, before any was held."""
    aim: int
    counted: str
    """What is counted, for the table in the docs."""


CEILINGS: Mapping[str, Ceiling] = {
    "files": Ceiling(912, 905, 640, "files of the product"),
    "lines": Ceiling(134_600, 119_445, 108_000, "lines of the product"),
    "core_files": Ceiling(
        365, 368, 240, "files of `schemas`, `projections` and `handlers`"
    ),
    "import_lines": Ceiling(10_532, 9_783, 6_500, "lines of imports"),
    "public_names": Ceiling(4_649, 5_005, 2_800, "public names"),
    "idea_types_median": Ceiling(9, 10, 4, "types an idea, median"),
    "idea_types_most": Ceiling(41, 37, 8, "types an idea, at most"),
    "import_chain": Ceiling(49, 47, 28, "modules of the longest chain of imports"),
    "decide_rooms": Ceiling(39, 39, 16, "rooms of `decide`"),
    "decide_climbs": Ceiling(15, 15, 4, "climbs of `decide`"),
}

BEGINS, ENDS = "<!-- ceilings begin -->\n", "<!-- ceilings end -->\n"
"""Between these stands the table of a page."""


def over(figures: Mapping[str, int]) -> list[str]:
    """Return a sentence for each figure that is over its ceiling."""
    return [
        f"{figures[name]:,} {each.counted}: at most {each.most:,} (bench/shape/ceilings.py)"
        for name, each in CEILINGS.items()
        if figures[name] > each.most
    ]


def under(figures: Mapping[str, int]) -> list[str]:
    """Return a line for each ceiling that a figure has left behind."""
    return [
        f"{name}: {figures[name]:,}, lower its ceiling of {each.most:,}"
        for name, each in CEILINGS.items()
        if figures[name] < each.most
    ]


def page(text: str) -> str:
    """Return a page with the table of the ceilings between its marks.

    Raises:
        ValueError: the page lacks a mark.
    """
    before, begins, rest = text.partition(BEGINS)
    _, ends, after = rest.partition(ENDS)
    if not (begins and ends):
        raise ValueError("the page has no marks for the table of ceilings")
    rows = (
        f"| {each.counted} | {each.first:,} | {each.most:,} | {each.aim:,} |\n"
        for each in CEILINGS.values()
    )
    table = "".join(("| figure | first | at most | aim |\n|---|---|---|---|\n", *rows))
    return f"{before}{BEGINS}{table}{ENDS}{after}"
