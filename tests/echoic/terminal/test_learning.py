"""Seeing what was learnt in a terminal: curves, histories, reports, near misses.

The golden files hold whole screens of made-up scenarios; they are renewed by a run with
RENEW_GOLDEN=1, whose difference is read before it is kept.
"""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import RenderableType

from echoic.terminal import confidence_curve, learning
from echoic.terminal.called import program
from echoic.terminal.screen import PLAIN, Terminal, rendered
from evaluation.learning.credit_audit import Fault
from evaluation.learning.history import LearningHistory, learning_history
from evaluation.learning.near_misses import near_misses
from evaluation.learning.summary import read, report
from replay.recording.source import of_file
from tests.evaluation.learning.schooling import THREAT, fire, taught, two_sessions
from tests.replay.evening import evening
from tests.replay.scenarios import recording_of_scenario
from tests.replay.test_formed import recorded as learnt
from tests.replay.test_formed import taught as taught_by_model
from tests.scenario import Scenario

GOLDEN = Path(__file__).parents[2] / "golden" / "screens"


def lines_of(screen: Iterable[RenderableType], terminal: Terminal = PLAIN) -> list[str]:
    """The lines of a screen."""
    return rendered(screen, terminal).split("\n")


def same(name: str, lines: Iterable[str]) -> None:
    """Whether a screen is what its golden file says."""
    file, shown = GOLDEN / f"{name}.txt", "\n".join(lines) + "\n"
    if os.environ.get("RENEW_GOLDEN"):
        file.write_text(shown)
    assert shown == file.read_text()


def curve(found: LearningHistory, width: int) -> list[str]:
    """The curve of the lesson."""
    here = confidence_curve.bounded(Terminal(width))
    moves, threshold = found.of("h"), found.threshold
    return lines_of(
        confidence_curve.curve(found.ends["h"], moves, threshold, here), here
    )


@pytest.mark.parametrize("width", [80, 120, 160])
async def test_a_curve_is_drawn_as_ever(width: int) -> None:
    """With its signals below it, and never wider than the terminal."""
    lines = curve(await learning_history(recording_of_scenario(two_sessions())), width)

    assert max(map(len, lines)) <= width
    same(f"curve_{width}", lines)


async def test_a_curve_has_room_for_any_width() -> None:
    """What is narrower than 80 columns is taken for 80, what is wider for 160."""
    found = await learning_history(recording_of_scenario(two_sessions()))

    assert curve(found, 40) == curve(found, 80)
    assert curve(found, 400) == curve(found, 160)


async def test_a_quick_scenario_has_seconds_on_its_axis() -> None:
    """And one moment alone is a curve as well."""
    scenario = taught()
    scenario.decide("health low")
    found = await learning_history(recording_of_scenario(scenario))

    lines = curve(found, 80)

    assert any(line.count("12:00:00") == 3 for line in lines)
    assert max(map(len, lines)) <= 80


async def test_what_never_moved_has_no_curve() -> None:
    """It stands where it was declared."""
    found = await learning_history(of_file(evening(), "evening"))
    idle = next(known for known in found.ends.values() if not found.of(known.id))

    lines = lines_of(confidence_curve.curve(idle, (), found.threshold))

    assert lines[-1] == "nothing has happened to it: it stands where it was declared"


async def test_many_signals_are_cut_to_the_latest() -> None:
    """The history has all of them."""
    scenario = taught(0.8)
    for _ in range(confidence_curve.SHOWN + 5):
        fire(scenario, "succeeded")
    found = await learning_history(recording_of_scenario(scenario))

    lines = curve(found, 120)

    assert lines[-1] == f"and 6 earlier: {program()} heuristic history rest-when-low"


async def test_a_report_is_one_screen() -> None:
    """Shares over time, calibration, how lessons rose, and credit."""
    found = report([await read(recording_of_scenario(two_sessions()))], has_voices=True)

    lines = lines_of(learning.report(found))

    assert len(lines) < 40
    same("learning_report", lines)


async def test_what_models_taught_is_reported() -> None:
    """How many liked answers became a heuristic, and why others did not."""
    found = report([await read(learnt(taught_by_model()))])

    (line,) = [
        each for each in lines_of(learning.report(found)) if each.startswith("formed")
    ]
    assert line.startswith(f"formed        {found.formed} of ")
    assert "unreadable" in line


async def test_wrong_credit_is_named() -> None:
    """With the input, the heuristic, the rule that it breaks and what was wrong."""
    found = report([await read(recording_of_scenario(two_sessions()))])
    fault = Fault("second_outcome", 12, "m", "h", "fire f")
    wrong = replace(found, faults=(fault,) * 9)

    lines = lines_of(learning.report(wrong))

    named = "input 12, rest-when-low: a second outcome of one fire; fire f"
    assert sum(named in line for line in lines) == 8
    assert "and 1 more" in lines[-1]
    assert "wrong credit  9 of 4 signals" in lines[-10]


async def test_near_misses_are_one_screen() -> None:
    """Thresholds as columns, then the events that came near."""
    scenario = taught(0.55)
    for number in range(3):
        scenario.wait(700).sense("health low", salience=THREAT, id_=f"e{number}")
    found = await near_misses(recording_of_scenario(scenario))

    same("near_misses", lines_of(learning.near_misses(found, {"h": "rest-when-low"})))


async def test_no_near_miss_is_said() -> None:
    """Where nothing was like anything."""
    scenario = Scenario()
    scenario.decide("what nobody knows")
    found = await near_misses(recording_of_scenario(scenario))

    assert "no event came near" in lines_of(learning.near_misses(found, {}))
