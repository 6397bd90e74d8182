"""The first field in which two bodies differ."""

import pytest

from replay.verify import first_difference


@pytest.mark.parametrize(
    ("recorded", "replayed", "expected"),
    [
        (b'{"a":1,"b":2}', b'{"a":1,"b":3}', ("b", "2", "3")),
        (
            b'{"a":{"b":[1,{"c":2}]}}',
            b'{"a":{"b":[1,{"c":4}]}}',
            ("a.b[1].c", "2", "4"),
        ),
        (b'{"a":1}', b'{"a":1,"b":"x"}', ("b", None, '"x"')),
        (b'{"a":[1,2]}', b'{"a":[1]}', ("a[1]", "2", None)),
        (b'{"a":1}', b'{"a":1.0}', ("a", "1", "1.0")),
        (b'{"a":null}', b"{}", ("a", "null", None)),
        (b"[]", b"{}", ("(whole)", "[]", "{}")),
        (b'{"a":1,"b":2}', b'{"b":2,"a":1}', None),
        (b'{"a":1}', b"no JSON", None),
    ],
)
def test_the_field_is_named_with_both_values(recorded, replayed, expected):
    """By its path; what differs in nothing but its writing names none."""
    assert first_difference(recorded, replayed) == expected


def test_a_long_value_is_cut():
    """A screen need not hold two prompts."""
    found = first_difference(b'{"a":"%s"}' % (b"x" * 9_000), b'{"a":"y"}')

    assert found is not None
    assert len(found[1] or "") < 250
