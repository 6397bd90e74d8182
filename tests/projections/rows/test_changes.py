"""Joining the changes of many groups into one write."""

from projections.rows.changes import Patch, Put, Remove, join, json_text, storable_json


def test_a_patch_goes_into_the_row_put_before_it() -> None:
    """One statement is left of a row and its changes."""
    joined = join(
        [
            Put("decisions", ("ana", "d"), {"status": "pending", "text": None}),
            Patch("decisions", ("ana", "d"), {"status": "spoke", "text": "Hello."}),
        ]
    )

    changes = joined["decisions"]
    assert changes.puts == {("ana", "d"): {"status": "spoke", "text": "Hello."}}
    assert changes.patches == {}


def test_counts_add_up() -> None:
    """Columns that count are added to, others replaced."""
    patch = Patch("sessions", ("ana", "s"), {"input_count": 1, "last_sequence": 7})
    joined = join([patch, patch])

    changes = joined["sessions"]
    assert changes.patches == {("ana", "s"): {"input_count": 2, "last_sequence": 7}}


def test_a_row_put_again_keeps_when_it_began() -> None:
    """Where a row came from is told by its first put."""
    first = Put("heuristics", ("ana", "h"), {"name": "a", "created_by": 3})
    again = Put("heuristics", ("ana", "h"), {"name": "b", "created_by": 9})

    changes = join([first, again])["heuristics"]
    assert changes.puts == {("ana", "h"): {"name": "b", "created_by": 3}}


def test_a_put_replaces_patches_before_it() -> None:
    """What is put whole needs nothing of the row that stood there."""
    joined = join(
        [
            Patch("rapport", ("ana", "kim"), {"value": 0.1}),
            Put("rapport", ("ana", "kim"), {"value": 0.5}),
        ]
    )

    assert joined["rapport"].puts == {("ana", "kim"): {"value": 0.5}}
    assert joined["rapport"].patches == {}


def test_a_removed_row_is_neither_put_nor_patched() -> None:
    """The last word on a row counts; a patch makes no row."""
    key = ("ana", "game", "vital", "x")
    joined = join(
        [
            Put("habituation", key, {"text": "a"}),
            Remove("habituation", key),
            Patch("habituation", key, {"text": "b"}),
        ]
    )

    changes = joined["habituation"]
    assert (changes.puts, changes.patches) == ({}, {})
    assert list(changes.removes) == [key]


def test_what_postgresql_cannot_hold_is_replaced() -> None:
    """Neither the character 0 nor half a surrogate pair reaches a text column."""
    joined = join([Put("rapport", ("ana", "k\x00"), {"text": "\ud800", "value": 1})])

    assert joined["rapport"].puts == {("ana", "k\ufffd"): {"text": "?", "value": 1}}


def test_json_never_holds_the_character_0() -> None:
    """It is replaced in keys and values; an escaped backslash before u0000 is not it."""
    assert json_text({"a\x00": ["b\x00", 1]}) == '{"a\ufffd":["b\ufffd",1]}'
    assert storable_json(rb'{"path":"C:\\u0000"}') == r'{"path":"C:\\u0000"}'
    assert json_text(None) is None
