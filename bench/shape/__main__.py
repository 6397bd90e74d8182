"""Measure the shape of the code: `python -m bench.shape [--json] [--list] [--check]`.

- **Import chain**: how many modules the longest chain of imports has, imports within
  functions included. Modules that import each other in a circle count as one after another.
- **Flow**: the function calls really made while one event is answered by a heuristic and
  delivered, in a world in memory that saw a few such events before. It begins where
  `decide` (or `handle`, the whole mind) is entered and ends where that returns. A **room**
  is a module of `handlers` or `projections` in which a function runs; `schemas` is the
  vocabulary that all of them speak. Rooms stand in the order of their first visit; a
  **climb** is a step from one room to the next that stands higher in import order, where
  the order of a module is the length of the longest chain that begins with it.
- **Code lines** hold code: no blank lines, comments or strings that are statements.
- **Comments** are the comments in code lines or on their own, but no directives such as
  `noqa`; they are given for 100 code lines.
- **Single importer**: files of at most 70 lines, of the file's whole length, that one other
  module of the product imports.
- **Public names** are bound in a module and do not begin with an underscore.
- **Types an idea**: the classes whose name has a word of the idea (`bench/shape/concepts.py`).

`--list` names the modules of the chain, the rooms, the small files and the types of each idea.
`--check` ends with 1 where a figure is over its ceiling (`bench/shape/ceilings.py`).
"""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from statistics import median_high
from typing import Any

from bench.shape.ceilings import CEILINGS, over, under
from bench.shape.concepts import types_of
from bench.shape.flow import event, flow_of
from bench.shape.imports import SMALL, imports_of
from bench.shape.lines import text_of, together
from echoic.run.process import prepare

ROOT = Path(__file__).parents[2]
PRODUCT = (
    "schemas", "streams", "projections", "handlers", "replay", "evaluation", "echoic",
    "packs",  # read, so nothing imports them
)  # fmt: skip
ROOMS = ("handlers", "projections")
CORE = ("schemas", "projections", "handlers")
ENTRIES = ("decide", "handle")
FIGURES = (
    "import_chain", "single_importer", "public_names", "comments_per_100", "code_lines",
    "lines", "files", "core_files", "import_lines", "idea_types_median", "idea_types_most",
)  # fmt: skip


def measured() -> dict[str, Any]:
    """Return every figure, and the names behind them."""
    folders = [name for name in PRODUCT if (ROOT / name).is_dir()]
    # Packs are read and never imported, so they have no place in the graph.
    imports = imports_of([name for name in folders if name != "packs"], ROOT)
    files = {name: sorted((ROOT / name).rglob("*.py")) for name in folders}
    texts = {name: text_of(paths) for name, paths in files.items()}
    whole = together(list(texts.values()))
    types = types_of([path for name in folders for path in files[name]])
    counts = [len(each) for each in types.values()]
    sense = event()
    return {
        "import_chain": len(imports.chain),
        "single_importer": len(imports.single_importer),
        "public_names": whole.public_names,
        "comments_per_100": whole.comments_per_100,
        "code_lines": whole.code_lines,
        "lines": whole.lines,
        "files": whole.files,
        "core_files": sum(len(files[name]) for name in CORE if name in files),
        "import_lines": whole.import_lines,
        "idea_types_median": median_high(counts),
        "idea_types_most": max(counts),
        "flows": {
            entry: asdict(flow_of(sense, entry, imports.order, ROOMS))
            for entry in ENTRIES
        },
        "folders": {name: asdict(text) for name, text in texts.items()},
        "chain": imports.chain,
        "small_files": imports.single_importer,
        "types": types,
    }


def show(figures: Mapping[str, Any], *, with_lists: bool) -> None:
    """Print the figures, and on demand the names behind them."""
    for name in FIGURES:
        print(f"{name:<18} {figures[name]:>9,}")
    for entry, flow in figures["flows"].items():
        print(f"{entry:<18} {len(flow['rooms']):>9} rooms, {flow['climbs']} climbs")
    for folder, found in figures["folders"].items():
        print(
            f"{folder:<18} {found['code_lines']:>9,} code lines,"
            f" {found['comments']} comments, {found['public_names']} public names"
        )
    if with_lists:
        print("\nlongest chain:", *figures["chain"], sep="\n  ")
        for entry, flow in figures["flows"].items():
            print(f"\nrooms of {entry}:", *flow["rooms"], sep="\n  ")
        print(f"\nat most {SMALL} lines, one importer:")
        for module, importer in figures["small_files"].items():
            print(f"  {module} <- {importer}")
        print("\ntypes of an idea:")
        for idea, types in figures["types"].items():
            print(f"  {idea} {len(types)}: {', '.join(types)}")


def limited(figures: Mapping[str, Any]) -> dict[str, int]:
    """Return the figures that have a ceiling, by its name."""
    flow = figures["flows"]["decide"]
    own = {"decide_rooms": len(flow["rooms"]), "decide_climbs": flow["climbs"]}
    return {name: own[name] if name in own else figures[name] for name in CEILINGS}


def _check(figures: Mapping[str, int]) -> int:
    """Say what is over a ceiling, and what has left one behind; return the exit code."""
    for line in under(figures):
        print(line)
    wrong = over(figures)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def main() -> None:
    """Measure and print."""
    prepare()
    parser = argparse.ArgumentParser(prog="python -m bench.shape")
    parser.add_argument("--json", action="store_true", help="every figure and name")
    parser.add_argument("--list", action="store_true", help="the names as well")
    parser.add_argument("--check", action="store_true", help="hold the ceilings")
    given = parser.parse_args()
    figures = measured()
    if given.check:
        sys.exit(_check(limited(figures)))
    if given.json:
        print(json.dumps(figures, indent=2))
    else:
        show(figures, with_lists=given.list)


if __name__ == "__main__":
    main()
