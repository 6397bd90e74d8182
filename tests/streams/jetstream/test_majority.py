"""Whether a node still reaches the majority, by its own words."""

from collections.abc import Sequence

import pytest

from streams.jetstream.majority import is_heard, is_minority


@pytest.mark.parametrize(
    ("silent_s", "expected"),
    [
        ((), True),
        ((0.2, 0.9), True),
        ((0.2, 60.0), True),
        ((5.0, 60.0), False),
        ((0.2, 0.3, 60.0, 60.0), True),
        ((0.2, 60.0, 60.0, 60.0), False),
    ],
)
def test_the_leader_counts_itself(silent_s: Sequence[float], expected: bool) -> None:
    """It and those it heard lately have to be more than half; alone, it is all there is."""
    others = [{"name": "other", "active": int(each * 1e9)} for each in silent_s]

    assert is_heard({"leader": "this", "replicas": others}) is expected


def test_without_replicas_one_is_the_majority() -> None:
    """A broker that is one node alone says nothing of others."""
    assert is_heard({})


def test_a_replica_that_answers_for_no_leader_is_no_majority() -> None:
    """A candidate tells that it heard all others just now."""
    others = [{"name": "other", "active": 0, "offline": True}] * 2

    assert not is_heard({"replicas": others})


@pytest.mark.parametrize(
    ("told", "most", "expected"),
    [
        (3, 3, False),
        (2, 3, False),
        (1, 3, True),
        (2, 4, True),
        (1, 1, False),
        (0, 3, False),
    ],
)
def test_a_node_is_of_the_majority_of_those_it_has_told_of(
    told: int, most: int, expected: bool
) -> None:
    """Half of them is none; who tells of nobody may keep all for itself."""
    assert is_minority(told, most) is expected
