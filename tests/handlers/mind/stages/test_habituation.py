"""Habituation: what comes again and again matters less, and recovers."""

import pytest

from handlers.mind.stages.salience import sensitivity
from schemas.state.agent import Habit
from schemas.values.exact_math import exp
from tests.factories import NOON, after, embed

LOW = embed("player health is low")


def habit(*seen_at: float, passed_at: float | None = 0.0) -> Habit:
    """A habit whose events came at such seconds after noon."""
    return Habit(
        vector=LOW,
        named="[]",
        passed_at=None if passed_at is None else after(passed_at),
        seen_at=tuple(after(each) for each in seen_at),
    )


@pytest.mark.parametrize(
    ("elapsed", "tau_s", "expected"),
    [
        (0.0, 60.0, 0.1),
        (60.0, 60.0, 1 - 0.9 / exp(1.0)),
        (120.0, 60.0, 1 - 0.9 / exp(2.0)),
        (180.0, 180.0, 1 - 0.9 / exp(1.0)),
        (1e6, 300.0, 1.0),
    ],
)
def test_sensitivity_recovers(elapsed: float, tau_s: float, expected: float) -> None:
    """s = 1 - 0.9 e^(-t/tau): a tenth at once, whole in the end."""
    held = habit(0.0)

    assert sensitivity(held, after(elapsed), tau_s) == pytest.approx(expected, abs=1e-6)


def test_what_never_passed_is_new() -> None:
    """Only events that passed the gate habituate."""
    assert sensitivity(None, NOON, 60.0) == 1.0
    assert sensitivity(habit(0.0, passed_at=None), NOON, 60.0) == 1.0


def test_what_passed_in_another_time_does_not_count() -> None:
    """A recording that is played again meets no habits of its first run."""
    burst = habit(5.0, 6.0, 7.0, 8.0, passed_at=-50.0)

    assert sensitivity(habit(0.0), after(-100), 60.0) == 1.0
    assert sensitivity(burst, NOON, 60.0) == pytest.approx(
        1 - 0.9 * exp(-50 / 60), abs=1e-6
    )


def test_a_burst_recovers_faster() -> None:
    """The fifth like event within 10 s makes tau 30 s, unless it is shorter already."""
    burst = habit(0.0, 2.0, 4.0, 6.0)
    calm = habit(0.0, 2.0, 4.0)
    slow = habit(0.0, 2.0, 4.0, 6.0)

    assert sensitivity(burst, after(10), 120.0) == pytest.approx(
        1 - 0.9 * exp(-10 / 30), abs=1e-6
    )
    assert sensitivity(burst, after(10), 20.0) == pytest.approx(
        1 - 0.9 * exp(-10 / 20), abs=1e-6
    )
    assert sensitivity(calm, after(10), 120.0) == pytest.approx(
        1 - 0.9 * exp(-10 / 120), abs=1e-6
    )
    assert sensitivity(slow, after(10.001), 120.0) == pytest.approx(
        1 - 0.9 * exp(-10.001 / 120), abs=1e-6
    )
