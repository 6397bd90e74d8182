"""The shipped sessions come out the same under every Python that this machine has."""

import json
import os
import subprocess
from functools import cache
from typing import Any

import pytest

from tests import pythons


@cache
def report(minor: str) -> dict[str, Any]:
    """What a Python made of the sessions; skips if there is no such Python."""
    known = pythons.python(minor)
    if known.executable is None:
        pytest.skip(f"Python {known.version or minor}: {known.reason}")
    ran = subprocess.run(
        [known.executable, "-W", "ignore", "-m", "tests.replay.shipped"],
        cwd=pythons.ROOT,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stderr
    made: dict[str, Any] = json.loads(ran.stdout)
    assert made["version"] == known.version
    return made


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("minor", pythons.MINORS)
def test_the_shipped_sessions_verify_under_each_python(minor: str) -> None:
    """Every output of every session is identical to what was recorded."""
    sessions = report(minor)["sessions"]

    shipped = {"evening.echoic", "explored.echoic", "day.echoic"}
    assert shipped <= sessions.keys()
    for found in sessions.values():
        assert found["divergence"] is None
        assert found["identical"] == found["total"] > 300


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("minor", pythons.MINORS)
def test_a_life_of_many_scripts_is_the_same_under_each_python(minor: str) -> None:
    """Sums, words, names and details."""
    own = report(pythons.python(pythons.MINORS[0]).minor)

    assert report(minor)["scenario"] == own["scenario"]
    assert report(minor)["quoted"] == own["quoted"]
