"""The hours that `python -m bench.cluster` plays."""

from datetime import datetime, timedelta
from itertools import pairwise

import orjson
import pytest

from bench.cluster import Counts
from bench.hours import Sent, hours
from echoic.client.playback import PlayedEvent, PlayedVote


def test_an_hour_is_the_evening_again_and_again() -> None:
    """Later each time, under ids of its own, and the same for who asks again."""
    items = list(hours("ada", 60))
    events = [each for each in items if isinstance(each, PlayedEvent)]
    votes = [each for each in items if isinstance(each, PlayedVote)]
    times = [
        datetime.fromisoformat(orjson.loads(each.wire.body)["occurred_at"])
        for each in events
    ]

    assert len(events) > 1_000
    assert len(votes) > 20
    assert all(one <= other for one, other in pairwise(times))
    assert timedelta(minutes=59) < times[-1] - times[0] < timedelta(minutes=60)
    assert len({each.id for each in events}) == len(events)
    assert {each.event_id for each in votes} < {each.id for each in events}
    assert items == list(hours("ada", 60))
    assert events[0].id != next(hours("bob", 60)).id  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fault", "is_sound"),
    [
        ({}, True),
        ({"lost": 1}, False),
        ({"undecided": 1}, False),
        ({"decided_twice": 1}, False),
        ({"stored_twice": 1}, True),
        ({"log": {"a": 7, "b": 7, "c": 6}}, False),
        ({"log": {"a": 7, "b": 7}}, False),
        ({"proofs": {"log verify": 1}}, False),
    ],
)
def test_one_fault_is_enough(fault: dict[str, object], is_sound: bool) -> None:
    """Only what is merely stored twice is refused by the mind, and does no harm."""
    whole: dict[str, object] = {
        "sent": Sent(), "killed": "a", "lost": 0, "stored_twice": 0, "undecided": 0,
        "decided_twice": 0, "log": {"a": 7, "b": 7, "c": 7}, "waited_s": 0.0,
        "proofs": {"log verify": 0},
    }  # fmt: skip

    assert Counts(**{**whole, **fault}).is_sound is is_sound  # type: ignore[arg-type]
