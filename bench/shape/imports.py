"""The import graph: its longest chain, and files that only one other imports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import grimp

# Lines: the length up to which a file with one importer could be part of that importer.
SMALL = 70


@dataclass(frozen=True, slots=True)
class Imports:
    """What the import graph looks like."""

    order: Mapping[str, int]
    """The length of the longest chain that begins with each module."""
    chain: tuple[str, ...]
    """The longest of all, from its top."""
    single_importer: Mapping[str, str]
    """The one importer of each small file that has no other."""


def imports_of(packages: Sequence[str], root: Path) -> Imports:
    """Read the import graph of packages whose folders stand in `root`."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    below = {
        module: sorted(graph.find_modules_directly_imported_by(module))
        for module in sorted(graph.modules)
    }
    order, chain = _longest_chain(below)
    single = {}
    for module in below:
        importers = graph.find_modules_that_directly_import(module)
        file = root.joinpath(*module.split(".")).with_suffix(".py")
        if len(importers) == 1 and file.is_file() and _length(file) <= SMALL:
            (single[module],) = importers
    return Imports(order, chain, single)


def _length(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def _longest_chain(
    below: Mapping[str, Sequence[str]],
) -> tuple[Mapping[str, int], tuple[str, ...]]:
    """Return the order of each module, and the longest chain from its top."""
    order: dict[str, int] = {}
    chains: dict[str, tuple[str, ...]] = {}
    # The strongest component that a module imports was met before it.
    for circle in _circles(below):
        beyond = [
            each for module in circle for each in below[module] if each not in circle
        ]
        rest = max((chains[each] for each in beyond), key=len, default=())
        for module in circle:
            # Modules that import each other count with their whole circle.
            others = tuple(each for each in circle if each != module)
            chains[module] = (module, *others, *rest)
            order[module] = len(chains[module])
    return order, max(chains.values(), key=len, default=())


def _circles(below: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the strongly connected components, each after those it imports (Tarjan, 1972)."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = lowest[module] = len(index)
        waiting.append(module)
        for each in below[module]:
            if each not in index:
                visit(each)
            # Only components that are still open: a closed one is no part of this circle.
            if each in waiting:
                lowest[module] = min(lowest[module], lowest[each])
        if lowest[module] == index[module]:
            start = waiting.index(module)
            found.append(waiting[start:])
            del waiting[start:]

    for module in below:
        if module not in index:
            visit(module)
    return found
