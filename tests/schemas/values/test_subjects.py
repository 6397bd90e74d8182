"""Subjects: the grammar of where things stand."""

from collections.abc import Iterable

import pytest

from schemas.values import subjects
from schemas.values.subjects import LogSubject, SubjectError


def test_a_sensor_publishes_where_its_tokens_say() -> None:
    """Three tokens after `in`."""
    assert subjects.sensor_subject("ana", "game", "hit") == "in.ana.game.hit"
    assert subjects.delivery_subject("ana", "say") == "out.ana.say"


@pytest.mark.parametrize("token", ["", "a.b", "a*", ">", "ä", "a b", "a" * 65])
def test_what_is_no_token_is_refused(token: str) -> None:
    """The error names the value and what it should have been."""
    assert not subjects.is_token(token)
    with pytest.raises(SubjectError, match="source"):
        subjects.sensor_subject("ana", token, "hit")
    with pytest.raises(SubjectError, match="channel"):
        subjects.delivery_subject("ana", token)


def test_an_agent_is_a_token_but_not_the_shared_one() -> None:
    """`_` stands for a whole partition."""
    assert subjects.is_agent("ana-2_b")
    assert not subjects.is_agent("_")
    assert not subjects.is_agent("a.b")


@pytest.mark.parametrize(
    ("agent", "partition"), [("a", 12), ("ana", 5), ("_", 14), ("crafter-1", 12)]
)
def test_partitions_are_frozen(agent: str, partition: int) -> None:
    """An agent stays where its messages are, for the life of the log."""
    assert partition == subjects.partition_of(agent)


def test_a_subject_comes_apart_as_it_was_put_together() -> None:
    """A sensor's detail holds two tokens."""
    made = subjects.input_subject(3, "ana", "sensor", "game.hit")
    answer = subjects.output_subject(3, "ana", "note", "handled")

    assert subjects.parse(made) == LogSubject(3, "in", "ana", "sensor", "game.hit")
    assert subjects.parse(answer) == LogSubject(3, "out", "ana", "note", "handled")


@pytest.mark.parametrize(
    "subject",
    [
        "in.ana.game.hit",
        "ev.3.in.ana.sensor",
        "ev.3.by.ana.sensor.hit",
        "ev.16.in.ana.sensor.hit",
        "ev.x.in.ana.sensor.hit",
        "ev.².in.ana.sensor.hit",
    ],
)
def test_what_is_no_subject_of_the_log_is_refused(subject: str) -> None:
    """The error names it."""
    with pytest.raises(SubjectError, match=r"subject|partition"):
        subjects.parse(subject)


def test_filters_cover_one_partition_or_all() -> None:
    """The direction token tells inputs from outputs."""
    assert subjects.inputs_of(3) == "ev.3.in.>"
    assert subjects.inputs_of("*") == "ev.*.in.>"
    assert subjects.outputs_of(3) == "ev.3.out.>"


@pytest.mark.parametrize(
    ("text", "partitions", "shortest"),
    [
        ("all", range(16), "0-15"),
        ("0-15", range(16), "0-15"),
        ("0-7", range(8), "0-7"),
        ("8", [8], "8"),
        ("8,0-3", [0, 1, 2, 3, 8], "0-3,8"),
        ("3, 4,5 ,7-7", [3, 4, 5, 7], "3-5,7"),
    ],
)
def test_a_range_is_read_and_written_the_shortest_way(
    text: str, partitions: Iterable[int], shortest: str
) -> None:
    """What is written is read as the same."""
    assert subjects.read_range(text) == tuple(partitions)
    assert subjects.range_text(partitions) == shortest
    assert subjects.read_range(shortest) == tuple(partitions)


@pytest.mark.parametrize(
    "text",
    ["", "16", "0-16", "7-0", "-1", "0-", "+1", "a", "0,,1", "0-7,3", "ALL", "1.5"],
)
def test_what_is_no_range_is_refused(text: str) -> None:
    """The error says what one looks like, or that a partition was named twice."""
    with pytest.raises(ValueError, match=r"as in 0-7|once"):
        subjects.read_range(text)
