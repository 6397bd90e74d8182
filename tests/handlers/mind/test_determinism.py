"""The same inputs give the same bytes, on whatever machine and setting."""

import os
import subprocess
import sys
from collections import Counter

from tests.handlers.mind.fixed_scenario import played, summary

SETTINGS = {
    "hash seed 1, one thread": {"PYTHONHASHSEED": "1", "OPENBLAS_NUM_THREADS": "1"},
    "hash seed 2, old processor": {
        "PYTHONHASHSEED": "2",
        "OPENBLAS_CORETYPE": "Nehalem",
        "OPENBLAS_NUM_THREADS": "2",
    },
}


def test_the_fixed_scenario_holds_every_sort_of_answer() -> None:
    """What is compared below is worth comparing."""
    said = Counter(type(each).__name__ for each in played().outputs())

    assert set(said) >= {
        "Decided",
        "HeuristicFired",
        "ModelAsked",
        "Completed",
        "DeliveryAsked",
        "OutcomeObserved",
        "OutcomeExpired",
        "FeedbackApplied",
        "ControlApplied",
        "Quarantined",
        "Handled",
    }


def test_other_processes_get_the_same_bytes() -> None:
    """Under another hash seed, number of threads and kind of processor."""
    expected = summary(played())
    runs = {
        name: subprocess.Popen(
            [sys.executable, "-m", "tests.handlers.mind.fixed_scenario"],
            env=os.environ | changes,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, changes in SETTINGS.items()
    }
    printed = {name: run.communicate()[0].strip() for name, run in runs.items()}

    assert printed == dict.fromkeys(SETTINGS, expected)
