"""Reminders: what somebody asked for is said at its time, as a decision of its own."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic import ValidationError

from projections.folds import sessions
from schemas.messages.asks import DeliveryAsked
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.decisions import Completed, Decided, Dropped, Held
from schemas.messages.executive import (
    BreakSignalled,
    Muted,
    ReminderSet,
    UserStateChanged,
)
from schemas.messages.results import ClockTicked
from schemas.state import limits
from tests import factories
from tests.factories import heuristic, pack, plain_executive
from tests.scenario import (
    Scenario,
    applied,
    names,
    occurred,
    one,
    output,
    refused,
    said,
)

CALL = ReminderSet(text="Call Lee.", in_s=600.0)


def start(**settings: Any) -> Scenario:
    """A scenario whose answers may wait."""
    own = plain_executive(timing=True, cooldown_s=4.0)
    return Scenario(
        pack(heuristic("wash", "the machine is done", "Hang it up.", 0.9)),
        executive=own,
        **settings,
    )


def tick(scenario: Scenario) -> Any:
    """What happens at a tick of the clock."""
    return scenario.tell(ClockTicked(due_at=scenario.at))


def test_it_is_said_at_its_time_and_then_forgotten() -> None:
    """Its decision is named by itself and by its timer."""
    scenario = start()
    assert applied(scenario.control(CALL)) == "a reminder, in 600 s"
    early = tick(scenario.wait(599))
    turn = tick(scenario.wait(1))

    assert names(early) == ["Handled"]
    assert names(turn) == ["Decided", "DeliveryAsked", "Handled"]
    decided = one(turn, Decided)
    assert (decided.path, decided.source, decided.type, decided.final, decided.text) == (
        "proactive", "echoic", "reminder", True, "Call Lee.",
    )  # fmt: skip
    assert decided.event_id == output(turn, Decided).id
    assert one(turn, DeliveryAsked).text == "Call Lee."
    assert scenario.mind.executive.reminders.awaited == ()
    assert scenario.mind.timers == ()
    assert [each.decision_id for each in scenario.mind.executive.sayings.said] == [
        output(turn, Decided).id
    ]


def test_it_is_said_before_an_event_that_comes_at_its_time() -> None:
    """The event has its own decision, and is remembered by that."""
    scenario = start()
    scenario.control(CALL)
    turn = scenario.wait(700).sense("the machine is done", salience={"threat": 0.9})

    timed, decided = said(turn, Decided)
    assert (timed.type, decided.type) == ("reminder", "vital")
    assert decided.event_id == turn.input.id
    assert decided.timer is None
    memory = scenario.mind.sources["game"]
    assert memory.seen.get(turn.input.id) == turn.outputs[2].id


def test_an_instant_is_kept_and_one_that_is_past_refused() -> None:
    """And so is whatever says nothing, or not when."""
    scenario = start()
    later = scenario.at + timedelta(hours=1)
    scenario.control(ReminderSet(text="Tea.", due_at=later, reminder_id="tea"))

    assert scenario.mind.executive.reminders.awaited[0].due == later
    for wrong in (
        ReminderSet(text="Tea.", due_at=scenario.at),
        ReminderSet(text="Tea."),
        ReminderSet(text=" ", in_s=5.0),
        ReminderSet(text="Tea.", in_s=5.0, due_at=later),
    ):
        assert refused(scenario.control(wrong)) == "invalid"


def test_it_can_be_changed_and_taken_back_by_its_id() -> None:
    """An id that nobody knows is refused."""
    scenario = start()
    scenario.control(ReminderSet(text="Tea.", in_s=60.0, reminder_id="tea"))
    scenario.control(ReminderSet(text="Tea!", in_s=90.0, reminder_id="tea"))

    assert [each.text for each in scenario.mind.executive.reminders.awaited] == ["Tea!"]
    assert len(list(scenario.mind.timers)) == 1
    assert applied(scenario.control(ReminderSet(reminder_id="tea", off=True)))
    assert not scenario.mind.timers
    gone = ReminderSet(reminder_id="tea", off=True)
    assert refused(scenario.control(gone)) == "unknown_reminder"


def test_there_are_not_too_many() -> None:
    """The bound refuses one more rather than forgetting one."""
    scenario = start()
    for place in range(limits.REMINDERS):
        scenario.control(ReminderSet(text="x", in_s=60.0, reminder_id=f"r{place}"))

    assert refused(scenario.control(CALL)) == "invalid"
    again = ReminderSet(text="y", in_s=60.0, reminder_id="r1")
    assert applied(scenario.control(again))


def test_it_waits_while_the_person_is_busy() -> None:
    """It is said at a break."""
    scenario = start()
    scenario.control(UserStateChanged(busy=True))
    scenario.control(CALL)
    held = tick(scenario.wait(600))
    freed = scenario.wait(60).control(BreakSignalled())

    assert names(held) == ["Decided", "Held", "Handled"]
    assert one(held, Decided).timing == one(held, Held).timing == "queued"
    assert names(freed) == ["ControlApplied", "Completed", "DeliveryAsked"]
    assert one(freed, Completed).path == "proactive"
    assert scenario.mind.executive.waiting == ()


def test_an_urgent_one_does_not_wait() -> None:
    """Whatever the person is doing."""
    scenario = start()
    scenario.control(UserStateChanged(busy=True))
    scenario.control(replace(CALL, urgent=True))

    assert "DeliveryAsked" in names(tick(scenario.wait(600)))


def test_one_that_waited_too_long_is_dropped_with_the_reason() -> None:
    """After an hour nobody wants it any more."""
    scenario = start()
    scenario.control(UserStateChanged(busy=True))
    scenario.control(CALL)
    tick(scenario.wait(600))
    late = tick(scenario.wait(3_600))

    assert one(late, Dropped).reason == "stale"
    assert scenario.mind.timers == ()


def test_one_that_came_due_while_nothing_ran_is_stale_after_an_hour() -> None:
    """Until then it is said late."""
    scenario = start()
    scenario.control(CALL)
    scenario.control(ReminderSet(text="Tea.", in_s=4_000.0))
    turn = tick(scenario.wait(4_300))

    assert [each.text for each in said(turn, DeliveryAsked)] == ["Tea."]
    assert [each.reason for each in said(turn, Dropped)] == ["stale"]


@pytest.mark.parametrize(
    ("asked_by", "silence"), [("ada", None), ("lee", "quiet")], ids=["own", "another's"]
)
def test_it_passes_the_quiet_of_whoever_set_it(
    asked_by: str, silence: str | None
) -> None:
    """Another's quiet silences it, with the reason."""
    scenario = start()
    scenario.control(ReminderSet(text="Call Lee.", in_s=60.0, by="ada"))
    scenario.control(Muted(by=asked_by))
    turn = tick(scenario.wait(60))

    assert one(turn, Decided).silence == silence
    assert ("DeliveryAsked" in names(turn)) == (silence is None)
    assert scenario.mind.executive.reminders.awaited == ()


def test_a_mute_keeps_it_for_its_end() -> None:
    """Nothing passes a mute, and what somebody asked for is not lost by one."""
    scenario = start()
    scenario.control(CALL)
    scenario.control(Muted(mode="mute"))
    due = tick(scenario.wait(600))
    later = scenario.wait(7_200).control(Muted(mode="mute", off=True))

    assert not one(due, Decided).final
    assert "DeliveryAsked" not in names(due)
    assert "DeliveryAsked" in names(later)


def test_a_mute_that_ends_by_itself_ends_its_wait() -> None:
    """At that very moment."""
    scenario = start()
    scenario.control(CALL)
    scenario.control(Muted(mode="mute", for_s=3_600.0))
    due = tick(scenario.wait(600))
    before, then = tick(scenario.wait(2_999)), tick(scenario.wait(1))

    assert "DeliveryAsked" not in [*names(due), *names(before)]
    assert "DeliveryAsked" in names(then)


def test_a_mute_without_an_end_keeps_it_beside_others() -> None:
    """One that is over, and one that ends sooner, end its wait no more."""
    scenario = start()
    scenario.control(Muted(mode="mute", for_s=60.0, person="bo"))
    scenario.control(CALL)
    scenario.control(Muted(mode="mute"))
    scenario.control(Muted(mode="mute", for_s=3_600.0, person="ada"))
    due = tick(scenario.wait(600))
    then = tick(scenario.wait(3_600))
    scenario.control(Muted(mode="mute", person="ada", off=True))
    later = scenario.control(Muted(mode="mute", off=True))

    assert "DeliveryAsked" not in [*names(due), *names(then)]
    assert "DeliveryAsked" in names(later)


def test_it_survives_a_restart() -> None:
    """It is part of the state, as each turn's checkpoint shows."""
    scenario = start()
    scenario.control(CALL)
    again = Scenario(agent=scenario.agent, state=scenario.state)
    again.blobs, again.at, again._sequence = scenario.blobs, scenario.at, 50

    assert "DeliveryAsked" in names(tick(again.wait(600)))


def test_a_vote_on_it_credits_no_heuristic() -> None:
    """Nor does anything fail."""
    scenario = start()
    scenario.control(CALL)
    turn = tick(scenario.wait(600))

    assert "FeedbackApplied" in names(scenario.feedback(output(turn, Decided).id))


def test_a_time_that_no_span_fits_on_is_refused() -> None:
    """Nobody could list it in another zone."""
    with pytest.raises(ValidationError, match="between 1001 and 8999"):
        ReminderSet.from_fields({"text": "k", "due_at": "9999-12-31T23:59:59-14:00"})


HOUR = timedelta(hours=1)
AT_TWO = ReminderSet(text="Call Lee.", due_at=factories.NOON + 2 * HOUR)


def playing(scenario: Scenario, at: datetime) -> None:
    """A session begins whose own clock shows this."""
    scenario.control(
        SessionStarted(session_id=f"s{len(scenario.turns)}", clock="event")
    )
    moved(scenario, at)


def moved(scenario: Scenario, at: datetime) -> Any:
    """An event of the session, at this time of its clock."""
    return scenario.sense("the wind blows", occurred_at=occurred(at), type_="wind")


def reminded(turn: Any) -> bool:
    """Whether a turn said what somebody is to be reminded of."""
    return any(each.type == "reminder" for each in said(turn, Decided))


@pytest.mark.parametrize(
    ("own", "goes_s"),
    [
        (factories.NOON, 60.0),
        (factories.NOON, 6.5 * 3_600.0),
        (factories.NOON - timedelta(days=3_650), 60.0),
        (factories.NOON + timedelta(days=3_650), 60.0),
        (factories.NOON + timedelta(days=3_650), 86_000.0),
    ],
    ids=["slower", "faster", "long ago", "far ahead", "far ahead and fast"],
)
def test_an_instant_is_kept_whatever_clock_a_session_has(
    own: datetime, goes_s: float
) -> None:
    """Not a moment earlier and not later: by the clock that it was set by."""
    scenario = start()
    scenario.control(AT_TWO)
    playing(scenario, own)
    early = []
    for _ in range(5):
        own += timedelta(seconds=goes_s)
        early.append(moved(scenario.wait(1_420), own))
    session, due = scenario.mind.session, sessions.next_due(scenario.mind)
    scenario.at = factories.NOON + 2 * HOUR - timedelta(seconds=1)
    early.append(tick(scenario))
    turn = tick(scenario.wait(1))

    assert session is not None
    assert session.clock == "event"
    assert due == AT_TWO.due_at
    assert not any(map(reminded, early))
    assert reminded(turn)
    assert scenario.mind.executive.reminders.awaited == ()


def test_it_is_said_within_a_session_of_its_own_clock() -> None:
    """A tick comes for it, as for any timer, and does not end the session or move it."""
    scenario = start()
    own = factories.NOON - timedelta(days=3_650)
    soon = ReminderSet(text="Call Lee.", due_at=factories.NOON + timedelta(minutes=20))
    scenario.control(soon)
    playing(scenario, own)
    due = sessions.next_due(scenario.mind)
    turn = tick(scenario.wait(1_200))
    decided, asked = one(turn, Decided), one(turn, DeliveryAsked)

    assert due == soon.due_at
    assert (decided.type, decided.text) == ("reminder", "Call Lee.")
    assert asked.expires_at > own
    assert scenario.mind.now == own
    assert scenario.mind.session is not None
    assert scenario.mind.session.clock == "event"


def test_one_that_came_late_lives_as_long_as_it_would_have() -> None:
    """What nobody could tick for is stale by its own clock, not by the session's."""
    scenario = start()
    scenario.control(AT_TWO)
    playing(scenario, factories.NOON)
    # The next input of all comes hours after it.
    turn = moved(scenario.wait(5 * 3_600), factories.NOON + timedelta(minutes=1))

    assert not said(turn, DeliveryAsked)


def test_one_set_by_a_sessions_clock_is_of_that_clock() -> None:
    """There it comes at its time; what is left of it is kept once the session is over."""
    own = factories.NOON - timedelta(days=3_650)
    scenario = start()
    playing(scenario, own)
    scenario.control(ReminderSet(text="Feed it.", due_at=own + HOUR))
    scenario.control(ReminderSet(text="Call Lee.", due_at=own + 3 * HOUR))
    early = moved(scenario.wait(5), own + HOUR - timedelta(seconds=1))
    turn = moved(scenario.wait(5), own + HOUR)
    scenario.control(SessionEnded())
    (left,) = scenario.mind.executive.reminders.awaited

    assert (reminded(early), reminded(turn)) == (False, True)
    assert (left.text, left.due, left.clock) == (
        "Call Lee.",
        scenario.at + 2 * HOUR,
        "",
    )


def test_a_clock_of_the_brokers_that_was_set_back_moves_no_instant() -> None:
    """It is said when that clock shows it, be it later than anybody thought."""
    scenario = start()
    scenario.control(AT_TWO)
    scenario.sense("the wind blows")
    scenario.at -= 3 * HOUR
    scenario.sense("the wind blows")
    (held,) = scenario.mind.executive.reminders.awaited

    assert held.due == AT_TWO.due_at
    assert [each.due for each in scenario.mind.timers] == [AT_TWO.due_at]
