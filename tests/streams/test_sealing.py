"""Sealed records: opened with the key and as stored, forgotten without it."""

import orjson
import pytest
from msgspec.structs import replace

from schemas.codec.catalogue import INPUTS, OUTPUTS
from schemas.codec.decode import read_input
from schemas.codec.personal import places_of, replaced
from schemas.messages.sensing import Sensed
from schemas.values.base import FORGOTTEN, MessageType
from schemas.values.record import Record
from schemas.values.struct_models import part_model
from schemas.values.subjects import partition_of
from streams.jetstream.intake import logged
from streams.sealing import HEADER, Cipher, like, opened, redacted, sealed

CIPHER = Cipher.of("ana.1", bytes(range(64)))
OTHER = Cipher.of("ana.1", bytes(64))
EVENT = "ev.3.in.desk.sensor.game.vital"


def record(body: bytes, subject: str = EVENT, **headers: str) -> Record:
    """A record as it arrives."""
    return Record(subject, {"ce-id": "e1", **headers}, body, 1, 0)


FIELDS = {
    "text": "Ana's words",
    "fields": {"note": "hers", "count": 2},
    "entities": ["Ana", ""],
    "urgency": 0.5,
    "person": "ana",
    "new": "of a later version",
}


@pytest.mark.parametrize(
    "body",
    [
        orjson.dumps(FIELDS),
        b"Ana's bare words",
        b"",
        b"\xff\xfe not text",
        b'{"text": "cut',
        b'["Ana", "list"]',
        '{"text": "Ünï \\ud800"}'.encode(),
        b'{"/": "a body like one of ours"}',
    ],
)
def test_what_is_sealed_opens_to_the_same_and_is_always_the_same(body: bytes) -> None:
    """Whatever a sensor sends; nothing of it can be read meanwhile."""
    made = sealed(record(body), CIPHER)
    assert made.stored == sealed(record(body), CIPHER).stored
    assert b"Ana" not in made.stored
    stored = replace(made, body=made.stored, sealed=None)
    back = opened(stored, CIPHER)
    assert back.stored == made.stored
    try:
        assert orjson.loads(back.body) == orjson.loads(body)
    except orjson.JSONDecodeError:
        assert back.body == body


@pytest.mark.parametrize("cipher", [None, OTHER])
def test_without_the_key_a_record_can_be_read_and_says_nothing(
    cipher: Cipher | None,
) -> None:
    """It is still an event, of the same person at the same time; or not even that key's."""
    made = sealed(record(orjson.dumps(FIELDS)), CIPHER)
    back = opened(replace(made, body=made.stored, sealed=None), cipher)
    assert b"Ana" not in back.body
    if cipher is None:
        message = read_input(back).message
        assert isinstance(message, Sensed)
        assert message.text == FORGOTTEN
        assert message.fields == {}
        assert message.entities == (FORGOTTEN, FORGOTTEN)
        assert (message.person, message.urgency) == ("ana", 0.5)


def test_a_value_opens_at_its_own_place_alone() -> None:
    """Who copies a sealed text into another message, or field, gets it back as it is."""
    made = orjson.loads(sealed(record(orjson.dumps(FIELDS)), CIPHER).stored)
    moved = {"text": made["entities"][0], "entities": [made["text"]]}
    for fields, id_ in ((moved, "e1"), (made, "e2")):
        stolen = Record(
            EVENT, {"ce-id": id_, HEADER: CIPHER.name}, orjson.dumps(fields), 2, 0
        )
        assert b"Ana" not in opened(stolen, CIPHER).body


def test_a_replay_needs_no_key_to_make_the_same_bytes() -> None:
    """What opens to the same fields was sealed as the same bytes."""
    subject = "ev.3.out.desk.decision.dropped"
    plain = record(b'{"decision_id":"d","reason":"stale","detail":"Ana"}', subject)
    stored = sealed(plain, CIPHER)
    recorded = opened(replace(stored, body=stored.stored, sealed=None), CIPHER)
    seal = like([recorded])
    assert seal is not None
    cause = read_input(record(b"x"))
    (again,) = seal(cause, [plain])
    assert (again.stored, again.headers) == (stored.stored, stored.headers)
    (other,) = seal(cause, [replace(plain, body=plain.body.replace(b"Ana", b"Eva"))])
    assert other.stored != stored.stored
    assert like([plain]) is None


def test_a_redacted_record_holds_no_personal_field() -> None:
    """And no name of a key."""
    bare = redacted(sealed(record(orjson.dumps(FIELDS)), CIPHER))
    assert HEADER not in bare.headers
    assert b"Ana" not in bare.stored
    assert b"hers" not in bare.stored
    assert FORGOTTEN in read_input(redacted(record(b"Ana"))).record.body.decode()


@pytest.mark.parametrize("kind", [*INPUTS, *OUTPUTS])
def test_every_marked_field_is_found_in_the_schema(kind: MessageType) -> None:
    """As often as it is marked: one that is missed would stay in clear."""
    schema = str(part_model(kind).model_json_schema())
    assert ("x-personal" in schema) is not places_of(kind.kind, kind.token).is_none


def test_a_control_that_was_inferred_is_sealed_as_what_it_is() -> None:
    """Its fields are those of another message."""
    fields = {"control": "reminder_set", "fields": {"text": "Ana", "in_s": 60}}
    replaced("note", "control_inferred", fields, lambda path, value, _: path)
    assert fields["fields"] == {"text": "/fields/text", "in_s": 60}


@pytest.mark.parametrize(
    ("published", "stands"),
    [
        ("in.desk.game.vital", "ev.{desk}.in.desk.sensor.game.vital"),
        ("in.desk", "ev.{desk}.in._.sensor.desk"),
        ("in.desk.game", "ev.{desk}.in._.sensor.desk.game"),
        ("in.desk.game.a.b", "ev.{desk}.in._.sensor.desk.game.a.b"),
        ("ev.3.in.desk.sensor.game.vital", "ev.3.in.desk.sensor.game.vital"),
        ("in.desk.game.*", "ev.{_}.in._.stray.7"),
        ("in.desk.game.>", "ev.{_}.in._.stray.7"),
        ("ip.3.desk.game.>", "ev.{_}.in._.stray.7"),
        ("in.desk.ga\x0bme.a", "ev.{_}.in._.stray.7"),
    ],
)
def test_the_intake_files_a_letter_where_the_broker_would(
    published: str, stands: str
) -> None:
    """As the transforms of `LOG` do, so that a malformed one is quarantined, not lost."""
    places = {name: partition_of(name) for name in ("desk", "_")}
    assert logged(published, 7) == stands.format(**places)
