"""Anybody's log: what is read, and every way in which a line can be of no use."""

import json

import pytest

from evaluation.ope.jsonl import LineError, read

LINE = {"arm": "a", "p": 0.5, "reward": 1, "target": {"b": 1}, "baseline": {"a": 1.0}}


def line(**changes):
    """A sound line, but for these; None leaves a key out."""
    fields = {key: value for key, value in (LINE | changes).items() if value is not ...}
    return json.dumps(fields).encode() + b"\n"


def read_all(*lines):
    """All rows of a log."""
    return list(read(lines, "log.jsonl"))


def test_reads_a_line():
    """Whole numbers are numbers, a line without session has none."""
    (found,) = read_all(line())

    assert (found.session, found.arm, found.propensity, found.reward) == (
        "",
        "a",
        0.5,
        1.0,
    )
    assert (found.target, found.baseline) == ({"b": 1}, {"a": 1.0})
    assert (found.decision, found.context, found.logging) == (None, "", None)


def test_reads_what_may_be_there():
    """Session, decision, context and the whole logging policy."""
    (found,) = read_all(
        line(session="s", decision="d", context="home", logging={"a": 0.5, "b": 0.5})
    )

    assert (found.session, found.decision, found.context) == ("s", "d", "home")
    assert found.logging == {"a": 0.5, "b": 0.5}


def test_reads_what_the_test_of_carry_over_needs():
    """The order within a session, and by which odds it spoke, if all odds are told."""
    (first,) = read_all(line(arm="silent", p=0.25, position=3))
    odds = {"silent": 0.25, "a": 0.75}
    (second,) = read_all(line(p=0.75, position=4, logging=odds))
    (third,) = read_all(line(position=None, logging={"a": 0.5, "b": 0.5}))

    assert (first.position, first.responded, first.respond_probability) == (
        3,
        False,
        None,
    )
    assert (second.position, second.responded, second.respond_probability) == (
        4,
        True,
        0.75,
    )
    assert (third.position, third.respond_probability) == (0, 1.0)


def test_null_is_nothing():
    """A null reward is not known, other nulls are as if left out."""
    (found,) = read_all(
        line(reward=None, session=None, decision=None, context=None, logging=None)
    )

    assert (found.reward, found.session, found.decision) == (None, "", None)


def test_ignores_what_it_does_not_know():
    """Other keys, and a context that is no bucket."""
    (found,) = read_all(line(note="x", features=[1, 2], context={"hour": 3}))

    assert found.context == ""


def test_skips_blank_lines_and_reads_windows_files():
    """A byte order mark, carriage returns and empty lines are no errors."""
    assert (
        len(read_all(b"\xef\xbb\xbf" + line(), b"\n", b"  \r\n", line()[:-1] + b"\r\n"))
        == 2
    )


@pytest.mark.parametrize("key", ["arm", "p", "reward", "target", "baseline"])
def test_misses_a_key(key):
    """The error names it."""
    with pytest.raises(LineError, match=f"log.jsonl:2: key '{key}' is missing"):
        read_all(line(), line(**{key: ...}))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"p": 0}, r"p 0\.0 is not in \(0, 1\]"),
        ({"p": 1.5}, r"p 1\.5 is not in \(0, 1\]"),
        ({"p": "0.5"}, "p '0.5' is a string: give a number"),
        ({"p": True}, "p True is true or false: give a number"),
        ({"p": None}, "p None is null"),
        ({"reward": 2}, r"reward 2\.0 is not in \[0, 1\]"),
        ({"reward": "good"}, "reward 'good' is a string"),
        ({"reward": True}, "reward True is true or false"),
        ({"arm": 3}, "arm 3 is a number: give a string"),
        ({"arm": None}, "arm None is null: give a string"),
        ({"session": 3}, "session 3 is a number: give a string"),
        ({"session": ""}, "session '': give it a name"),
        ({"decision": 1.5}, "decision 1.5 is a number: give a string"),
        ({"decision": True}, "decision True is true or false"),
        ({"target": ["a"]}, r"target \['a'\] is a list: give an object"),
        ({"target": {}}, "target adds up to 0.0"),
        ({"target": {"a": 0.5, "b": 0.4}}, "target adds up to 0.9"),
        ({"baseline": {"a": 2, "b": -1}}, "baseline gives 'a' 2: a probability"),
        ({"baseline": {"a": "1"}}, "baseline of 'a' '1' is a string"),
        ({"baseline": {"a": True}}, "baseline of 'a' True is true or false"),
        ({"position": 1.5}, "position 1.5 is a number: give a whole number"),
        ({"position": "3"}, "position '3' is a string: give a whole number"),
        ({"position": True}, "position True is true or false"),
        ({"position": 1 << 63}, "position 9223372036854775808 is too large"),
        ({"logging": 0.5}, "logging 0.5 is a number: give an object"),
        ({"logging": {"a": 0.4, "b": 0.6}}, "p is 0.5, but logging gives 'a' 0.4"),
    ],
)
def test_says_what_is_wrong_and_where(change, why):
    """File, line, the value and what to do."""
    with pytest.raises(LineError, match=f"^log.jsonl:3: {why}"):
        read_all(line(), b"\n", line(**change))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'{"p": NaN}', "NaN is no number in JSON: an unknown reward is null"),
        (b'{"reward": -Infinity}', "Infinity is no number in JSON"),
        (b'{"p": 1e999}', "not JSON"),
        (b'{"arm": "a", ', "not JSON"),
        (b"\xff\xfe", "not text"),
        (b"[1]", "one JSON object .* not a list"),
        (b"7", "one JSON object .* not a number"),
    ],
)
def test_says_what_is_no_json(text, why):
    """A broken line, a number that is none, something else than an object."""
    with pytest.raises(LineError, match=f"^log.jsonl:1: .*{why}"):
        read_all(text)


def test_refuses_a_decision_that_comes_twice():
    """Both lines are named; a number is an id as well."""
    with pytest.raises(LineError, match=r"jsonl:3: decision '7' was already on line 1"):
        read_all(line(decision=7), line(decision=8), line(decision="7"))


@pytest.mark.parametrize("lines", [[], [b"\n", b"  \n"]])
def test_refuses_an_empty_file(lines):
    """There is nothing to estimate from."""
    with pytest.raises(LineError, match="no decision"):
        read_all(*lines)
