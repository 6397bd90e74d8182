"""Files that people have: what each is read as, or refused for before its first line."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echoic.client.event_files import records
from echoic.client.event_lines import Options, Sending, read_lines
from echoic.client.sending import read_file
from echoic.errors import EchoicError

HISTORY = "timestamp,entity_id,state\n2026-11-26T07:00:00,hall,on\n"


def read(text: str, options: Options | None = None) -> list[Sending]:
    return list(
        read_lines(
            text.splitlines(keepends=True),
            agent=None,
            default_agent="ada",
            new_id=lambda: "id",
            options=options or Options(),
        )
    )


def said(text: str, options: Options | None = None) -> list[str]:
    return [each.body["text"] for each in read(text, options)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"text": "a"}\n{"text": "b"}\n', ["a", "b"]),
        ('[{"text": "a"}, {"text": "b"}]', ["a", "b"]),
        ('[\n  {\n    "text": "a"\n  },\n  {"text": "b"}\n]\n', ["a", "b"]),
        ('\ufeff[{"text": "a"},\r\n "b"]', ["a", "b"]),
        ('{\n  "text": "a"\n}\n', ["a"]),
        ("[]", []),
        ("text,type\na,door\n", ["a"]),
        ('text;type\r\n"a;\r\nb";door\r\n', ["a;\r\nb"]),
        ("Hello, ada\nwell, yes\n", ["Hello, ada", "well, yes"]),
        ("[12:03] hello\n", ["[12:03] hello"]),
        ("\n\nhello\n", ["hello"]),
        # As spreadsheets and instruments write tables.
        ("sep=;\ntext;type\na;door\n", ["a"]),
        ('"sep=|"\r\ntext|type|\r\na|door|\r\n', ["a"]),
        ("text,type,\na,door,\n", ["a"]),
        ("text,type,\na,door\n", ["a"]),
        ("text|type\na|door\n", ["a"]),
        ("# of the hall\n#, and more\ntext,type\na,door\n", ["a"]),
        # Lines of text that look a little like them.
        ("sep=;\n", []),
        ("# hello\nada\n", ["# hello", "ada"]),
        ("# hello\n", ["# hello"]),
        ("| a | b |\n|---|---|\n", ["| a | b |", "|---|---|"]),
        ("this | that\nnow | then, ada\n", ["this | that", "now | then, ada"]),
    ],
)
def test_what_a_file_is_shows_in_its_beginning(text: str, expected: list[str]) -> None:
    """JSON lines, one array, one object over several lines, CSV, or lines of text."""
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        HISTORY,
        "timestamp;entity id;state\n1;2;3\n",
        "timestamp, entity_id, state\n1, 2, 3\n",
        "time\tstate\n1\t2\n",
        "[1, 2]",
        '[[{"text": "a"}]]',
        '[\n{"text": "a"},\n',
        "<?xml version='1.0'?>\n<a/>\n",
        "<html>\n",
        "%YAML 1.2\n---\n",
        "a\0b\n",
        "text,text\na,b\n",
    ],
)
def test_another_file_is_refused_before_its_first_line(text: str) -> None:
    """Nobody says a header or a bracket; the refusal says what is taken."""
    events = read_lines(
        text.splitlines(keepends=True),
        agent=None,
        default_agent="ada",
        new_id=lambda: "id",
    )

    with pytest.raises(EchoicError) as caught:
        next(events)

    assert caught.value.next_step


def test_what_csv_cannot_read_is_text_or_named() -> None:
    """A line of progress is text; a value that is too long is refused at its line."""
    progress = ["10 %\r20 %, done\n", "end, of all\n"]
    long = ["text,type\n", f"{'a' * 200_000},door\n"]

    found = [record for _, record in records(progress)]

    assert found == ["10 %\r20 %, done", "end, of all"]
    with pytest.raises(EchoicError, match="line 2 is no event: field larger"):
        list(records(long))


def test_columns_are_named() -> None:
    """One is the text, one the time; the rest are the event's fields."""
    options = Options(
        event={"source": "home", "type": "state"},
        columns={"text": "{entity_id} is {state}", "occurred_at": "timestamp"},
        zone="Europe/Berlin",
    )

    (sending,) = read(
        "timestamp,entity_id,state,celsius\n2026-11-26T07:00:00,hall,on,20.5", options
    )

    assert sending.subject == "in.ada.home.state"
    assert sending.body == {
        "text": "hall is on",
        "occurred_at": "2026-11-26T07:00:00+01:00",
        "fields": {"entity_id": "hall", "state": "on", "celsius": 20.5},
    }


def test_a_cell_is_a_number_only_as_json_writes_it() -> None:
    """What looks like one and is none, such as 007 or nan, stays text; empty is absent."""
    header = "text,a,b,c,d,e\n"
    (sending,) = read(
        header + "x,-1.50,007,nan,,true", Options(columns={"text": "text"})
    )

    assert sending.body["fields"] == {"a": -1.5, "b": "007", "c": "nan", "e": True}


def test_options_hold_for_each_event_and_win() -> None:
    """Of bare text, JSON and CSV alike."""
    options = Options(
        event={"person": "bob", "source": "hall", "type": "heard"}, fields={"n": 1}
    )
    lines = (
        'hello\n{"text": "x", "person": "mia", "source": "door", "fields": {"m": 2}}\n'
    )

    bare, told = read(lines, options)

    assert bare.subject == told.subject == "in.ada.hall.heard"
    assert bare.body == {"text": "hello", "person": "bob", "fields": {"n": 1}}
    assert told.body == {"text": "x", "person": "bob", "fields": {"m": 2, "n": 1}}


@pytest.mark.parametrize(
    ("at", "zone", "expected"),
    [
        ("2026-11-26T07:00:00Z", None, "2026-11-26T07:00:00Z"),
        ("2026-11-26 07:00", "Europe/Berlin", "2026-11-26T07:00:00+01:00"),
        ("2026-07-26T07:00", "Europe/Berlin", "2026-07-26T07:00:00+02:00"),
        ("2027-03-28T02:30", "Europe/Berlin", "2027-03-28T03:30:00+02:00"),
        ("2026-11-26T07:00:00", None, "--zone Europe/Berlin"),
        ("26.11.2026 07:00", "Europe/Berlin", "line 2 is no event"),
        ("0001-01-01T00:00:00Z", None, "line 2 is no event"),
        (True, None, "line 2 is no event"),
    ],
)
def test_a_time_has_a_zone_or_its_line_is_refused(
    at: object, zone: str | None, expected: str
) -> None:
    """The zone that was named is that of times without one."""
    line = json.dumps({"text": "x", "occurred_at": at})
    options = Options(zone=zone)
    if expected.startswith("20"):
        assert read(line, options)[0].body["occurred_at"] == expected
        return

    with pytest.raises(EchoicError) as caught:
        read(f"fine\n{line}\n", options)

    assert expected in f"{caught.value.what} {caught.value.next_step}"


@pytest.mark.parametrize("at", [1_795_766_400, 1_795_766_400_000, 1_795_766_400.0])
def test_a_number_is_seconds_or_milliseconds_since_1970(at: float) -> None:
    """By which events are played at their pace, as they are logged."""
    (sending,) = read(json.dumps({"text": "x", "occurred_at": at}))

    assert sending.at == datetime(2026, 11, 27, 8, tzinfo=UTC)
    with pytest.raises(EchoicError, match="line 1 is no event"):
        read('{"text": "x", "occurred_at": 1e300}')


@pytest.mark.parametrize(
    "line",
    [
        {"text": "x", "fields": {"a": "b" * 40_000}},
        {"text": "x", "fields": {"a": list(range(300))}},
        {"text": "x" * 9_000},
        {"text": "x", "evaluation_data": "y" * 59_000},
    ],
)
def test_what_the_mind_would_quarantine_is_refused_at_its_line(line: object) -> None:
    """With the limit, before it is published."""
    with pytest.raises(EchoicError, match="line 1 is no event") as caught:
        read(json.dumps(line))

    assert any(
        limit in caught.value.what for limit in ("32,000", "256", "8000", "58,000")
    )


def test_a_file_with_a_bad_line_sends_nothing(tmp_path: Path) -> None:
    """It is read to its end before its first event goes out."""
    path = tmp_path / "events.jsonl"
    path.write_text('{"text": "fine"}\n{broken\n')

    with pytest.raises(EchoicError, match="line 2 is no event"):
        next(read_file(path, agent=None, default_agent="ada", new_id=lambda: "id"))
