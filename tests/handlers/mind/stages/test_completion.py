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
from tests.life import Life, decision_id, names, one, output, said


@pytest.fixture
def life() -> Life:
    """A life with a model."""
    return Life(model=factories.MODEL)


def asked(life: Life, **event: Any) -> Turn:
    """An event that the model is asked about."""
    turn = life.sense("dusk falls", **event)
    assert names(turn) == ["Decided", "ModelAsked"]
    return turn


def test_an_answer_in_time_is_said(life: Life) -> None:
    """It completes the decision, and goes out on the event's channel."""
    turn = asked(life)
    told = life.wait(3).answer_model(
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
    assert life.mind.timers == ()
    assert len(life.mind.pending) == 0


def test_an_answer_is_in_time_up_to_its_last_moment(life: Life) -> None:
    """Past the ttl it is stale: recorded, and not said."""
    soon, late = asked(life, id_="e1"), asked(life, id_="e2", salience={"threat": 0.8})

    on_time = life.wait(30).answer_model(soon, "Sleep.")
    assert one(on_time, DeliveryAsked).ttl_s > 0
    too_late = life.wait(0.001).answer_model(late, "Sleep.")
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
    turn = Life(garden, model=factories.MODEL).sense("dusk falls", **event)

    assert one(turn, ModelAsked).ttl_s == expected
    assert one(turn, Decided).expires_at == factories.after(expected)
    channel = "whisper" if event["type_"] == "slow" else "say"
    assert one(turn, ModelAsked).channel == channel


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "llm_no_response"),
        (" \n", "llm_no_response"),
        ('{"response": ""}', "llm_declined"),
    ],
)
def test_an_answer_without_words_is_dropped(life: Life, text: str, reason: str) -> None:
    """An empty body is no answer; an empty response is a choice."""
    told = life.answer_model(asked(life), text)

    assert names(told) == ["Handled", "Dropped"]
    assert reason == one(told, Dropped).reason


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("timeout", "llm_timeout"),
        ("no_response", "llm_no_response"),
        ("unavailable", "llm_no_response"),
        ("declined", "llm_declined"),
    ],
)
def test_a_failure_ends_the_decision(life: Life, failure: str, reason: str) -> None:
    """With the reason; it is then remembered as having fallen back to silence."""
    turn = asked(life)
    told = life.fail_model(turn, failure)

    dropped = one(told, Dropped)
    assert (dropped.reason, dropped.detail) == (reason, "why")
    remembered = life.mind.decisions.get(decision_id(turn))
    assert remembered is not None
    assert remembered.path == "fallback"


def test_the_first_answer_wins(life: Life) -> None:
    """A second one is noted, and nothing is said twice."""
    turn = asked(life)
    life.answer_model(turn, "Sleep.")
    second = life.answer_model(turn, "Wake.")
    third = life.fail_model(turn)

    assert names(second) == names(third) == ["Handled"]
    assert one(second, Handled).reason == one(third, Handled).reason == "second"


def test_an_answer_that_never_comes_is_given_up(life: Life) -> None:
    """A minute after it would be stale; what comes after that is late."""
    turn = asked(life)
    almost = life.wait(89.999).tell(ClockTicked(due_at=life.at))
    tick = life.wait(0.001).tell(ClockTicked(due_at=life.at))
    late = life.answer_model(turn)

    assert one(almost, Handled).reason == "nothing_due"
    assert names(tick) == ["Dropped", "Handled"]
    assert one(tick, Handled).reason == "recorded"
    assert one(tick, Dropped).reason == "llm_timeout"
    assert one(late, Handled).reason == "late"


def test_an_answer_at_the_end_of_the_wait_is_late(life: Life) -> None:
    """What is due runs before the input that made it so."""
    turn = asked(life)
    late = life.wait(90).answer_model(turn)

    assert names(late) == ["Dropped", "Handled"]
    assert one(late, Handled).reason == "late"


def test_answers_to_nothing_asked_are_unknown(life: Life) -> None:
    """An ask of another agent, or of none."""
    turn = asked(life)
    life.state = Life().state

    assert one(life.answer_model(turn), Handled).reason == "unknown"


def test_deliveries_are_answered_once(life: Life) -> None:
    """Delivered or not, the first result of an ask is recorded."""
    told = life.answer_model(asked(life), "Sleep.")
    ask_id = output(told, DeliveryAsked).id
    first = life.tell(Delivered(ask_id=ask_id, channel="say"))
    failed = DeliveryFailed(ask_id=ask_id, channel="say", reason="refused")
    second = life.tell(failed)
    unknown = life.tell(Delivered(ask_id="nobody", channel="say"))

    reasons = [one(turn, Handled).reason for turn in (first, second, unknown)]
    assert reasons == ["recorded", "second", "unknown"]


def test_a_models_answer_to_a_delivery_is_unknown(life: Life) -> None:
    """Only what the model was asked can it answer."""
    told = life.answer_model(asked(life), "Sleep.")
    delivery = output(told, DeliveryAsked)
    assert isinstance(delivery.message, DeliveryAsked)
    confused = life.tell(
        ModelFailed(ask_id=delivery.id, request_hash="r", reason="timeout")
    )

    assert one(confused, Handled).reason == "unknown"


def test_waiting_decisions_are_bounded(life: Life) -> None:
    """The least salient of too many is superseded, the oldest of equals first."""
    limit, limits.PENDING_ANSWERS = limits.PENDING_ANSWERS, 2
    try:
        threat = life.sense("a", salience={"threat": 0.9})
        trivial = life.sense("b", salience={"social": 0.3})
        third = life.sense("c", salience={"social": 0.9})
    finally:
        limits.PENDING_ANSWERS = limit

    assert said(threat, Dropped) == said(trivial, Dropped) == []
    dropped = one(third, Dropped)
    assert (dropped.reason, dropped.decision_id) == ("superseded", decision_id(trivial))
    assert len(life.mind.pending) == 2
    assert one(life.answer_model(trivial), Handled).reason == "second"


def test_threats_are_served_first(life: Life) -> None:
    """A threat's priority is above that of anything that is none."""
    threat = one(asked(life, salience={"threat": 0.8, "novelty": 0.0}), ModelAsked)
    trivial = one(life.sense("x", salience={"novelty": 1.0, "social": 1.0}), ModelAsked)

    assert trivial.priority == 1.0
    assert threat.priority == 1.8
    assert (threat.response_type, trivial.response_type) == ("alert", "suggestion")
