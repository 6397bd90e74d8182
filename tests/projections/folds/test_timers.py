"""Deadlines belong to a clock: what was waited for when an agent's clock changes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from handlers.mind.turn import Turn
from handlers.worker.clock import Alarms
from projections.folds import sessions, timers
from projections.folds.learning import rapport
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import (
    ExperimentStarted,
    HeuristicSeeded,
    SessionEnded,
    SessionStarted,
    SleepRequested,
)
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.experiments import Variant
from schemas.messages.learning import FeedbackApplied, OutcomeExpired, OutcomeObserved
from schemas.messages.notes import Handled
from schemas.messages.results import ClockTicked
from schemas.messages.sleep import SleepEnded
from tests.factories import MODEL, NOON, after, heuristic, pack, pattern
from tests.scenario import Scenario, applied, names, occurred, one, refused, said

DAY = 24 * 3600.0
YEAR = 365 * DAY
HOURS = 3600.0
LOW = "health low"
GARDEN = pack(
    heuristic("drink", LOW, "Drink.", confidence=0.8),
    patterns=[pattern("health", "health restored", 60)],
    setting="game",
)
HINTS = {"novelty": 1.0}

FAR = [50 * YEAR, 160 * YEAR, -160 * YEAR, 30 * DAY, -30 * DAY]
"""How far an event's clock is ahead of the broker's."""


def undoable(**settings: Any) -> Scenario:
    """A scenario in which advice may be taken back, and a model may be asked."""
    return Scenario(GARDEN, **{"learning": {"undo_s": 30.0}, **settings})


def playing(scenario: Scenario, ahead_s: float) -> Scenario:
    """The scenario in a session whose first event is so far ahead of the broker's time."""
    scenario.control(
        SessionStarted(session_id=f"s{len(scenario.turns)}", clock="event")
    )
    at = scenario.at + timedelta(seconds=ahead_s)
    scenario.sense("the wind blows", occurred_at=occurred(at), intent="informational")
    return scenario


def advised(scenario: Scenario) -> Turn:
    """Advice that was given, of which something may come."""
    turn = scenario.sense(LOW, salience=HINTS)
    assert one(turn, Decided).path == "heuristic"
    assert scenario.mind.fires
    assert scenario.mind.shown
    return turn


def asked(scenario: Scenario, **event: Any) -> Turn:
    """A model that was asked, with an answer worth something for thirty seconds."""
    turn = scenario.sense("a stranger comes", salience=HINTS, **event)
    assert one(turn, ModelAsked).ttl_s == 30.0
    return turn


def tick(scenario: Scenario) -> Turn:
    """A tick of the clock."""
    return scenario.tell(ClockTicked(due_at=scenario.at))


@pytest.mark.parametrize("ahead_s", FAR)
def test_an_outcome_after_the_session_credits_nothing_of_it(ahead_s: float) -> None:
    """Nor does an undo take back what was advised by another clock."""
    scenario = playing(undoable(), ahead_s)
    advised(scenario)
    scenario.wait(5).control(SessionEnded())

    assert not scenario.mind.fires
    assert not scenario.mind.shown
    assert not scenario.mind.timers
    for text in ("health restored", "undo"):
        assert not said(scenario.wait(1).sense(text), OutcomeObserved)


@pytest.mark.parametrize("ahead_s", FAR)
def test_an_outcome_in_a_session_credits_nothing_of_before(ahead_s: float) -> None:
    """What was advised by the broker's time ends with the session's first event."""
    scenario = undoable()
    advised(scenario)
    playing(scenario, ahead_s)

    assert not scenario.mind.fires
    assert not said(scenario.sense("health restored"), OutcomeObserved)
    assert not said(scenario.sense("undo"), OutcomeObserved)


def test_a_session_that_lapsed_credits_nothing() -> None:
    """Half an hour of the broker's time without an input ends it, whatever its clock."""
    scenario = playing(undoable(), 30 * DAY)
    advised(scenario)
    still = scenario.wait(sessions.GAP.total_seconds() - 1).sense("the wind turns")
    later = scenario.wait(3 * DAY).sense("health restored")

    assert one(still, Decided).session_id == "s2"
    assert one(later, Decided).session_id not in (None, "s2")
    assert scenario.mind.now == scenario.at
    assert not said(later, OutcomeObserved)


def test_a_report_that_names_the_decision_still_counts() -> None:
    """Whoever says what it is about needs no clock."""
    scenario = playing(undoable(), 50 * YEAR)
    advice = advised(scenario)
    scenario.control(SessionEnded())
    decided = next(
        each.id for each in advice.outputs if each.message.kind == "decision"
    )
    report = scenario.wait(60).sense("rested", in_reply_to=decided, outcome="succeeded")

    assert one(report, OutcomeObserved).by == "report"


@pytest.mark.parametrize("ahead_s", FAR)
def test_an_answer_in_time_is_said_on_the_new_clock(ahead_s: float) -> None:
    """It has what was left of its thirty seconds, and not half a century."""
    scenario = playing(undoable(model=MODEL), ahead_s)
    ask = asked(scenario)
    scenario.wait(10).control(SessionEnded())
    turn = scenario.wait(5).answer_model(ask)

    assert said(turn, Completed)
    assert one(turn, DeliveryAsked).ttl_s == 15.0


@pytest.mark.parametrize("ahead_s", FAR)
def test_an_answer_to_what_was_asked_live_is_said_in_a_session(ahead_s: float) -> None:
    """The session's clock runs on from the broker's when its first event comes."""
    scenario = undoable(model=MODEL)
    ask = asked(scenario)
    playing(scenario.wait(10), ahead_s)

    assert one(scenario.answer_model(ask), DeliveryAsked).ttl_s == 20.0


@pytest.mark.parametrize("ahead_s", FAR)
def test_an_answer_ten_hours_later_is_late(ahead_s: float) -> None:
    """The session lapsed; its ask has come due, and the decision ends in words."""
    scenario = playing(undoable(model=MODEL), ahead_s)
    ask = asked(scenario)
    turn = scenario.wait(10 * HOURS).answer_model(ask)

    assert names(turn) == ["Dropped", "Handled"]
    assert one(turn, Dropped).reason == "llm_timeout"
    assert one(turn, Handled).reason == "late"
    assert not scenario.mind.pending


def test_a_model_that_never_answers_is_given_up() -> None:
    """A tick comes when the session has lapsed, though its own time stands still."""
    scenario = playing(undoable(model=MODEL), 50 * YEAR)
    asked(scenario)
    alarms = Alarms(clock=lambda: scenario.at)
    alarms.note(0, scenario.agent, scenario.mind)

    gap = sessions.GAP.total_seconds()
    assert alarms.wait_s() == gap
    early = scenario.wait(gap - 0.5)
    assert names(tick(early)) == ["Handled"]
    alarms.note(0, scenario.agent, scenario.mind)
    assert alarms.wait_s() == 0.5
    assert names(tick(scenario.wait(0.5))) == ["Dropped", "Handled"]
    assert not scenario.mind.timers


def test_a_race_goes_on_by_the_new_clock() -> None:
    """Its deadline keeps the time that was left, and the rival's fire begins there."""
    scenario = playing(undoable(model=MODEL, strategy={"name": "hybrid"}), 50 * YEAR)
    scenario.sense(LOW, salience=HINTS, urgency=0.0)
    race, model = scenario.mind.timers
    assert (race.purpose, model.purpose) == ("race", "model")
    left = race.due - (scenario.mind.now or NOON)
    scenario.control(SessionEnded())
    assert scenario.mind.timers[0].due == scenario.at + left

    turn = tick(scenario.wait(left.total_seconds()))
    assert one(turn, Completed).path == "heuristic"
    (fire,) = scenario.mind.fires
    assert [each.due for each in fire.expectations] == [
        scenario.at + timedelta(seconds=60)
    ]


def test_a_rule_in_the_making_is_waited_for_on_the_new_clock() -> None:
    """A forming ask keeps its ten minutes, and ends in words if nothing comes."""
    scenario = playing(undoable(model=MODEL, formation=True), 50 * YEAR)
    ask = asked(scenario)
    scenario.answer_model(ask)
    scenario.feedback(ask)
    assert [each.purpose for each in scenario.mind.timers] == ["formation"]
    scenario.wait(10).control(SessionEnded())

    (timer,) = scenario.mind.timers
    assert timer.due == scenario.at + timedelta(seconds=600 + 60 - 10)
    assert names(tick(scenario.wait(650))) == ["CandidateRefused", "Handled"]


def test_a_sleep_wakes_by_the_new_clock() -> None:
    """Whoever is asleep when the session ends gives up what the model does not answer."""
    sleep = {"events": 4, "limit": 1}
    scenario = playing(undoable(model=MODEL, endorsement=True, sleep=sleep), 50 * YEAR)
    scenario.answer_model(asked(scenario))
    scenario.control(SleepRequested())
    assert scenario.mind.sleeping is not None
    scenario.control(SessionEnded())

    due = max(timer.due for timer in scenario.mind.timers)
    assert due <= scenario.at + timedelta(minutes=11)
    assert scenario.mind.sleeping.begun_at <= scenario.at
    scenario.wait(660)
    assert said(tick(scenario), SleepEnded)


def test_rapport_keeps_its_age() -> None:
    """It drifts by the time that passed, not by the years between two clocks."""
    for ahead_s in FAR:
        scenario = undoable()
        scenario.feedback(advised(scenario), actor="kim")
        stands = scenario.mind.rapport["kim"]
        playing(scenario.wait(30 * DAY), ahead_s)
        now = scenario.mind.now
        assert now is not None
        drifted = scenario.mind.rapport["kim"]

        assert rapport.value_at(drifted, now) == rapport.value_at(stands, scenario.at)
        assert rapport.value_at(drifted, now) < stands.value


def test_ages_of_what_was_learnt_are_kept() -> None:
    """When a heuristic last fired, and since when a variant is in force."""
    scenario = playing(undoable(), 50 * YEAR)
    scenario.control(ExperimentStarted(experiment_id="e", a=Variant(), b=Variant()))
    seeded = HeuristicSeeded(
        heuristic_id="rest",
        domain="garden",
        name="rest",
        condition="dusk falls",
        text="Rest.",
        confidence=0.5,
    )
    applied(scenario.control(seeded))
    advised(scenario)
    scenario.wait(7).control(SessionEnded())

    (belief,) = (scenario.mind.beliefs[key] for key in scenario.mind.beliefs)
    assert belief.last_fired == scenario.at - timedelta(seconds=7)
    assert belief.recent is not None
    assert belief.recent.fires == (belief.last_fired,)
    assert scenario.mind.experiment is not None
    assert scenario.mind.experiment.started_at == scenario.at - timedelta(seconds=7)
    (shelf,) = (scenario.mind.shelves[name] for name in scenario.mind.shelves)
    (taught,) = (shelf.heuristics[id_] for id_ in shelf.heuristics)
    assert taught.since == scenario.at - timedelta(seconds=7)


def test_a_recording_played_again_meets_no_habits_of_its_first_run() -> None:
    """What the mind got used to by another clock is forgotten."""
    scenario = undoable()

    def play() -> list[str | None]:
        scenario.control(SessionStarted(session_id="s", clock="event"))
        times = [after(-HOURS + 20 * step) for step in range(6)]
        return [
            scenario.decide("dusk", occurred_at=occurred(at), salience=HINTS).silence
            for at in times
        ]

    assert play() == play()


@pytest.mark.parametrize(("behind_s", "follows"), [(3600.0, False), (3601.0, True)])
def test_a_broker_far_behind_is_believed(behind_s: float, follows: bool) -> None:
    """Up to an hour the agent's time waits for it; beyond, what was ahead was wrong."""
    scenario = undoable(model=MODEL)
    ask = asked(scenario)
    scenario.feedback(advised(scenario), actor="kim")
    scenario.wait(-behind_s).sense("the wind blows")

    assert scenario.mind.now == (scenario.at if follows else NOON)
    assert bool(scenario.mind.fires) is not follows
    expected = scenario.mind.now + timedelta(seconds=90)
    assert expected in [timer.due for timer in scenario.mind.timers]
    assert scenario.mind.rapport["kim"].at == scenario.mind.now
    assert one(scenario.answer_model(ask), DeliveryAsked).ttl_s == 30.0


def test_an_event_clock_that_is_not_set_yet_is_the_brokers() -> None:
    """Until an event tells the session's time, the broker's runs on."""
    scenario = undoable(model=MODEL)
    ask = asked(scenario)
    scenario.control(SessionStarted(session_id="s", clock="event"))
    turn = scenario.wait(31).answer_model(ask)

    assert scenario.mind.now == scenario.at
    assert one(turn, Dropped).reason == "stale"


def test_a_session_refused_its_end_is_told_the_time_anew() -> None:
    """A control that finds the session lapsed is refused; the next session is its own."""
    scenario = playing(undoable(), 50 * YEAR)
    assert refused(scenario.wait(HOURS).control(SessionEnded())) == "no_session"
    playing(scenario, -50 * YEAR)

    assert scenario.mind.now == scenario.at - timedelta(seconds=50 * YEAR)


@pytest.mark.parametrize(
    ("now", "edge"),
    [
        (datetime(1001, 1, 1, tzinfo=UTC), timers.EARLIEST),
        (datetime(8999, 1, 1, tzinfo=UTC), timers.LATEST),
    ],
)
def test_no_time_leaves_the_calendar(now: datetime, edge: datetime) -> None:
    """What would lie outside of what sensors can say stops at its edge."""
    scenario = undoable()
    scenario.feedback(advised(scenario), actor="kim")
    far = timedelta(days=365 * 1900)
    stands = replace(
        scenario.mind.rapport["kim"], at=scenario.at + (far if now > NOON else -far)
    )
    mind = replace(scenario.mind, rapport=scenario.mind.rapport.set("kim", stands))

    assert timers.carried(mind, scenario.at, now).rapport["kim"].at == edge


def test_votes_and_expiry_are_as_before_within_a_clock() -> None:
    """Nothing of this changes a scenario that keeps to one clock."""
    scenario = undoable()
    advice = advised(scenario)
    assert said(scenario.wait(61).sense("the wind blows"), OutcomeExpired)
    assert said(scenario.feedback(advice), FeedbackApplied)
