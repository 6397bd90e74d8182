"""Habits: sorts of events that came lately, by which like ones are known."""

from projections.folds import events
from schemas.state import limits
from schemas.state.agent import Habit
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
    assert events.nearest_habit(same, other, "[]", 0.9) == 0
    assert events.nearest_habit(same, other, "[]", 0.900001) is None
    assert events.nearest_habit((), LOW, "[]", 0.9) is None
    assert events.nearest_habit(known, LOW, "[]", 0.9) == 1
    assert events.nearest_habit(known, LOW, '[["health",2]]', 0.9) is None
    assert events.nearest_habit(known, LOW, '[["health",2]]', 0.85) == 0
    assert events.nearest_habit(known, LOW, '[["health",8]]', 0.5) is None


def test_a_new_sort_is_added_and_the_oldest_goes() -> None:
    """So many sorts of one source and type are told apart, and no more."""
    known: tuple[Habit, ...] = ()
    for index in range(limits.HABITS + 1):
        known = events.renewed(known, None, embed(f"w{index}"), "[]", NOON, True)

    assert len(known) == limits.HABITS
    assert known[0].vector == embed("w1")


def test_a_known_sort_is_renewed_and_moves_to_the_end() -> None:
    """An event that did not pass is seen, and does not habituate."""
    first = events.renewed((), None, LOW, "[]", NOON, True)
    both = events.renewed(first, None, embed("dusk falls"), "[]", after(1), False)
    again = events.renewed(both, 0, LOW, "[]", after(5), False)
    passed = events.renewed(again, 1, LOW, "[]", after(9), True)

    assert both[1].passed_at is None
    assert again[1] == habit(0.0, 5.0, passed_at=0.0)
    assert passed[1] == habit(0.0, 5.0, 9.0, passed_at=9.0)
    for _ in range(9):
        passed = events.renewed(passed, 1, LOW, "[]", after(9), True)
    assert len(passed[1].seen_at) == 5
