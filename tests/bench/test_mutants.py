"""Mutants: what counts as killed, and what does not."""

import json
import subprocess
import sys
from pathlib import Path

from bench.mutants.mutating import mutants

ROOT = Path(__file__).parents[2]
TOY = '''
"""A module to change."""


def larger(a: int, b: int = 1) -> int:
    """The larger of two."""
    return a if a > b else b


def counted(count: int) -> int:
    """Count down."""
    steps = 0
    while count > 0:
        count = count - 1
        steps += 1
    return steps


def unseen(a: bool, b: bool) -> bool:
    """Nobody calls it."""
    return a and not b
'''
TESTS = """
import sys
sys.path.insert(0, {folder!r})
from toy import counted, larger


def test_larger():
    assert larger(2, 1) == 2
    assert larger(1, 2) == 2


def test_counted():
    assert counted(3) == 3


def test_fails_anyway():
    assert larger(1, 1) == 2
"""


def test_one_place_is_changed_at_a_time(tmp_path: Path) -> None:
    """Of all kinds; no default, no annotation, no docstring."""
    toy = tmp_path / "toy.py"
    toy.write_text(TOY)

    changed = {(each.function, each.before, each.after) for each in mutants(toy)}

    assert {
        ("larger", "a > b", "a >= b"),
        ("larger", "return a if a > b else b", "return None"),
        ("counted", "count > 0", "count >= 0"),
        ("counted", "0", "1"),
        ("counted", "count - 1", "count + 1"),
        ("unseen", "a and (not b)", "a or not b"),
        ("unseen", "not b", "b"),
    } <= changed
    assert not [each for each in changed if each[0] == "larger" and each[1] == "1"]


def test_only_a_test_that_passes_without_it_kills(tmp_path: Path) -> None:
    """One that fails anyway kills nothing, and what never ends is told as that."""
    toy, tests = tmp_path / "toy.py", tmp_path / "test_toy.py"
    toy.write_text(TOY)
    tests.write_text(TESTS.format(folder=str(tmp_path)))

    told = subprocess.run(
        [sys.executable, "-m", "bench.mutants", toy, "--tests", tests, "--json"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout.splitlines()[-1])
    assert [each.rpartition("::")[2] for each in found["failing"]] == [
        "test_fails_anyway"
    ]
    fates = {
        each.partition(": `")[2]: each.partition(":")[0] for each in found["missed"]
    }
    assert fates["a > b` → `a >= b`"] == "survived"
    assert fates["count - 1` → `count + 1`"] == "over time"
    assert fates["not b` → `b`"] == "uncovered"
    assert "return steps` → `return None`" not in fates
    assert found["killed"] >= 4
    judged = found["mutants"] - found.get("impossible", 0)
    assert found["score"] == round(found["killed"] / judged, 3)
