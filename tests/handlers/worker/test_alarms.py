"""When a tick is due: at an agent's earliest timer, by its own clock."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from immutables import Map

from handlers.worker.clock import Alarms
from schemas.state.agent import AgentState, PartitionState, Session, Timer

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Clock:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        """Stand at noon."""
        self.now = NOON

    def __call__(self) -> datetime:
        """Tell the time."""
        return self.now


def with_timers(
    *seconds: float, clock: Literal["broker", "event"] = "broker"
) -> AgentState:
    """An agent with timers so many seconds after noon."""
    session = Session(
        id="s", title="", clock=clock, first_sequence=1, started_at=NOON, last_at=NOON
    )
    timers = tuple(
        Timer(due=NOON + timedelta(seconds=each), id=str(each), purpose="model")
        for each in sorted(seconds)
    )
    return AgentState(session=session, timers=timers)


def test_without_timers_there_is_nothing_to_wait_for() -> None:
    """No timer, no alarm; a timer that goes takes its alarm along."""
    alarms = Alarms(Clock())
    before = alarms.wait_s()
    alarms.note(1, "ada", with_timers(5))
    alarms.note(1, "ada", with_timers())

    assert before is None
    assert alarms.wait_s() is None


def test_the_earliest_timer_of_all_counts() -> None:
    """The wait is for the first timer of any agent, and never negative."""
    clock = Clock()
    alarms = Alarms(clock)
    alarms.note(1, "ada", with_timers(9, 5))
    alarms.note(2, "bob", with_timers(7))
    early = alarms.wait_s()
    clock.now += timedelta(seconds=60)

    assert early == 5
    assert alarms.wait_s() == 0


def test_a_tick_is_repeated_while_its_timer_stands() -> None:
    """A tick that came too early by the broker's clock is made again, but not at once."""
    clock = Clock()
    alarms = Alarms(clock)
    alarms.note(1, "ada", with_timers(5))
    clock.now += timedelta(seconds=5)

    first = [alarm.agent for alarm in alarms.ring()]
    alarms.note(1, "ada", with_timers(5))
    at_once = list(alarms.ring())
    clock.now += timedelta(seconds=1)
    later = [(alarm.agent, alarm.due) for alarm in alarms.ring()]

    assert first == ["ada"]
    assert at_once == []
    assert later == [("ada", NOON + timedelta(seconds=5))]


def test_a_session_that_keeps_the_time_of_its_events_has_no_ticks() -> None:
    """Only events move such an agent's time; a tick would tell it nothing."""
    alarms = Alarms(Clock())

    alarms.note(1, "ada", with_timers(5, clock="event"))

    assert alarms.wait_s() is None


def test_a_partition_folded_again_brings_its_own_timers() -> None:
    """What was known of the partition's timers before is forgotten."""
    alarms = Alarms(Clock())
    alarms.note(1, "ada", with_timers(5))
    alarms.note(2, "bob", with_timers(9))

    alarms.note_all(1, PartitionState(agents=Map({"cleo": with_timers(7)})))

    assert alarms.wait_s() == 7


def test_a_timer_that_moves_back_and_forth_rings_once() -> None:
    """However often timers change, each agent has one alarm, and little is kept of old ones."""
    clock = Clock()
    alarms = Alarms(clock)
    for turn in range(1_000):
        alarms.note(1, "ada", with_timers(5 + turn % 2))
        alarms.note(1, "bo", with_timers(7 + turn))
    alarms.note(1, "ada", with_timers(5))
    clock.now += timedelta(seconds=6)

    assert [each.agent for each in alarms.ring()] == ["ada"]
    assert alarms.ring() == []
    assert alarms.wait_s() == 1.0
    assert len(alarms._times) < 100
