"""What is sent twice under one id of its source is taken once, of every kind."""

from collections.abc import Mapping
from typing import Any

import pytest

from schemas.messages.asks import DeliveryAsked
from schemas.messages.executive import Muted, OutputRequested
from schemas.messages.learning import FeedbackApplied, FeedbackRefused
from schemas.messages.notes import ControlApplied, ControlRefused
from schemas.state import limits
from tests import factories
from tests.scenario import Scenario, decision_id, names, one, output, refused, said

DINNER = {"control": "output_requested", "text": "Dinner is ready.", "person": "ada"}
CONTROLS: tuple[Mapping[str, Any], ...] = (
    DINNER,
    {"control": "muted", "mode": "mute"},
    {"control": "muted", "mode": "mute", "off": True},
    {"control": "goals_set", "goals": ["rest"]},
    {"control": "trait_adjusted", "trait": "humor", "by_amount": 0.2},
    {"control": "break_signalled"},
    {"control": "fact_stated", "subject": "Ada", "relation": "likes", "object": "tea"},
    {"control": "sleep_requested"},
)


def home() -> Scenario:
    """A mind with an executive."""
    known = factories.pack(factories.heuristic("low", "food is low", "Eat now.", 0.9))
    return Scenario(known, relevance=0.0, executive={})


@pytest.mark.parametrize("body", CONTROLS)
def test_a_control_of_a_sensor_is_applied_once(body: Mapping[str, Any]) -> None:
    """The repeat is refused, names the first, and changes nothing but the chain."""
    scenario = home()
    first = scenario.published("door", "control", body, "c1")
    assert len(said(first, ControlApplied)) == 1
    before = scenario.mind.executive
    again = scenario.wait(60).published("door", "control", body, "c1")

    assert refused(again) == "duplicate"
    assert output(first, ControlApplied).id in one(again, ControlRefused).detail
    assert scenario.mind.executive == before


def test_what_is_to_be_said_is_said_once() -> None:
    """However often its sensor sends it under one id, and again under another."""
    scenario = home()
    turns = [
        scenario.wait(60).published("door", "control", DINNER, id_)
        for id_ in ("c1", "c1", "c2", "c1")
    ]

    assert [len(said(turn, DeliveryAsked)) for turn in turns] == [1, 0, 1, 0]


def test_an_id_belongs_to_its_source() -> None:
    """Another sensor, and another program, may use the same for their own."""
    scenario, wanted = home(), OutputRequested(text="Dinner is ready.")
    told = [
        scenario.published("door", "control", DINNER, "c1"),
        scenario.published("oven", "control", DINNER, "c1"),
        scenario.tell(wanted, id_="c1", source="/echoic/services"),
        scenario.tell(wanted, id_="c1", source="/echoic/cli"),
    ]
    again = scenario.tell(wanted, id_="c1", source="/echoic/services")

    assert [len(said(turn, ControlApplied)) for turn in told] == [1] * 4
    assert refused(again) == "duplicate"


def test_one_that_was_refused_may_be_sent_again() -> None:
    """It changed nothing: only what was applied is taken."""
    scenario = home()
    stop = {"control": "experiment_stopped"}
    assert refused(scenario.published("door", "control", stop, "c1")) == (
        "no_experiment"
    )

    assert refused(scenario.published("door", "control", stop, "c1")) == (
        "no_experiment"
    )


def test_one_without_an_id_is_no_repeat() -> None:
    """Its sensor does not say whether it is another."""
    scenario = home()
    subject = f"ev.{scenario.partition}.in.ana.sensor.door.control"
    body = b'{"control": "muted", "mode": "mute"}'

    for _ in range(2):
        assert len(said(scenario.take(subject, body), ControlApplied)) == 1
    assert "door" not in scenario.mind.sources


@pytest.mark.parametrize("way", ["sensor", "program"])
def test_a_vote_counts_once(way: str) -> None:
    """A repeat of one that was changed since does not bring it back."""
    scenario = home()
    decided = scenario.sense("food is low")
    id_ = decision_id(decided)

    def vote(rating: str, vote_id: str) -> Any:
        body = {"decision_id": id_, "rating": rating}
        if way == "sensor":
            return scenario.published("button", "feedback", body, vote_id)
        return scenario.feedback(decided, rating, id_=vote_id, actor="button")

    assert len(said(vote("positive", "v1"), FeedbackApplied)) == 1
    assert len(said(vote("negative", "v2"), FeedbackApplied)) == 1
    again = vote("positive", "v1")

    assert one(again, FeedbackRefused).reason == "duplicate"
    remembered = scenario.mind.decisions.get(id_)
    assert remembered is not None
    assert remembered.votes["button"] == -1.0


def test_an_event_and_a_control_share_the_ids_of_their_sensor() -> None:
    """As CloudEvents has it: one id within a source is one thing."""
    scenario = home()
    scenario.sense("food is low", source="door", id_="x1")

    assert refused(scenario.published("door", "control", DINNER, "x1")) == "duplicate"
    assert names(scenario.published("door", "control", DINNER, "x2"))[0] == (
        "ControlApplied"
    )
    assert names(scenario.sense("it rings", source="door", id_="x2")) == ["Handled"]


def test_they_are_remembered_for_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """As events are: at least the last so many of a source, and not for ever."""
    monkeypatch.setattr(limits, "SEEN_EVENTS", 3)
    scenario = home()

    def mute(number: int) -> int:
        turn = scenario.tell(Muted(mode="mute"), id_=f"c{number}")
        return len(said(turn, ControlApplied))

    assert [mute(number) for number in range(8)] == [1] * 8
    assert [mute(number) for number in (6, 7, 0)] == [0, 0, 1]
