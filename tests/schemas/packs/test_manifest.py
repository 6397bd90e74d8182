"""Packs: closed manifests, canonical blobs, and rows that belong together."""

import hashlib
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.packs.compiled import compile_pack, content_hash
from schemas.packs.conditions import parse
from schemas.packs.manifest import Pack, PackError, blob_digest, from_blob, to_blob
from schemas.values.ids import heuristic_id

MANIFEST: dict[str, Any] = {
    "schema": 1,
    "name": "survival",
    "version": "1.0.0",
    "setting": "game",
    "executive": {
        "domain_context": "A player wants to survive.",
        "outcome_patterns": [
            {"trigger_pattern": "health", "outcome_pattern": "health restored"},
            {
                "trigger_pattern": "health",
                "outcome_pattern": "player died",
                "timeout_sec": 60,
                "is_success": False,
            },
        ],
    },
    "salience": {"threshold": 0.4, "weights": {"threat": 2}},
    "events": [
        {"type": "vital_changed", "source": "crafter", "ttl_s": 10},
        {"type": "vital_changed", "salience": {"threat": 0.2}},
        {"type": "night"},
    ],
    "heuristics": [
        {
            "name": "drink-soon",
            "condition": "The player is getting thirsty",
            "when": 'vital = "drink" and value <= 3',
            "action": {
                "text": "Find water.",
                "action": {"type": "seek", "target": "water", "params": {"n": 1}},
            },
            "confidence": 0.8,
        },
        {
            "name": "sleep-soon",
            "condition": "It is getting dark",
            "action": {"type": "alert", "text": "Find shelter."},
        },
    ],
}
VECTORS = (bytes([1, 2]), bytes([3, 4]))


@pytest.fixture
def pack():
    return Pack.model_validate(MANIFEST)


def changed(**fields):
    return Pack.model_validate(MANIFEST | fields)


def heuristics(**fields):
    return [MANIFEST["heuristics"][0] | fields, MANIFEST["heuristics"][1]]


def test_a_blob_is_read_back_as_the_same_pack(pack):
    """Writing and reading a pack gives the pack, byte for byte."""
    blob = to_blob(pack)

    assert from_blob(blob) == pack
    assert to_blob(from_blob(blob)) == blob
    assert blob_digest(blob) == hashlib.sha256(blob).hexdigest()


def test_heuristics_of_a_blob_keep_names_of_fields_once():
    """Those that give the same fields share them: 1 kB each of many thousands."""
    named = [MANIFEST["heuristics"][0] | {"name": name} for name in ("a", "b")]
    one, other = from_blob(to_blob(changed(heuristics=named))).heuristics

    assert one.model_fields_set is other.model_fields_set
    assert one.action.model_fields_set is other.action.model_fields_set
    assert one.model_fields_set == set(one.model_dump(exclude_defaults=True))


def test_what_is_written_out_and_what_is_default_have_one_digest(pack):
    """Order, whole numbers and defaults that are spelled out do not change a blob."""
    spelled_out = dict(reversed(MANIFEST.items())) | {
        "salience": {"weights": {"threat": 2.0}, "threshold": 0.4},
        "description": "",
        "ttl_s": None,
    }

    assert to_blob(Pack.model_validate(spelled_out)) == to_blob(pack)


def test_rows_belong_together(pack):
    """Id, content hash, condition and vector of a heuristic share its row."""
    compiled = compile_pack(pack, VECTORS)
    row = compiled.row_of(heuristic_id("survival", "sleep-soon"))

    assert row == 1
    assert compiled.ids[row] == heuristic_id("survival", "sleep-soon")
    assert compiled.content_hashes[row] == content_hash(pack.heuristics[row])
    assert compiled.vectors[row] == VECTORS[row]
    assert compiled.conditions.rows[row].tolist() == [3.0, 4.0]
    assert compiled.when(0) == parse('vital = "drink" and value <= 3')
    assert compiled.when(1) is None
    assert compiled.fields_named == ("value", "vital")
    assert compiled.digest == blob_digest(to_blob(pack))
    assert compiled.row_of("another") is None


def test_event_types_are_found_by_source_first(pack):
    """A declaration for one source wins over that for any; others are not declared."""
    compiled = compile_pack(pack, VECTORS)

    assert compiled.event_type("vital_changed", "crafter") is pack.events[0]
    assert compiled.event_type("vital_changed", "other") is pack.events[1]
    assert compiled.event_type("night", "crafter") is pack.events[2]
    assert compiled.event_type("day", "crafter") is None


def test_each_condition_needs_a_vector(pack):
    """Too few vectors are an error that says what to do."""
    with pytest.raises(PackError, match="2 heuristics and got 1 vectors"):
        compile_pack(pack, VECTORS[:1])


@pytest.mark.parametrize(
    ("change", "is_another"),
    [
        ({"condition": "The player is thirsty"}, True),
        ({"when": "value <= 2"}, True),
        ({"when": None}, True),
        ({"action": {"text": "Drink."}}, True),
        ({"confidence": 0.3}, False),
        ({"urgency": 1.0}, False),
        ({"name": "drink-now"}, False),
    ],
)
def test_evidence_belongs_to_condition_when_and_action(pack, change, is_another):
    """A changed condition, `when` or action is new content; anything else is not."""
    edited = changed(heuristics=heuristics(**change)).heuristics[0]

    assert (content_hash(edited) != content_hash(pack.heuristics[0])) is is_another


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"schema": 2}, "schema"),
        ({"extra": 1}, "extra"),
        ({"name": "two words"}, "name"),
        ({"heuristics": heuristics(confidence=0.99)}, "confidence"),
        ({"heuristics": heuristics(when="value == 3")}, "no operator '=='"),
        ({"heuristics": heuristics(name="sleep-soon")}, "one name"),
        ({"events": [{"type": "night"}, {"type": "night"}]}, "one name"),
        ({"salience": {"weights": {"thret": 1}}}, "thret"),
        (
            {
                "executive": {
                    "outcome_patterns": [
                        {"trigger_pattern": "!", "outcome_pattern": "died"}
                    ]
                }
            },
            "at least one word",
        ),
    ],
)
def test_manifests_are_closed(fields, fault):
    """What a manifest may not hold is refused, and the error names it."""
    with pytest.raises(ValidationError, match=fault):
        changed(**fields)


@pytest.mark.parametrize("blob", [b"", b"[]", b'{"schema":2}', b'{"schema":1}'])
def test_other_blobs_are_refused(blob):
    """A blob that is no pack of this format is an error, not a guess."""
    with pytest.raises(PackError, match="no pack of schema 1"):
        from_blob(blob)
