"""Habituation: what comes again and again matters less, and recovers."""

import pytest

from projections.folds import habits
from schemas.state import limits
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

    assert habits.sensitivity(held, after(elapsed), tau_s) == pytest.approx(
        expected, abs=1e-6
    )


def test_what_never_passed_is_new() -> None:
    """Only events that passed the gate habituate."""
    assert habits.sensitivity(None, NOON, 60.0) == 1.0
    assert habits.sensitivity(habit(0.0, passed_at=None), NOON, 60.0) == 1.0


def test_what_passed_in_another_time_does_not_count() -> None:
    """A recording that is played again meets no habits of its first run."""
    burst = habit(5.0, 6.0, 7.0, 8.0, passed_at=-50.0)

    assert habits.sensitivity(habit(0.0), after(-100), 60.0) == 1.0
    assert habits.sensitivity(burst, NOON, 60.0) == pytest.approx(
        1 - 0.9 * exp(-50 / 60), abs=1e-6
    )


def test_a_burst_recovers_faster() -> None:
    """The fifth like event within 10 s makes tau 30 s, unless it is shorter already."""
    burst = habit(0.0, 2.0, 4.0, 6.0)
    calm = habit(0.0, 2.0, 4.0)
    slow = habit(0.0, 2.0, 4.0, 6.0)

    assert habits.sensitivity(burst, after(10), 120.0) == pytest.approx(
        1 - 0.9 * exp(-10 / 30), abs=1e-6
    )
    assert habits.sensitivity(burst, after(10), 20.0) == pytest.approx(
        1 - 0.9 * exp(-10 / 20), abs=1e-6
    )
    assert habits.sensitivity(calm, after(10), 120.0) == pytest.approx(
        1 - 0.9 * exp(-10 / 120), abs=1e-6
    )
    assert habits.sensitivity(slow, after(10.001), 120.0) == pytest.approx(
        1 - 0.9 * exp(-10.001 / 120), abs=1e-6
    )


def test_like_events_agree_in_words_and_named_fields() -> None:
    """The nearest counts, if it is near enough and its named fields are the same."""
    near = Habit(
        vector=embed("player health is very low"),
        named='[["health",2]]',
        passed_at=None,
        seen_at=(),
    )
    known = (near, Habit(vector=LOW, named="[]", passed_at=None, seen_at=()))

    ten, other = embed("a b c d e f g h i j"), embed("a b c d e f g h i k")
    same = (Habit(vector=ten, named="[]", passed_at=None, seen_at=()),)
    assert habits.find(same, other, "[]", 0.9) == 0
    assert habits.find(same, other, "[]", 0.900001) is None
    assert habits.find((), LOW, "[]", 0.9) is None
    assert habits.find(known, LOW, "[]", 0.9) == 1
    assert habits.find(known, LOW, '[["health",2]]', 0.9) is None
    assert habits.find(known, LOW, '[["health",2]]', 0.85) == 0
    assert habits.find(known, LOW, '[["health",8]]', 0.5) is None


def test_a_new_sort_is_added_and_the_oldest_goes() -> None:
    """So many sorts of one source and type are told apart, and no more."""
    known: tuple[Habit, ...] = ()
    for index in range(limits.HABITS + 1):
        known = habits.seen(known, None, embed(f"w{index}"), "[]", NOON, True)

    assert len(known) == limits.HABITS
    assert known[0].vector == embed("w1")


def test_a_known_sort_is_renewed_and_moves_to_the_end() -> None:
    """An event that did not pass is seen, and does not habituate."""
    first = habits.seen((), None, LOW, "[]", NOON, True)
    both = habits.seen(first, None, embed("dusk falls"), "[]", after(1), False)
    again = habits.seen(both, 0, LOW, "[]", after(5), False)
    passed = habits.seen(again, 1, LOW, "[]", after(9), True)

    assert both[1].passed_at is None
    assert again[1] == habit(0.0, 5.0, passed_at=0.0)
    assert passed[1] == habit(0.0, 5.0, 9.0, passed_at=9.0)
    for _ in range(9):
        passed = habits.seen(passed, 1, LOW, "[]", after(9), True)
    assert len(passed[1].seen_at) == 5
