"""Conditions over events: what they accept and refuse, and that none ever raises."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.packs.condition_parser import DEEPEST, LONGEST, Every, Not, Some
from schemas.packs.conditions import (
    LONGEST_EXPLANATION,
    Comparison,
    ConditionError,
    ParsedWhen,
    _cut,
    explain_failure,
    fields_named,
    holds,
    meaning,
    parse,
)
from tests.schemas.packs import plain_conditions as plain

FIELDS = {
    "vital": "drink",
    "value": 3,
    "ratio": 0.1 + 0.2,
    "on": True,
    "note": None,
    "huge": 10**5000,
    "pos": {"x": 1, "deep": {"y": "z"}},
    "door": "unavailable",
    "many": [1, 2],
}


def truth(text, **fields):
    return holds(parse(text), "vital_changed", "crafter", fields or FIELDS)


TRUE = [
    'type = "vital_changed"',
    'source != "desk"',
    "value = 3",
    "value = 3.0",
    "value <= 3 and value >= 3",
    "value ≤ 3 and value ≥ 3 and value ≠ 4",
    "value < 3.5 and value > -1",
    "ratio <= 0.3",
    'vital in ["food", "drink"]',
    "value in [1, 2, 3]",
    "on = true",
    "on != false",
    "note = null",
    "value != null",
    "many != null",
    'pos.x = 1 and pos.deep.y = "z"',
    "value = 1 or value = 2 or value = 3",
    "not value = 4",
    "not not value = 3",
    "not (value = 4 or on = false)",
    "value = 1 and on = false or value = 3",
    'vital > "a"',
    "missing = null",
    "missing = null or missing = 1",
    "missing = 1 or value = 3",
    'not vital in [1, "food", null]',
    "huge > 3",
    'door = "unavailable"',
    'door != "unknown"',
    'door in ["open", "unavailable"]',
    'not door in ["unknown"]',
    "door != null",
]

FALSE = [
    "missing = 1",
    "missing != 1",
    "missing = 1 or not missing = 1",
    "not missing = 1",
    "not not missing = 1",
    "missing != null",
    "not missing = null",
    "not note >= 5",
    "not vital >= 5",
    "not (vital >= 5)",
    'not value = "3"',
    "not (value = 3 and vital >= 5)",
    "not (value = 4 or vital >= 5)",
    "not missing in [1, 2]",
    "not vital in [1, 2]",
    "value.x = 1",
    "pos.z = 1",
    'value = "3"',
    'value != "3"',
    "vital = 3",
    "on = 1",
    "value = true",
    "note = 0",
    "note != 0",
    "many = 1",
    "many != 1",
    'vital in [1, "food", null]',
    "value = 1 and (value = 3 or on = true)",
    "not on = true",
    # Of a sensor that is away no state is known.
    'door = "closed"',
    'door != "closed"',
    'not door = "closed"',
    'not (door = "closed" and value = 3)',
    'door in ["open", "closed"]',
    'not door in ["open", "closed"]',
    'door > "a"',
    "door = null",
]


@pytest.mark.parametrize("text", TRUE)
def test_true_conditions(text):
    """These hold, and have no failure to explain."""
    assert truth(text) is True
    assert explain_failure(parse(text), "vital_changed", "crafter", FIELDS) == ""


@pytest.mark.parametrize("text", FALSE)
def test_false_conditions(text):
    """These do not hold: of a missing field and of another kind of value nothing does."""
    assert truth(text) is False
    assert explain_failure(parse(text), "vital_changed", "crafter", FIELDS) != ""


@pytest.mark.parametrize(
    ("when", "meant", "trap"),
    [
        ('state = "low"', {"state": "low"}, {"state": "full"}),
        ("health <= 3", {"health": 2, "of": 9}, {"health": 8, "of": 9}),
        ("on = true", {"on": True}, {"on": False}),
    ],
)
def test_conditions_tell_apart_what_similarity_cannot(when, meant, trap):
    """Low and full, 2 of 9 and 8 of 9, on and not on: one holds, the other does not."""
    assert truth(when, **meant)
    assert not truth(when, **trap)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("value > 1 and value <= 2", "value <= 2 (is 3)"),
        ("missing = 1", "missing = 1 (is missing)"),
        ('type = "night"', 'type = "night" (is "vital_changed")'),
        ("not on = true", "not on = true (is true)"),
        ("not (value = 3 and on = true)", "not (value = 3 and on = true)"),
        (
            "value = 1 or ratio > 1",
            "value = 1 (is 3) or ratio > 1 (is 0.30000000000000004)",
        ),
        ("on = false", "on = false (is true)"),
        (
            "(value = 3 and on = false) or value = 1",
            "on = false (is true) or value = 1 (is 3)",
        ),
        ("note = 1", "note = 1 (is null)"),
        ("pos = 1", "pos = 1 (is an object)"),
        ("many = 1", "many = 1 (is a list)"),
        ("huge < 1", "huge < 1 (is a huge number)"),
        ("not not value = 4", "not not value = 4"),
    ],
)
def test_failures_are_explained(text, expected):
    """The explanation names the first part that failed and what was there instead."""
    assert explain_failure(parse(text), "vital_changed", "crafter", FIELDS) == expected


def test_explanations_are_short():
    """Neither a long value nor a long condition makes a long explanation."""
    long = parse('a = "b"')
    wide = parse(" or ".join(f"x{n} = {n}" for n in range(50)))

    assert len(explain_failure(long, "t", "s", {"a": "y" * 999})) < 60
    assert len(explain_failure(wide, "t", "s", {})) == 200


def test_false_is_shown_as_the_language_writes_it():
    """A truth value is shown as true or false."""
    assert explain_failure(parse("a = true"), "t", "s", {"a": False}) == (
        "a = true (is false)"
    )


def test_fields_named_are_sorted_and_without_the_event_itself():
    """The fields of a condition are known, each once; type and source are none."""
    when = parse('type = "t" and (b > 1 or not a.c = 2) and b < 3 and source = "s"')

    assert fields_named(when) == ("a.c", "b")


def test_quotes_and_backslashes_can_be_written():
    """Inside a text, a backslash makes a quote or a backslash plain."""
    assert truth(r'a = "say \"hi\" \\"', a='say "hi" \\')


@pytest.mark.parametrize(
    ("text", "column", "message", "suggestion"),
    [
        ("", 1, "a field name must stand before the end", ""),
        ("value == 3", 7, "no operator '=='", "write ="),
        ("value =< 3", 7, "no operator '=<'", "write <="),
        ("value=>3", 6, "no operator '=>'", "write >="),
        ("value <> 3", 7, "no operator '<>'", "write !="),
        ("a = 1 && b = 2", 7, "no operator '&&'", "write and"),
        ("a = 1 || b = 2", 7, "no operator '||'", "write or"),
        ("!a = 1", 1, "no operator '!'", "write not"),
        ("a = 1 AND b = 2", 7, "unexpected 'AND'", "write and"),
        ("a = 1 b = 2", 7, "unexpected 'b'", "join with and, or"),
        ("busy", 5, "an operator must follow 'busy'", "for instance busy = true"),
        (
            "vital = drink",
            9,
            "a value must stand instead of 'drink'",
            'quote it: "drink"',
        ),
        ("vital = ", 9, "a value must stand instead of the end", ""),
        ("vital = )", 9, "a value must stand instead of ')'", ""),
        ("vital = 'drink'", 9, "' does not quote", 'use double quotes: "…"'),
        ('vital = "drink', 9, 'the text has no closing "', 'close it with "'),
        ("3 = value", 1, "a field name must stand before '3'", ""),
        ("and = 3", 1, "a field name must stand before 'and'", ""),
        ("a not in [1]", 3, "`not` stands before", "write not a in […]"),
        ("a in 1", 6, "'[' must stand before '1'", ""),
        ("a in [1", 8, "']' must stand before the end", ""),
        ("a in []", 7, "a value must stand instead of ']'", ""),
        ("(a = 1", 7, "')' must stand before the end", ""),
        ("a < null", 5, "null has no order", "use = or !="),
        ("a % 2", 3, "unexpected '%'", ""),
        ("a = 12abc", 5, "unexpected '1'", ""),
    ],
)
def test_mistakes_are_named_with_column_and_suggestion(
    text, column, message, suggestion
):
    """Each mistake says what it is, where it is, and often what to write."""
    with pytest.raises(ConditionError) as caught:
        parse(text)

    error = caught.value
    assert (error.column, error.suggestion) == (column, suggestion)
    assert message in error.message


def test_conditions_are_bounded():
    """Too long and too deep are errors, not a stack overflow."""
    with pytest.raises(ConditionError, match="nested deeper"):
        parse("(" * (DEEPEST + 1) + "a = 1")
    with pytest.raises(ConditionError, match="nested deeper"):
        parse("not " * (DEEPEST + 1) + "a = 1")
    with pytest.raises(ConditionError, match="longer than"):
        parse("a" * (LONGEST + 1))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.just(10**30)
    | st.floats()
    | st.sampled_from([0.1 + 0.2, 0.3, 1.0, 1e-7, "", "a", "b", "crafter", "unknown"])
    | st.text(max_size=60),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from("xy"), inner, max_size=2)
    ),
    max_leaves=3,
)
SCALARS = st.sampled_from(
    [None, True, False, 0, 1, 0.3, 1.0, -1e-7, "", "a", "b", "unknown"]
)
COMPARISONS = st.builds(
    Comparison,
    st.sampled_from(["type", "source", "p", "q", "p.x", "p.x.y", "q.y"]),
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.tuples(SCALARS),
    st.text(max_size=5),
) | st.builds(
    Comparison,
    st.sampled_from(["type", "p", "q.y"]),
    st.just("in"),
    st.lists(SCALARS, min_size=1, max_size=3).map(tuple),
    st.text(max_size=5),
)
PARTS = st.recursive(
    COMPARISONS,
    lambda inner: (
        st.builds(Not, inner, st.text(max_size=5))
        | st.builds(Every, st.lists(inner, min_size=2, max_size=3).map(tuple))
        | st.builds(Some, st.lists(inner, min_size=2, max_size=3).map(tuple))
    ),
    max_leaves=6,
)


@settings(max_examples=500)
@given(PARTS, st.dictionaries(st.sampled_from("pq"), VALUES), st.sampled_from("ab"))
def test_a_compiled_condition_is_the_plain_one(part, fields, source):
    """What is compiled holds where walking the tree says so, and explains the same."""
    event, when = plain.Event("b", source, fields), ParsedWhen("", part)
    failure = plain.failure_of(part, event)

    assert holds(when, "b", source, fields) == plain.is_true(part, event)
    assert explain_failure(when, "b", source, fields) == (
        "" if failure is None else _cut(failure, LONGEST_EXPLANATION)
    )


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    """From any text comes a condition, or an error with a column inside the text."""
    column = 1
    try:
        parse(text)
    except ConditionError as error:
        column = error.column

    assert 1 <= column <= len(text) + 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("xy"), inner),
    max_leaves=6,
)


@given(
    st.sampled_from([*TRUE, *FALSE]),
    st.dictionaries(st.sampled_from(sorted(FIELDS)), json_values),
)
def test_no_event_raises(text, fields):
    """Whatever the fields hold, a condition is true, or false with an explanation."""
    when = parse(text)
    verdict = holds(when, "t", "s", fields)

    assert verdict == (explain_failure(when, "t", "s", fields) == "")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("a=3 and b in [1,2]", "a = 3.0  and b in [ 1, 2 ]", True),
        ("not (a = 1 or b = 2)", "not ( a=1 or b=2 )", True),
        ("a = 1 or b = 2", "a = 1 and b = 2", False),
        ("not a = 1", "a = 1", False),
        ("a = 1", "a = true", False),
        ("a = 1", "a <= 1", False),
        ("a = 1", "b = 1", False),
    ],
)
def test_a_meaning_is_not_how_it_is_written(one, other, is_same):
    """Spaces and parentheses do not matter; fields, operators and kinds of values do."""
    assert (meaning(parse(one)) == meaning(parse(other))) == is_same
    assert meaning(None) == () != meaning(parse(one))
