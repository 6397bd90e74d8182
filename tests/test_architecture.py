"""The shape of the house: who may import whom, and how long a file may grow."""

import ast
import importlib
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

from handlers.state_sources import PURE

ROOT = Path(__file__).parent.parent
PACKAGES = (
    "schemas",
    "streams",
    "projections",
    "handlers",
    "replay",
    "evaluation",
    "echoic",
)
FOLDERS = (*PACKAGES, "packs", "bench", "docs", "tests")
EXACT = ("schemas", "streams", "projections", "handlers")
"""Where each float is the same on every Python."""
FILE_LINES_MAX = 450
FUNCTION_LINES_MAX = 60


def python_files(folders: tuple[str, ...]) -> Iterator[Path]:
    """Every Python file below `folders`."""
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_come_from_this_repository(package: str) -> None:
    """No installed package of the same name stands before ours."""
    module = importlib.import_module(package)

    assert module.__file__ is not None
    assert Path(module.__file__).is_relative_to(ROOT)


def test_import_contracts_hold() -> None:
    """A layer imports only what lies below it; the pure part stays pure."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert result.returncode == 0, result.stdout


def test_one_list_of_what_is_pure() -> None:
    """Contract, coverage and the ban of clock and chance are of the folders in `PURE`."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    banned = [
        each["source_modules"]
        for each in tools["importlinter"]["contracts"]
        if each["name"].startswith("The pure part")
    ]
    # Each exempts a folder with all below it, or the files of one alone.
    free = [
        Path(pattern.removesuffix("/**")) if pattern.endswith("/**") else Path(pattern)
        for pattern, codes in tools["ruff"]["lint"]["per-file-ignores"].items()
        if "TID251" in codes
    ]
    pure = [path.relative_to(ROOT) for path in python_files(PURE)]

    assert banned == [[name.replace("/", ".") for name in PURE]]
    # What rows hold is seen by tests with a real database, which `make cov` leaves out.
    covered = [f"{name}/*" for name in PURE if name != "projections/rows"]
    assert tools["coverage"]["run"]["include"] == covered
    assert [
        (str(path), str(place))
        for path in pure
        for place in free
        if place in path.parents or ("*" in place.name and place.parent == path.parent)
    ] == []


def test_every_file_has_a_docstring_and_an_end() -> None:
    """Each module says what it is, and none grows past the limit."""
    wrong = [
        f"{path.relative_to(ROOT)}: {reason}"
        for path in python_files(FOLDERS)
        for reason in _complaints(path)
    ]

    assert wrong == []


def test_no_float_is_added_by_the_builtin_sum() -> None:
    """Python 3.12 compensates it and 3.11 does not: `numbers.total` adds the same in all."""
    wrong = [
        f"{path.relative_to(ROOT)}:{name.lineno}: add with schemas.values.exact_math.total"
        for path in python_files(EXACT)
        for name in _unsure_sums(ast.parse(path.read_text()))
    ]

    assert wrong == []


@pytest.mark.parametrize(
    ("source", "is_banned"),
    [
        ("sum(1 for each in found if each)", False),
        ("sum(len(each) for each in found)", False),
        ("sum(each > 1 for each in found)", False),
        ("sum([each is None for each in found])", False),
        ("sum(found)", True),
        ("sum(each.share for each in found)", True),
        ("sum((1 for each in found), 0.5)", True),
        ("sum(1.0 for each in found)", True),
        ("map(sum, found)", True),
        ("found.sum()", False),
    ],
)
def test_a_sum_is_banned_unless_its_numbers_are_seen_to_be_whole(
    source: str, is_banned: bool
) -> None:
    """Literals, lengths, comparisons and what `int` and `round` make are whole."""
    found = list(_unsure_sums(ast.parse(source)))

    assert bool(found) is is_banned


def test_details_quote_by_a_table_of_our_own() -> None:
    """What `repr` escapes follows the Unicode of the Python that runs."""
    shell = {ROOT / "handlers" / name for name in ("effects", "worker")}
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}: quote with schemas.values.unicode_text.quoted"
        for path in python_files(("schemas", "projections/folds", "handlers"))
        if path.name != "unicode_text.py" and not shell & {path, *path.parents}
        for node in ast.walk(ast.parse(path.read_text()))
        if _is_repr(node)
    ]

    assert wrong == []


def _is_repr(node: ast.AST) -> TypeGuard[ast.expr]:
    match node:
        case ast.FormattedValue(conversion=114) | ast.Call(func=ast.Name(id="repr")):
            return True
        case _:
            return False


def _unsure_sums(tree: ast.AST) -> Iterator[ast.Name]:
    """The uses of the builtin `sum` on what may be floats."""
    sure = {id(call.func) for call in ast.walk(tree) if _adds_whole_numbers(call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "sum" and id(node) not in sure:
            yield node


def _adds_whole_numbers(node: ast.AST) -> TypeGuard[ast.Call]:
    match node:
        case ast.Call(
            func=ast.Name(id="sum"),
            args=[ast.GeneratorExp(elt=added) | ast.ListComp(elt=added)],
        ):
            return _is_whole(added)
        case _:
            return False


def _is_whole(added: ast.expr) -> bool:
    match added:
        case ast.Constant(value=int()) | ast.Compare():
            return True
        case ast.Call(func=ast.Name(id="len" | "int" | "bool" | "isinstance")):
            return True
        case ast.Call(func=ast.Name(id="round"), args=[_]):
            return True
        case _:
            return False


def _complaints(path: Path) -> Iterator[str]:
    source = path.read_text()
    tree = ast.parse(source)
    lines = len(source.splitlines())
    if lines > FILE_LINES_MAX:
        yield f"{lines} lines, at most {FILE_LINES_MAX}"
    if ast.get_docstring(tree) is None:
        yield "no docstring"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            length = node.end_lineno - node.lineno + 1
            if length > FUNCTION_LINES_MAX:
                yield f"{node.name} has {length} lines, at most {FUNCTION_LINES_MAX}"
