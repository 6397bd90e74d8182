"""Writing: the envelope that a message of ours has in the log."""

from schemas.codec.encode import wire_digest, write_input, write_output
from schemas.codec.envelope import Mark
from schemas.messages.controls import GoalsSet
from schemas.messages.notes import Handled
from schemas.values.ids import output_id
from tests.factories import EPOCH, NOON

MARK = Mark(cause_sequence=7, cause_id="e1", index=1, count=3)


def test_an_input_of_ours_names_itself() -> None:
    """CloudEvents in headers, the body as JSON without what is not set."""
    wire = write_input(
        GoalsSet(goals=("live",)), agent="ana", partition=5, id_="c1", source="/cli"
    )

    assert wire.subject == "ev.5.in.ana.control.goals_set"
    assert wire.headers == {
        "ce-specversion": "1.0",
        "ce-id": "c1",
        "ce-type": "echoic.goals_set",
        "ce-source": "/cli",
        "ce-subject": "ana",
        "ce-schemaversion": "1",
    }
    assert wire.body == b'{"goals":["live"]}'


def test_an_output_bears_its_mark_and_the_agents_time() -> None:
    """Its id follows from log, cause and index; its time from the mind."""
    wire = write_output(
        Handled(reason="late"),
        agent="ana",
        partition=5,
        epoch=EPOCH,
        mark=MARK,
        at=NOON,
    )

    assert wire.subject == "ev.5.out.ana.note.handled"
    assert wire.headers == {
        "ce-specversion": "1.0",
        "ce-id": output_id(EPOCH, 7, 1),
        "ce-type": "echoic.handled",
        "ce-source": "/echoic/mind",
        "ce-subject": "ana",
        "ce-schemaversion": "1",
        "ce-time": "2026-05-04T12:00:00.000000Z",
        "ce-causeseq": "7",
        "ce-causeid": "e1",
        "ce-index": "1",
        "ce-count": "3",
    }
    assert wire.body == b'{"reason":"late","detail":""}'


def test_a_digest_covers_subject_envelope_and_body() -> None:
    """And nothing that the broker or the tracing adds, in whatever order."""
    headers = {"ce-id": "a", "ce-type": "t"}
    one = wire_digest("s", headers, b"b")

    assert len(one) == 12
    assert one == wire_digest("s", {"ce-type": "t", "ce-id": "a", "x": "y"}, b"b")
    changed = {
        wire_digest("t", headers, b"b"),
        wire_digest("s", {**headers, "ce-id": "b"}, b"b"),
        wire_digest("s", {**headers, "ce-time": "now"}, b"b"),
        wire_digest("s", headers, b"c"),
    }
    assert len(changed | {one}) == 5
