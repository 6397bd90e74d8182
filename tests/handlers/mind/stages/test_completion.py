"""Conclusion: what becomes of a decision that waits for the model."""

from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.notes import Handled
from schemas.messages.results import ClockTicked, Delivered, DeliveryFailed, ModelFailed
from schemas.state import limits
from tests import factories
from tests.scenario import Scenario, decision_id, names, one, output, said


@pytest.fixture
def scenario() -> Scenario:
    """A scenario with a model."""
    return Scenario(model=factories.MODEL)


def asked(scenario: Scenario, **event: Any) -> Turn:
    """An event that the model is asked about."""
    turn = scenario.sense("dusk falls", **event)
    assert names(turn) == ["Decided", "ModelAsked"]
    return turn


def test_an_answer_in_time_is_said(scenario: Scenario) -> None:
    """It completes the decision, and goes out on the event's channel."""
    turn = asked(scenario)
    told = scenario.wait(3).answer_model(
        turn, "Sleep.", predicted_success=0.9, prediction_confidence=0.2
    )

    assert names(told) == ["Handled", "Completed", "DeliveryAsked"]
    assert one(told, Handled).reason == "recorded"
    completed, delivery = one(told, Completed), one(told, DeliveryAsked)
    assert completed.decision_id == decision_id(turn)
    assert completed.ask_id == output(turn, ModelAsked).id
    assert (completed.path, completed.text, completed.model) == (
        "llm",
        "Sleep.",
        "test/model",
    )
    assert (completed.predicted_success, completed.prediction_confidence) == (0.8, 0.2)
    assert (delivery.text, delivery.channel, delivery.path) == ("Sleep.", "say", "llm")
    assert delivery.event_id == turn.input.id
    assert delivery.expires_at == one(turn, Decided).expires_at
    assert delivery.ttl_s == 27.0
    assert scenario.mind.timers == ()
    assert len(scenario.mind.pending) == 0


def test_an_answer_is_in_time_up_to_its_last_moment(scenario: Scenario) -> None:
    """Past the ttl it is stale: recorded, and not said."""
    soon, late = (
        asked(scenario, id_="e1"),
        asked(scenario, id_="e2", salience={"threat": 0.8}),
    )

    on_time = scenario.wait(30).answer_model(soon, "Sleep.")
    assert one(on_time, DeliveryAsked).ttl_s > 0
    too_late = scenario.wait(0.001).answer_model(late, "Sleep.")
    assert names(too_late) == ["Handled", "Dropped"]
    assert one(too_late, Dropped).reason == "stale"


@pytest.mark.parametrize(
    ("event", "pack_ttl", "expected"),
    [
        ({"ttl_s": 5.0, "type_": "vital"}, 60.0, 5.0),
        ({"type_": "slow"}, 60.0, 90.0),
        ({"type_": "vital"}, 60.0, 60.0),
        ({"type_": "vital"}, None, 30.0),
        ({"type_": "undeclared"}, 60.0, 30.0),
    ],
    ids=str,
)
def test_the_nearest_ttl_counts(
    event: dict[str, Any], pack_ttl: float | None, expected: float
) -> None:
    """The event's, else its type's, else the pack's, else the settings'."""
    garden = factories.pack(
        events=[{"type": "slow", "ttl_s": 90.0, "channel": "whisper"}], ttl_s=pack_ttl
    )
    turn = Scenario(garden, model=factories.MODEL).sense("dusk falls", **event)

    assert one(turn, ModelAsked).ttl_s == expected
    assert one(turn, Decided).expires_at == factories.after(expected)
    channel = "whisper" if event["type_"] == "slow" else "say"
    assert one(turn, ModelAsked).channel == channel


@pytest.mark.parametrize(
    ("text", "reason", "detail"),
    [
        ("", "llm_malformed", "the answer is malformed: it is empty"),
        (" \n", "llm_malformed", "the answer is malformed: it is empty"),
        ("{}", "llm_malformed", 'the answer is malformed: it has no "response"'),
        ('{"response": ""}', "llm_declined", "the model chose to say nothing"),
    ],
)
def test_an_answer_without_words_is_dropped(
    scenario: Scenario, text: str, reason: str, detail: str
) -> None:
    """Its reason tells the form of an empty body from an empty response, a choice."""
    told = scenario.answer_model(asked(scenario), text)

    assert names(told) == ["Handled", "Dropped"]
    dropped = one(told, Dropped)
    assert (dropped.reason, dropped.detail) == (reason, detail)


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("timeout", "llm_timeout"),
        ("no_response", "llm_no_response"),
        ("unavailable", "llm_no_response"),
        ("declined", "llm_declined"),
        ("stale", "stale"),
    ],
)
def test_a_failure_ends_the_decision(
    scenario: Scenario, failure: str, reason: str
) -> None:
    """With the reason; it is then remembered as having fallen back to silence."""
    turn = asked(scenario)
    told = scenario.fail_model(turn, failure)

    dropped = one(told, Dropped)
    assert (dropped.reason, dropped.detail) == (reason, "why")
    remembered = scenario.mind.decisions.get(decision_id(turn))
    assert remembered is not None
    assert remembered.path == "fallback"


def test_the_first_answer_wins(scenario: Scenario) -> None:
    """A second one is noted, and nothing is said twice."""
    turn = asked(scenario)
    scenario.answer_model(turn, "Sleep.")
    second = scenario.answer_model(turn, "Wake.")
    third = scenario.fail_model(turn)

    assert names(second) == names(third) == ["Handled"]
    assert one(second, Handled).reason == one(third, Handled).reason == "second"


def test_an_answer_that_never_comes_is_given_up(scenario: Scenario) -> None:
    """A minute after it would be stale; what comes after that is late."""
    turn = asked(scenario)
    almost = scenario.wait(89.999).tell(ClockTicked(due_at=scenario.at))
    tick = scenario.wait(0.001).tell(ClockTicked(due_at=scenario.at))
    late = scenario.answer_model(turn)

    assert one(almost, Handled).reason == "nothing_due"
    assert names(tick) == ["Dropped", "Handled"]
    assert one(tick, Handled).reason == "recorded"
    assert one(tick, Dropped).reason == "llm_timeout"
    assert one(late, Handled).reason == "late"


def test_an_answer_at_the_end_of_the_wait_is_late(scenario: Scenario) -> None:
    """What is due runs before the input that made it so."""
    turn = asked(scenario)
    late = scenario.wait(90).answer_model(turn)

    assert names(late) == ["Dropped", "Handled"]
    assert one(late, Handled).reason == "late"


def test_answers_to_nothing_asked_are_unknown(scenario: Scenario) -> None:
    """An ask of another agent, or of none."""
    turn = asked(scenario)
    scenario.state = Scenario().state

    assert one(scenario.answer_model(turn), Handled).reason == "unknown"


def test_deliveries_are_answered_once(scenario: Scenario) -> None:
    """Delivered or not, the first result of an ask is recorded."""
    told = scenario.answer_model(asked(scenario), "Sleep.")
    ask_id = output(told, DeliveryAsked).id
    first = scenario.tell(Delivered(ask_id=ask_id, channel="say"))
    failed = DeliveryFailed(ask_id=ask_id, channel="say", reason="refused")
    second = scenario.tell(failed)
    unknown = scenario.tell(Delivered(ask_id="nobody", channel="say"))

    reasons = [one(turn, Handled).reason for turn in (first, second, unknown)]
    assert reasons == ["recorded", "second", "unknown"]


def test_a_models_answer_to_a_delivery_is_unknown(scenario: Scenario) -> None:
    """Only what the model was asked can it answer."""
    told = scenario.answer_model(asked(scenario), "Sleep.")
    delivery = output(told, DeliveryAsked)
    assert isinstance(delivery.message, DeliveryAsked)
    confused = scenario.tell(
        ModelFailed(ask_id=delivery.id, request_hash="r", reason="timeout")
    )

    assert one(confused, Handled).reason == "unknown"


def test_waiting_decisions_are_bounded(scenario: Scenario) -> None:
    """The least salient of too many is superseded, the oldest of equals first."""
    limit, limits.PENDING_ANSWERS = limits.PENDING_ANSWERS, 2
    try:
        threat = scenario.sense("a", salience={"threat": 0.9})
        trivial = scenario.sense("b", salience={"social": 0.3})
        third = scenario.sense("c", salience={"social": 0.9})
    finally:
        limits.PENDING_ANSWERS = limit

    assert said(threat, Dropped) == said(trivial, Dropped) == []
    dropped = one(third, Dropped)
    assert (dropped.reason, dropped.decision_id) == ("superseded", decision_id(trivial))
    assert len(scenario.mind.pending) == 2
    assert one(scenario.answer_model(trivial), Handled).reason == "second"


def test_threats_are_served_first(scenario: Scenario) -> None:
    """A threat's priority is above that of anything that is none."""
    threat = one(asked(scenario, salience={"threat": 0.8, "novelty": 0.0}), ModelAsked)
    trivial = one(
        scenario.sense("x", salience={"novelty": 1.0, "social": 1.0}), ModelAsked
    )

    assert trivial.priority == 1.0
    assert threat.priority == 1.8
    assert (threat.response_type, trivial.response_type) == ("alert", "suggestion")
