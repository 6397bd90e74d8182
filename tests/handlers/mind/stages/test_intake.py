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
from tests.life import Life, decision_id, names, one


def test_what_cannot_be_read_is_quarantined() -> None:
    """Its raw message stays where it is, and nothing else changes."""
    life = Life()
    subject = f"ev.{life.partition}.in.ana.sensor.game.vital"
    before = life.mind
    turn = life.take(subject, b"\xff")

    quarantined = one(turn, Quarantined)
    assert (quarantined.reason, quarantined.subject) == ("not_utf8", subject)
    assert life.mind.now is before.now is None
    assert life.mind.session is None
    assert life.mind.chain != before.chain


def test_the_same_event_is_decided_once() -> None:
    """The second is a duplicate, and says which decision was made."""
    life = Life()
    first = life.sense("dusk falls", id_="e1")
    again = life.sense("dusk falls, really", id_="e1")

    assert names(again) == ["Handled"]
    assert one(again, Handled).reason == "duplicate"
    assert decision_id(first) in one(again, Handled).detail


def test_ids_belong_to_a_source_and_an_agent() -> None:
    """Another sensor may use the same id for its own event."""
    life = Life()
    life.sense("dusk falls", id_="e1")
    other = life.sense("dusk falls", id_="e1", source="camera")
    life.agent = "bo"
    third = life.sense("dusk falls", id_="e1")

    assert names(other)[0] == names(third)[0] == "Decided"


def test_events_without_an_id_are_never_duplicates() -> None:
    """Who sends no id cannot repeat itself."""
    life = Life()
    subject = f"ev.{life.partition}.in.ana.sensor.game.vital"

    for _ in range(2):
        assert names(life.take(subject, b"dusk falls"))[0] == "Decided"


def test_ids_are_remembered_for_so_many_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least the last so many of a source, and not for ever."""
    monkeypatch.setattr(limits, "SEEN_EVENTS", 3)
    life = Life()

    def sense(number: int) -> str:
        return names(life.sense("x", id_=f"e{number}"))[0]

    for number in range(4):
        assert sense(number) == "Decided"
    assert [sense(number) for number in range(1, 4)] == ["Handled"] * 3
    for number in range(4, 8):
        sense(number)
    assert sense(0) == "Decided"


def test_a_quarantined_event_may_be_sent_again() -> None:
    """Only what was decided on is a duplicate."""
    life = Life()
    life.sense("", id_="e1")

    assert names(life.sense("dusk falls", id_="e1"))[0] == "Decided"


def test_what_names_no_agent_is_answered_all_the_same() -> None:
    """Feedback is refused; ticks and results are unknown."""
    life = Life()
    vote = FeedbackGiven(decision_id="d", rating="positive")
    refused = life.tell(vote, agent=SHARED_AGENT)
    tick = life.tell(ClockTicked(due_at=NOON), agent=SHARED_AGENT)
    result = life.tell(Delivered(ask_id="a", channel="say"), agent=SHARED_AGENT)

    assert one(refused, FeedbackRefused).reason == "invalid"
    assert one(tick, Handled).reason == one(result, Handled).reason == "unknown"


def test_an_unknown_sender_is_quarantined_under_the_shared_agent() -> None:
    """The note stands where it can: an agent's name with a dot is no subject token."""
    life = Life()
    turn = life.take("ev.3.in._.sensor.a.b.c.d", orjson.dumps({"text": "x"}))

    assert turn.outputs[0].record.subject == "ev.3.out._.note.quarantined"
    assert "_" not in life.state.agents
