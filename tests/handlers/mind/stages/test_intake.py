"""Intake: what may not be taken in is answered with the reason."""

import orjson
import pytest

from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackRefused
from schemas.messages.notes import Handled, Quarantined
from schemas.messages.results import ClockTicked, Delivered
from schemas.state import limits
from schemas.values.subjects import SHARED_AGENT
from tests.factories import NOON
from tests.scenario import Scenario, decision_id, names, one


def test_what_cannot_be_read_is_quarantined() -> None:
    """Its raw message stays where it is, and nothing else changes."""
    scenario = Scenario()
    subject = f"ev.{scenario.partition}.in.ana.sensor.game.vital"
    before = scenario.mind
    turn = scenario.take(subject, b"\xff")

    quarantined = one(turn, Quarantined)
    assert (quarantined.reason, quarantined.subject) == ("not_utf8", subject)
    assert scenario.mind.now is before.now is None
    assert scenario.mind.session is None
    assert scenario.mind.chain != before.chain


def test_the_same_event_is_decided_once() -> None:
    """The second is a duplicate, and says which decision was made."""
    scenario = Scenario()
    first = scenario.sense("dusk falls", id_="e1")
    again = scenario.sense("dusk falls, really", id_="e1")

    assert names(again) == ["Handled"]
    assert one(again, Handled).reason == "duplicate"
    assert decision_id(first) in one(again, Handled).detail


def test_ids_belong_to_a_source_and_an_agent() -> None:
    """Another sensor may use the same id for its own event."""
    scenario = Scenario()
    scenario.sense("dusk falls", id_="e1")
    other = scenario.sense("dusk falls", id_="e1", source="camera")
    scenario.agent = "bo"
    third = scenario.sense("dusk falls", id_="e1")

    assert names(other)[0] == names(third)[0] == "Decided"


def test_events_without_an_id_are_never_duplicates() -> None:
    """Who sends no id cannot repeat itself."""
    scenario = Scenario()
    subject = f"ev.{scenario.partition}.in.ana.sensor.game.vital"

    for _ in range(2):
        assert names(scenario.take(subject, b"dusk falls"))[0] == "Decided"


def test_ids_are_remembered_for_so_many_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least the last so many of a source, and not for ever."""
    monkeypatch.setattr(limits, "SEEN_EVENTS", 3)
    scenario = Scenario()

    def sense(number: int) -> str:
        return names(scenario.sense("x", id_=f"e{number}"))[0]

    for number in range(4):
        assert sense(number) == "Decided"
    assert [sense(number) for number in range(1, 4)] == ["Handled"] * 3
    for number in range(4, 8):
        sense(number)
    assert sense(0) == "Decided"


def test_a_quarantined_event_may_be_sent_again() -> None:
    """Only what was decided on is a duplicate."""
    scenario = Scenario()
    scenario.sense("", id_="e1")

    assert names(scenario.sense("dusk falls", id_="e1"))[0] == "Decided"


def test_what_names_no_agent_is_answered_all_the_same() -> None:
    """Feedback is refused; ticks and results are unknown."""
    scenario = Scenario()
    vote = FeedbackGiven(decision_id="d", rating="positive")
    refused = scenario.tell(vote, agent=SHARED_AGENT)
    tick = scenario.tell(ClockTicked(due_at=NOON), agent=SHARED_AGENT)
    result = scenario.tell(Delivered(ask_id="a", channel="say"), agent=SHARED_AGENT)

    assert one(refused, FeedbackRefused).reason == "invalid"
    assert one(tick, Handled).reason == one(result, Handled).reason == "unknown"


def test_an_unknown_sender_is_quarantined_under_the_shared_agent() -> None:
    """The note stands where it can: an agent's name with a dot is no subject token."""
    scenario = Scenario()
    turn = scenario.take("ev.3.in._.sensor.a.b.c.d", orjson.dumps({"text": "x"}))

    assert turn.outputs[0].record.subject == "ev.3.out._.note.quarantined"
    assert "_" not in scenario.state.agents
