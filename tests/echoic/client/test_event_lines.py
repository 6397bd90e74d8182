"""Recordings: lines become events with ids of their own, and refer to each other."""

import json
from collections.abc import Iterator
from itertools import count

import pytest

from echoic.client.event_lines import Sending, read_lines
from echoic.errors import EchoicError


def read(*lines: object, agent: str | None = None) -> list[Sending]:
    """The events of some lines, with ids new-1, new-2 …"""
    ids: Iterator[int] = count(1)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return list(
        read_lines(
            texts, agent=agent, default_agent="ada", new_id=lambda: f"new-{next(ids)}"
        )
    )


def test_bare_text_is_what_the_person_says() -> None:
    """A line without JSON is a message of the user."""
    (sending,) = read("hello there\n")

    assert sending.subject == "in.ada.user.message"
    assert json.loads(sending.wire_body) == {
        "text": "hello there",
        "salience": {"social": 0.9},
    }
    assert sending.wire_headers["ce-id"] == "new-1"


def test_a_plain_event_names_source_and_type() -> None:
    """Source, type and agent of a line go into the subject, the rest is the body."""
    (sending,) = read(
        {"agent": "eve", "source": "door", "type": "bell", "text": "Ding", "urgency": 1}
    )

    assert sending.subject == "in.eve.door.bell"
    assert json.loads(sending.wire_body) == {"text": "Ding", "urgency": 1}


def test_a_recorded_message_gets_a_new_id_and_keeps_its_other_headers() -> None:
    """The recorded id is never sent again."""
    (sending,) = read(
        {
            "subject": "in.steve.crafter.vital_changed",
            "headers": {"ce-id": "old", "ce-time": "2026-11-21T12:00:00Z"},
            "body": {"text": "You are thirsty."},
        }
    )

    assert sending.subject == "in.steve.crafter.vital_changed"
    assert sending.wire_headers["ce-id"] == "new-1"
    assert sending.wire_headers["ce-time"] == "2026-11-21T12:00:00Z"
    assert sending.at is not None


def test_the_agent_of_the_command_wins() -> None:
    """A recording can be played for another agent."""
    recorded = {"subject": "in.steve.crafter.x", "headers": {}, "body": {"text": "y"}}

    assert read(recorded, agent="alex")[0].subject == "in.alex.crafter.x"


def test_replies_refer_to_the_new_ids() -> None:
    """What answers an event of the same recording answers its new id."""
    asked, answered, foreign = read(
        {"source": "game", "type": "danger", "text": "A zombie!", "id": "old-1"},
        {
            "source": "game",
            "type": "report",
            "text": "Fled.",
            "in_reply_to": {"source": "game", "event_id": "old-1"},
        },
        {
            "source": "game",
            "type": "report",
            "text": "Fled.",
            "in_reply_to": {"source": "game", "event_id": "of another run"},
        },
    )

    assert asked.event_id == "new-1"
    assert answered.body["in_reply_to"] == {"source": "game", "event_id": "new-1"}
    assert foreign.body["in_reply_to"]["event_id"] == "of another run"


@pytest.mark.parametrize(
    "line",
    [
        "{not json",
        '{"text": 3}',
        '{"text": "x", "source": "a.b"}',
        '{"subject": "out.ada.say", "body": {"text": "x"}}',
        '{"text": "x", "occurred_at": "yesterday"}',
        '{"text": "\\ud800"}',
        "\udcff are bytes that are no UTF-8",
        "x" * 2_000_000,
    ],
)
def test_a_line_that_is_no_event_is_named(line: str) -> None:
    """The error says which line it is, and what a line may be."""
    with pytest.raises(EchoicError, match="line 2 is no event") as caught:
        read("fine", line)

    assert caught.value.next_step
    # In our words, not in Python's.
    assert "codec" not in str(caught.value)


def test_a_line_that_nests_without_end_is_refused() -> None:
    """Its number is told, as of any line that is no event."""
    with pytest.raises(EchoicError, match="line 1 is no event"):
        read('{"a": ' + "[" * 100_000)
