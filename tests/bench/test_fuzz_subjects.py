"""The fuzz of subjects, in short: all that the broker acknowledged is answered."""

from pathlib import Path

import pytest

from bench.fuzz import subjects

pytestmark = [pytest.mark.services, pytest.mark.slow]


def test_whatever_is_acknowledged_is_answered(tmp_path: Path) -> None:
    """By a sensor's account and by Echoic's own; meanwhile a neighbour is answered, too."""
    found = subjects.run(600, "short", tmp_path)

    assert found.faults == []
    answers = found.figures["answers to what was acknowledged"]
    assert isinstance(answers, dict)
    assert {"decided", "quarantined bad_subject", "quarantined invalid"} <= set(answers)
    assert found.figures["strays"]
