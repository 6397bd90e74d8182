"""Whether a node's leader still hears the majority, by its own words."""

from collections.abc import Sequence

import pytest

from streams.jetstream.majority import is_heard


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
