"""The shape of the house: who may import whom, and how long a file may grow."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("schemas", "streams", "projections", "handlers", "replay", "echoic")
FOLDERS = (*PACKAGES, "packs", "bench", "docs", "tests")
FILE_LINES_MAX = 400
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


def test_every_file_has_a_docstring_and_an_end() -> None:
    """Each module says what it is, and none grows past the limit."""
    wrong = [
        f"{path.relative_to(ROOT)}: {reason}"
        for path in python_files(FOLDERS)
        for reason in _complaints(path)
    ]

    assert wrong == []


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
            length = _length(node)
            if length > FUNCTION_LINES_MAX:
                yield f"{node.name} has {length} lines, at most {FUNCTION_LINES_MAX}"


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function, its docstring not counted."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body or body[-1].end_lineno is None:
        return 0
    return body[-1].end_lineno - body[0].lineno + 1
