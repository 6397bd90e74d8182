"""docs/guarantees.md: each promise names a test, and each test that it names exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[^`]+)`", PAGE)
PROMISES = [
    line
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| setting |", "| promise |"))
]
UNTESTED = ("| a broker of your own with the server's default sync |",)
"""Promises that are another's, and said to be so."""


@cache
def named_in(path: str) -> frozenset[str]:
    """The tests that a file holds, found without running it."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    )


@pytest.mark.parametrize("named", [each for each in NAMED if "::" in each])
def test_each_named_test_exists(named: str) -> None:
    """A test that is renamed takes its line along."""
    path, _, name = named.partition("::")

    assert name in named_in(path)


@pytest.mark.parametrize("promise", PROMISES)
def test_each_promise_names_a_test(promise: str) -> None:
    """In its last cell, as a path and a name."""
    cell = promise.rstrip("| ").rpartition(" | ")[2]

    if promise.startswith(UNTESTED):
        assert "not tested here" in cell
    else:
        assert re.fullmatch(r"(`tests/[\w/]+\.py::test_\w+` ?)+", cell), cell


def test_the_page_names_nothing_else() -> None:
    """But this test, which holds it to them."""
    others = {each for each in NAMED if "::" not in each}

    assert others == {"tests/test_guarantees.py"}
    assert len(PROMISES) > 30
