"""The ledger of kills: it adds up, and hides no failure."""

import json
from collections import Counter
from datetime import date
from pathlib import Path
from random import Random

import pytest

from bench import kills
from bench.enduring.household import Household

RUNS = json.loads(kills.LEDGER.read_text())


def test_the_ledger_adds_up() -> None:
    """Each run has a seed, a commit and a day, and as many kills as it says."""
    assert RUNS
    for run in RUNS:
        assert set(run) == {
            "date", "commit", "seed", "kills", "kinds", "manners", "events", "faults",
            "outcome",
        }  # fmt: skip
        assert date.fromisoformat(run["date"]) > date(2026, 1, 1)
        assert int(run["commit"], 16)
        assert (
            sum(run["kinds"].values()) == sum(run["manners"].values()) == run["kills"]
        )
        assert set(run["kinds"]) <= set(kills.KINDS)
        assert set(run["manners"]) <= set(kills.MANNERS)
        assert run["events"] > 0
    runs = Counter((run["commit"], run["seed"]) for run in RUNS)
    assert set(runs.values()) == {1}


def test_no_run_hides_a_failure() -> None:
    """Held is what has no faults, and nothing else."""
    for run in RUNS:
        assert run["outcome"] == ("failed" if run["faults"] else "held")


def test_a_run_is_noted_whatever_came_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What held counts towards the thousand, what failed stays in sight."""
    monkeypatch.setattr(kills, "LEDGER", tmp_path / "kills.json")
    done = kills.Campaign(Household(tmp_path), seed=3, rate=1.0)
    done.kinds["worker"] = done.manners["any"] = 2
    assert kills.note(kills.entry(done, 10, "abc")) == 2

    done.found.faults.append("1 lost")
    assert kills.note(kills.entry(done, 10, "abc")) == 2

    kept = json.loads(kills.LEDGER.read_text())
    assert [each["outcome"] for each in kept] == ["held", "failed"]
    assert kept[1]["faults"] == ["1 lost"]


def test_all_kinds_are_killed_as_often() -> None:
    """And of each kind all parts."""
    drawn = list(kills.drawn_parts(30, Random(1)))

    assert Counter(kind for kind, _ in drawn) == dict.fromkeys(kills.KINDS, 6)
    assert {part for _, part in drawn} == {
        part for parts in kills.KINDS.values() for part in parts
    }
