"""The agent's time and its sessions: the broker's clock, or the sensors'."""

import pytest

from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.decisions import Decided
from schemas.messages.notes import Handled, Quarantined
from schemas.messages.results import ClockTicked, Delivered
from tests.factories import NOON, after, heuristic, pack, pattern
from tests.scenario import Scenario, names, occurred, one, said

HOUR = 3600.0


def simulation(*packs: object) -> Scenario:
    """A scenario in a session whose time is what the sensors say."""
    scenario = Scenario(*packs)  # type: ignore[arg-type]
    scenario.control(SessionStarted(session_id="s", clock="event"))
    return scenario


def reason(turn: object) -> str | None:
    """Why an event was quarantined, if it was."""
    found = said(turn, Quarantined)  # type: ignore[arg-type]
    return found[0].reason if found else None


def test_time_is_the_brokers() -> None:
    """What a sensor says of its time is recorded, and moves nothing."""
    scenario = Scenario()
    turn = scenario.wait(5).sense("x", occurred_at=occurred(after(-60)))

    assert scenario.mind.now == after(5)
    assert turn.outputs[0].at == after(5)
    assert one(turn, Decided).flags == ()


@pytest.mark.parametrize("sign", [-1, 1])
def test_an_implausible_time_is_flagged(sign: int) -> None:
    """More than a day apart, somebody's clock is wrong."""
    scenario = Scenario()
    day = scenario.sense("x", occurred_at=occurred(after(sign * 24 * HOUR)))
    more = scenario.sense("x", occurred_at=occurred(after(sign * (24 * HOUR + 1))))

    assert one(day, Decided).flags == ()
    assert one(more, Decided).flags == ("implausible_time",)


def test_now_never_goes_back() -> None:
    """A broker whose clock is set back does not turn an agent's time."""
    scenario = Scenario()
    scenario.wait(60).sense("x")
    scenario.wait(-30).sense("y")

    assert scenario.mind.now == after(60)


def test_an_event_clock_starts_with_the_first_sensor_event() -> None:
    """The only place where time may go back, or leap as far as it likes."""
    for start in (after(-1000 * HOUR), after(1000 * HOUR)):
        scenario = simulation()
        assert scenario.mind.now == NOON
        scenario.sense("x", occurred_at=occurred(start))
        assert scenario.mind.now == start


def test_an_event_clock_goes_with_its_events() -> None:
    """Inputs that say nothing of their time take the previous now."""
    scenario = simulation()
    scenario.sense("x", occurred_at=occurred(after(-HOUR)))
    scenario.wait(10).sense("y")
    assert scenario.mind.now == after(-HOUR)

    scenario.sense("z", occurred_at=occurred(after(-HOUR + 1.5)))
    assert scenario.mind.now == after(-HOUR + 1.5)


@pytest.mark.parametrize(
    ("step", "why", "now"),
    [
        (-1.0, None, 0.0),
        (-1.000001, "clock", 0.0),
        (24 * HOUR, None, 24 * HOUR),
        (24 * HOUR + 0.000001, "clock", 0.0),
    ],
)
def test_an_event_clock_takes_small_steps(
    step: float, why: str | None, now: float
) -> None:
    """A second back is jitter, which does not turn time; a day ahead is the most."""
    scenario = simulation()
    scenario.sense("x", occurred_at=occurred(NOON))
    turn = scenario.sense("y", occurred_at=occurred(after(step)))

    assert why == reason(turn)
    assert scenario.mind.now == turn.outputs[0].at == after(now)


def test_a_repeated_event_is_a_repeat_and_not_late() -> None:
    """Its time has passed by then, which is no fault of its."""
    scenario = simulation()
    scenario.sense("x", id_="e1", occurred_at=occurred(NOON))
    scenario.sense("y", occurred_at=occurred(after(60)))
    again = scenario.sense("x", id_="e1", occurred_at=occurred(NOON))

    assert one(again, Handled).reason == "duplicate"
    assert scenario.mind.now == after(60)


@pytest.mark.parametrize(
    "end", [SessionEnded(), SessionStarted(session_id="next")], ids=lambda c: c.token
)
def test_time_is_the_brokers_again_when_the_session_ends(end: object) -> None:
    """Also where the next one begins; a future of the simulation is left behind."""
    scenario = simulation()
    scenario.sense("x", occurred_at=occurred(after(1000 * HOUR)))
    scenario.wait(60).control(end)  # type: ignore[arg-type]

    assert scenario.mind.now == after(60)
    scenario.wait(1).sense("y")
    assert scenario.mind.now == after(61)


def test_a_recording_can_be_played_again() -> None:
    """Its second run meets no habits of the first, and decides as that did."""
    scenario = Scenario(pack(setting="game"))

    def play() -> list[str | None]:
        scenario.control(SessionStarted(session_id="s", clock="event"))
        times = [after(-HOUR + 20 * step) for step in range(6)]
        return [
            scenario.decide(
                "dusk falls", occurred_at=occurred(at), salience={"novelty": 1}
            ).silence
            for at in times
        ]

    assert play() == play()


def test_timers_run_by_the_agents_time() -> None:
    """In a simulation they wait for its events, at the end for nothing."""
    garden = pack(
        heuristic("h", "health low", "Rest."), patterns=[pattern("health", "x", 60)]
    )
    scenario = simulation(garden)
    scenario.sense("health low", occurred_at=occurred(after(-HOUR)))
    tick = scenario.wait(600).tell(ClockTicked(due_at=scenario.at))
    event = scenario.sense("y", occurred_at=occurred(after(-HOUR + 60)))

    assert one(tick, Handled).reason == "nothing_due"
    assert names(event) == ["OutcomeExpired", "Decided"]
    assert event.outputs[0].at == after(-HOUR + 60)


def test_a_session_opens_with_the_first_input() -> None:
    """It is known by that input, and has the broker's clock."""
    scenario = Scenario()
    first = scenario.sense("x")
    second = scenario.wait(60).sense("y")
    session = scenario.mind.session

    assert session is not None
    assert (session.clock, session.first_sequence) == ("broker", first.input.sequence)
    assert (session.started_at, session.last_at) == (NOON, after(60))
    assert one(first, Decided).session_id == one(second, Decided).session_id
    assert one(first, Decided).session_id == session.id


def test_echoes_of_a_session_begin_none() -> None:
    """A result or a tick that comes after the end belongs to no session."""
    scenario = Scenario()
    scenario.sense("x")
    scenario.control(SessionEnded())

    scenario.tell(Delivered(ask_id="gone", channel="say"))
    scenario.tell(ClockTicked(due_at=NOON))

    assert scenario.mind.session is None


def test_half_an_hour_ends_a_session() -> None:
    """So long without an input, and the next one begins another."""
    scenario = Scenario()

    def session() -> str | None:
        return one(scenario.sense(f"x{len(scenario.turns)}"), Decided).session_id

    first = session()
    scenario.wait(0.5 * HOUR - 0.001)
    same = session()
    scenario.wait(0.5 * HOUR)
    other = session()

    assert first == same != other
    scenario.wait(HOUR)
    assert names(scenario.control(SessionEnded())) == ["ControlRefused"]


def test_a_started_session_is_open_until_the_next() -> None:
    """Its id, title and clock are those it was started with."""
    scenario = simulation()
    scenario.sense("x", occurred_at=occurred(NOON))
    scenario.wait(60).sense("y", occurred_at=occurred(after(2 * HOUR)))
    session = scenario.mind.session
    assert session is not None
    assert (session.id, session.clock) == ("s", "event")

    scenario.control(SessionStarted(session_id="t", title="Next"))
    session = scenario.mind.session
    assert session is not None
    assert (session.id, session.title, session.clock) == ("t", "Next", "broker")
