"""When the mind was in which stage."""

from typing import get_args

from handlers.worker.timing import StageClock, Times
from schemas.ports.probe import Stage


def times(**entered: int) -> Times:
    """The times of an input that was decided from 100 to 200."""
    stages = {stage: entered[stage] for stage in get_args(Stage) if stage in entered}
    return Times(picked_up_ns=90, started_ns=100, decided_ns=200, entered=stages)


def test_a_stage_ends_where_the_next_begins() -> None:
    """The last one ends with the group."""
    found = times(salience=110, match=140, messages=170)

    assert found.periods()["salience"] == (110, 140)
    assert found.periods()["match"] == (140, 170)
    assert found.periods()["messages"] == (170, 200)
    assert found.periods().get("choose") is None
    assert times().periods() == {}


def test_a_second_attempt_counts() -> None:
    """An input whose timers were at fault is answered again, and that is the answer."""
    found = times(salience=150, gate=160, match=120)

    assert found.periods()["salience"] == (150, 160)
    assert found.periods()["gate"] == (160, 200)


def test_the_clock_notes_what_is_entered() -> None:
    """In order, between the beginning and the end."""
    clock = StageClock()
    clock.enter("salience")
    clock.enter("messages")
    found = clock.times(picked_up_ns=1)

    (first, at), (second, later) = found.entered.items()
    assert (found.picked_up_ns, first, second) == (1, "salience", "messages")
    assert found.started_ns <= at <= later <= found.decided_ns
