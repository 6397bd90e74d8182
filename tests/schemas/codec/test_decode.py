"""Reading: bytes get their meaning, and what has none gets a reason."""

from datetime import UTC, datetime

import orjson
import pytest
from pydantic import ValidationError

from schemas.codec.decode import (
    BODY_LIMIT,
    NESTING_LIMIT,
    UnreadableOutputError,
    read_input,
    read_output,
)
from schemas.codec.encode import write_input, write_output
from schemas.codec.envelope import Input, Mark, Unreadable
from schemas.messages.controls import GoalsSet, MindStarted, SessionStarted
from schemas.messages.decisions import Dropped
from schemas.messages.executive import Muted
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.notes import Handled
from schemas.messages.results import ClockTicked
from schemas.messages.sensing import EventRef, Sensed
from schemas.values import subjects
from schemas.values.record import Record
from schemas.values.settings import CodeDigests
from tests.factories import EPOCH, NOON, record, sensor_record, settings


def _told(content_type: str, body: bytes) -> Record:
    return sensor_record(body, headers={"content-type": content_type})


def _with(**fields: object) -> Record:
    return sensor_record({"text": "x", **fields})


def _headed(name: str, value: str) -> Record:
    return sensor_record({"text": "x"}, headers={name: value})


UNREADABLE = {
    "other bytes": (sensor_record(b"\xff\xfe"), "not_utf8"),
    "half a JSON": (sensor_record(b'{"text": '), "not_json"),
    "half a letter": (sensor_record(b'{"text": "\\ud800"}'), "not_json"),
    "NaN": (sensor_record(b'{"text": "x", "fields": {"n": NaN}}'), "not_json"),
    "text called JSON": (_told("application/json", b"hi"), "not_json"),
    "a list": (_told("application/cloudevents+json", b"[1]"), "not_an_object"),
    "nothing": (sensor_record(b""), "empty"),
    "blanks": (sensor_record(b" \n\t"), "empty"),
    "a book": (sensor_record(b"x" * (BODY_LIMIT + 1)), "too_large"),
    "no text": (sensor_record({"fields": {}}), "invalid"),
    "a long text": (sensor_record({"text": "x" * 8_001}), "invalid"),
    "a hint over 1": (_with(salience={"threat": 1.1}), "invalid"),
    "a time without zone": (_with(occurred_at="2026-05-04T12:00:00"), "invalid"),
    "the middle ages": (_with(occurred_at="0900-01-01T00:00:00Z"), "invalid"),
    "the last day": (_with(occurred_at="9999-12-31T23:59:59Z"), "invalid"),
    "a ttl of aeons": (_with(ttl_s=1e300), "invalid"),
    "version 0": (_headed("ce-schemaversion", "0"), "invalid"),
    "a huge version": (_headed("ce-schemaversion", "9" * 5_000), "invalid"),
    "a version in words": (_headed("ce-schemaversion", "two"), "invalid"),
    "a long id": (_headed("ce-id", "i" * 201), "invalid"),
    "an id of two lines": (_headed("ce-id", "a\nce-id: b"), "invalid"),
    "a newer version": (_headed("ce-schemaversion", "2"), "unknown_type"),
    "no such control": (
        sensor_record({"control": "pub"}, type_="control"),
        "unknown_type",
    ),
    "no such control of ours": (
        record("ev.0.in.ana.control.dance", b"{}"),
        "unknown_type",
    ),
    "no such kind": (record("ev.0.in.ana.dream.dreamt", b"{}"), "unknown_type"),
    "an output": (record("ev.0.in.ana.decision.decided", b"{}"), "unknown_type"),
    "a source with a star": (sensor_record(b"hi", source="a*"), "bad_subject"),
    "a type with a blank": (sensor_record(b"hi", type_="a b"), "bad_subject"),
    "a type with a dot": (sensor_record(b"hi", type_="x.y"), "bad_subject"),
    "an agent with a star": (record("ev.0.in.a*a.sensor.x.y", b"hi"), "bad_subject"),
    "a long agent": (
        record("ev.0.in." + "a" * 65 + ".sensor.x.y", b"hi"),
        "bad_subject",
    ),
    "too few tokens": (record("ev.0.in._.sensor.ana", b"hi"), "bad_subject"),
    "too many tokens": (record("ev.0.in._.sensor.a.b.c.d", b"hi"), "bad_subject"),
}


@pytest.mark.parametrize(("raw", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_gets_its_reason(raw: Record, reason: str) -> None:
    """Nothing that is published makes reading fail."""
    message = read_input(raw).message

    assert isinstance(message, Unreadable)
    assert reason == message.reason
    assert message.detail
    assert len(message.detail) <= 2_000


def shared(detail: str, agent: str) -> Record:
    """What the broker makes of a subject that is outside the grammar."""
    partition = subjects.partition_of(agent)
    return record(f"ev.{partition}.in._.sensor.{detail}", b"hi")


def reason_of(taken: Input) -> str | None:
    """Why an input cannot be read."""
    return taken.message.reason if isinstance(taken.message, Unreadable) else None


def test_the_shared_agent_is_not_for_sensors() -> None:
    """`in._.game.hit` tries to speak for everybody; `in.ana.game` only forgot its type."""
    assert reason_of(read_input(shared("game.hit", "_"))) == "reserved_agent"
    assert reason_of(read_input(shared("ana.game", "ana"))) == "bad_subject"


def test_a_stray_tells_where_it_was_published() -> None:
    """A subject that could be a filter is no place to look; the header remembers it."""
    headers = {subjects.STRAYED_TO: "in.ana.*.hit"}
    taken = read_input(record("ev.14.in._.stray.7", b"hi", headers=headers))

    assert reason_of(taken) == "bad_subject"
    assert isinstance(taken.message, Unreadable)
    assert "in.ana.*.hit" in taken.message.detail


def test_an_agent_that_cannot_be_is_answered_as_the_shared_one() -> None:
    """A subject cannot be built for such an agent, so its note stands under `_`."""
    assert read_input(record("ev.3.in.a b.sensor.x.y", b"hi")).agent == "_"
    assert read_input(sensor_record(b"\xff")).agent == "ana"


def test_bare_text_is_an_event() -> None:
    """Who cannot send JSON or headers sends words; the envelope is filled in."""
    taken = read_input(sensor_record(b" Low health! \n"))

    assert taken.message == Sensed(source="game", type="vital", text="Low health!")
    assert taken.at == NOON
    assert read_input(sensor_record(b"Low")).id == taken.id
    assert read_input(sensor_record(b"Low", sequence=2)).id != taken.id


def test_source_and_type_are_those_of_the_subject() -> None:
    """A sensor's rights end at its subject, so its body cannot name another source."""
    taken = read_input(
        sensor_record({"text": "x", "source": "bank", "type": "y", "unheard": 1})
    )

    assert taken.message == Sensed(source="game", type="vital", text="x")


def test_a_reply_names_a_decision_or_an_event() -> None:
    """Both ways of naming what an event answers are read."""
    by_id = read_input(sensor_record({"text": "x", "in_reply_to": "d1"})).message
    ref = {"source": "game", "event_id": "e1"}
    by_event = read_input(sensor_record({"text": "x", "in_reply_to": ref})).message

    assert isinstance(by_id, Sensed)
    assert isinstance(by_event, Sensed)
    assert by_id.in_reply_to == "d1"
    assert by_event.in_reply_to == EventRef(source="game", event_id="e1")


def test_time_is_kept_in_utc() -> None:
    """Whatever the sensor's zone, times are written with a Z that is true."""
    body = {"text": "x", "occurred_at": "2026-05-04T14:00:00+02:00"}
    message = read_input(sensor_record(body)).message

    assert isinstance(message, Sensed)
    assert message.occurred_at == datetime(2026, 5, 4, 12, tzinfo=UTC)
    assert message.occurred_at.tzinfo is UTC


def test_published_feedback_is_the_actors_own() -> None:
    """A button that can only publish votes; the actor is the one its subject names."""
    body = {"decision_id": "d1", "rating": "negative", "actor": "somebody else"}
    message = read_input(sensor_record(body, source="button", type_="feedback")).message

    assert message == FeedbackGiven(decision_id="d1", rating="negative", actor="button")


def test_published_controls_are_controls() -> None:
    """The body of a published control names it."""
    body = {"control": "session_started", "session_id": "s1"}
    message = read_input(sensor_record(body, source="app", type_="control")).message

    assert message == SessionStarted(session_id="s1")


def test_deep_nesting_is_refused_and_breadth_is_not() -> None:
    """What JSON libraries cannot write again is not taken in."""
    deep: object = 1
    for _ in range(NESTING_LIMIT - 2):
        deep = [deep]
    wide = [{"x": 1}] * (2 * NESTING_LIMIT)

    def taken(value: object) -> object:
        return read_input(sensor_record({"text": "x", "fields": {"v": value}})).message

    assert isinstance(taken(wide), Sensed)
    deepest = sensor_record({"text": "x", "fields": {"v": deep, "w": wide}})
    assert isinstance(read_input(deepest).message, Sensed)
    assert isinstance(taken([deep, *wide]), Unreadable)
    assert isinstance(taken(deep), Sensed)
    assert isinstance(taken([[deep]]), Unreadable)


def test_what_we_write_we_read() -> None:
    """An input of ours comes back as it was written."""
    message = GoalsSet(goals=("live",))
    wire = write_input(message, agent="ana", partition=4, id_="c1", source="/cli")
    taken = read_input(record(wire.subject, wire.body, headers=wire.headers))

    assert (taken.agent, taken.partition, taken.id) == ("ana", 4, "c1")
    assert taken.message == message
    assert taken.sequence == 1


def test_an_output_comes_back_with_its_mark() -> None:
    """Its place in the group and the agent's time are in the headers."""
    mark = Mark(cause_sequence=7, cause_id="e1", index=0, count=1)
    message = Handled(reason="duplicate")
    wire = write_output(
        message, agent="ana", partition=4, epoch=EPOCH, mark=mark, at=NOON
    )
    output = read_output(record(wire.subject, wire.body, headers=wire.headers))

    assert (output.message, output.mark, output.at) == (message, mark, NOON)
    assert (output.agent, output.partition) == ("ana", 4)


@pytest.mark.parametrize(
    "change",
    [
        {"body": b"{"},
        {"body": b'{"reason": "because"}'},
        {"subject": "ev.4.out.ana.note.unheard"},
        {"subject": "out.ana.note.handled"},
        {"headers": {}},
        {"headers": {"ce-schemaversion": "9"}},
    ],
    ids=str,
)
def test_a_damaged_output_is_an_error(change: dict[str, object]) -> None:
    """Our own outputs are read whole or not at all."""
    mark = Mark(cause_sequence=7, cause_id="e1", index=0, count=1)
    wire = write_output(
        Handled(reason="late"),
        agent="ana",
        partition=4,
        epoch=EPOCH,
        mark=mark,
        at=NOON,
    )
    parts = {
        "subject": wire.subject,
        "body": wire.body,
        "headers": dict(wire.headers),
        **change,
    }

    with pytest.raises(UnreadableOutputError, match="output 1 on"):
        read_output(Record(**parts, sequence=1, time_ns=0))  # type: ignore[arg-type]


def test_faults_are_told_one_by_one() -> None:
    """The detail names the first field at fault and counts the others."""
    taken = read_input(sensor_record({"text": "", "urgency": 2, "sentiment": -3}))

    assert isinstance(taken.message, Unreadable)
    assert taken.message.detail.startswith("text: ")
    assert taken.message.detail.endswith("(and 2 more)")


def test_a_fault_of_the_whole_message_is_told() -> None:
    """A rule over several fields names the message itself."""
    taken = read_input(sensor_record({"rating": "positive"}, type_="feedback"))
    both = {"rating": "scaled", "decision_id": "d1"}

    assert isinstance(taken.message, Unreadable)
    assert taken.message.detail.startswith("the message: ")
    assert reason_of(read_input(sensor_record(both, type_="feedback"))) == "invalid"


def test_dropped_reasons_are_closed() -> None:
    """A reason outside its list is no message of ours."""
    with pytest.raises(ValidationError, match="reason"):
        Dropped.from_fields({"decision_id": "d", "reason": "bored"})


def test_clock_and_results_are_kinds_of_their_own() -> None:
    """Each kind has its own messages; a tick is none of the controls."""
    body = orjson.dumps({"due_at": "2026-05-04T12:00:00Z"})

    assert read_input(record("ev.1.in.ana.clock.clock_ticked", body)).message == (
        ClockTicked(due_at=NOON)
    )
    assert isinstance(
        read_input(record("ev.1.in.ana.control.clock_ticked", body)).message, Unreadable
    )


def test_partitions_that_are_told_the_same_start_share_it() -> None:
    """What is kept by the identity of settings then serves all of them."""
    told, other = (
        MindStarted(
            settings=settings(seed=seed),
            digests=CodeDigests(version="1", embedder="none"),
        )
        for seed in ("one", "two")
    )

    def started(message: MindStarted, partition: int) -> object:
        wire = write_input(
            message, agent="_", partition=partition, id_=f"{partition}", source="/w"
        )
        taken = record(wire.subject, wire.body, headers=wire.headers)
        return read_input(taken).message

    assert started(told, 1) is started(told, 2)
    assert started(told, 1) == told != started(other, 1) == other


def test_a_published_control_of_the_executive_is_by_whoever_published_it() -> None:
    """Who asked for quiet is still answered, so nobody may ask in another's name."""
    body = {"control": "muted", "by": "ada"}

    message = read_input(sensor_record(body, type_="control", source="remote")).message

    assert message == Muted(by="remote")
