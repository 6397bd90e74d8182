"""Ranking: which candidate is tried first."""

from hypothesis import given
from hypothesis import strategies as st

from handlers.mind.strategies.scoring import ranked
from tests.factories import candidate


def ids(*candidates: object) -> list[str]:
    """The ids of candidates in ranked order."""
    return [each.heuristic_id for each in ranked(candidates)]  # type: ignore[arg-type]


def test_similarity_ranks_and_confidence_does_not() -> None:
    """A nearer, less trusted one goes before a farther, trusted one."""
    assert ids(
        candidate("far", similarity=0.6, confidence=0.7),
        candidate("near", similarity=0.9, confidence=0.3),
    ) == ["near", "far"]


def test_near_ties_are_broken_by_confidence() -> None:
    """Within 0.03 of the highest similarity the most trusted comes first."""
    assert ids(
        candidate("a", similarity=0.9, confidence=0.3),
        candidate("b", similarity=0.87, confidence=0.7),
        candidate("c", similarity=0.869999, confidence=0.9),
    ) == ["b", "a", "c"]


def test_equal_ones_go_by_id() -> None:
    """So that the order never depends on how they were found."""
    assert ids(candidate("b"), candidate("a"), candidate("c")) == ["a", "b", "c"]


def test_the_rest_keeps_the_order_of_similarity() -> None:
    """Only the first place is decided by trust."""
    assert ids(
        candidate("a", similarity=0.9, confidence=0.1),
        candidate("b", similarity=0.89, confidence=0.2),
        candidate("c", similarity=0.88, confidence=0.9),
        candidate("d", similarity=0.5, confidence=1.0),
    ) == ["c", "a", "b", "d"]


def test_what_is_not_eligible_is_left_out() -> None:
    """Neither a failed condition nor a frozen heuristic is a choice."""
    assert ids(candidate("a", eligible=False), candidate("b", similarity=0.1)) == ["b"]
    assert ids(candidate("a", eligible=False)) == ids() == []


@given(
    st.permutations(
        [
            candidate("a", similarity=0.9, confidence=0.5),
            candidate("b", similarity=0.9, confidence=0.5),
            candidate("c", similarity=0.88, confidence=0.6),
            candidate("d", similarity=0.8, confidence=0.9),
            candidate("e", similarity=0.8, confidence=0.9, eligible=False),
        ]
    )
)
def test_the_order_of_arrival_does_not_matter(found: list[object]) -> None:
    """Ranking depends on what the candidates are."""
    assert ids(*found) == ["c", "a", "b", "d"]
