"""Session files give back just what the log held, or say why they cannot."""

from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from schemas.values.ids import output_id
from schemas.values.record import Record
from schemas.values.subjects import inputs_of, outputs_of
from streams.errors import SessionFileError
from streams.groups import groups
from streams.session_files import paged_log
from streams.session_files.file import SessionFile, collect, read_session, write_session
from streams.session_files.line import Lines
from streams.session_files.memory_log import SessionLog
from streams.session_files.paged_log import SessionStream
from streams.session_files.reading import SessionHeader, SessionTrailer
from tests.memory_log import MemoryLog
from tests.streams.messages import an_input, answer_all, append_inputs

EPOCH = UUID("00000000-0000-4000-8000-000000000001")


def a_session(records: tuple[Record, ...], **blobs: bytes) -> SessionFile:
    """A session of partition 11 around records."""
    return SessionFile(
        header=SessionHeader(
            epoch=EPOCH,
            agent="ada",
            session_id="s-1",
            partition=11,
            first=1,
            last=9,
            checkpoint={"position": 0},
        ),
        records=records,
        blobs=blobs,
        trailer=SessionTrailer(len(records), "c0ffee"),
    )


def a_record(sequence: int, **changes: object) -> Record:
    """A sensor's event."""
    fields: dict[str, Any] = {
        "subject": "ev.11.in.ada.sensor.cam.motion",
        "headers": {"ce-id": f"m{sequence}"},
        "body": b'{"text":"it moves"}',
        "sequence": sequence,
        "time_ns": 1_795_000_000_000_000_000 + sequence,
    }
    return Record(**(fields | changes))


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.one_of(st.integers(0, 30).map(str), text)
headers = st.one_of(
    st.dictionaries(
        st.sampled_from(
            ["ce-id", "ce-type", "ce-time", "ce-specversion", "ce-subject", "other"]
        ),
        text,
    ),
    st.fixed_dictionaries(
        {"ce-causeseq": numbers, "ce-index": numbers, "ce-count": numbers},
        optional={"ce-id": text, "ce-causeid": text, "ce-time": text},
    ),
)
subjects = st.sampled_from(
    [
        "ev.11.in.ada.sensor.cam.motion",
        "ev.11.in._.sensor.a.b.c.d.e",
        "ev.11.in.ada.control.goals_set",
        "ev.11.out.ada.decision.decided",
        "ev.3.out.ada.decision.decided",
        ".odd",
    ]
)
bodies = st.one_of(
    st.binary(max_size=30),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), text),
        lambda inner: st.lists(inner) | st.dictionaries(text, inner),
        max_leaves=5,
    ).map(lambda value: repr(value).encode()),
    st.sampled_from([b"", b"{}", b'{"a": 1}', b'{"a":1,"a":2}', b"1e5", b"[1.0]"]),
)


@given(st.lists(st.tuples(subjects, headers, bodies, st.integers(0, 2**62))))
def test_any_message_comes_back_as_it_was(parts: list[tuple[Any, ...]]) -> None:
    """Subject, headers, body, sequence and time survive, however odd they are."""
    records = [
        Record(subject, head, body, sequence, time_ns)
        for sequence, (subject, head, body, time_ns) in enumerate(parts, start=1)
    ]
    writing, reading = Lines(EPOCH, 11), Lines(EPOCH, 11)

    lines = [orjson.dumps(writing.write(record)) for record in records]

    assert [reading.read(orjson.loads(line)) for line in lines] == records


def test_what_follows_from_the_rest_is_left_out() -> None:
    """The line of an output holds no id, cause id, type, source or version."""
    lines = Lines(EPOCH, 11)
    lines.write(a_record(7))
    output = a_record(
        8,
        subject="ev.11.out.ada.note.handled",
        headers={
            "ce-specversion": "1.0",
            "ce-id": output_id(EPOCH, 7, 0),
            "ce-type": "echoic.handled",
            "ce-source": "/echoic/mind",
            "ce-subject": "ada",
            "ce-time": "",
            "ce-schemaversion": "1",
            "ce-causeseq": "7",
            "ce-causeid": "m7",
            "ce-index": "0",
            "ce-count": "1",
        },
    )

    assert lines.write(output) == {
        "n": 8,
        "t": 1,
        "s": "out.ada.note.handled",
        "m": [7, 0, 1],
        "j": {"text": "it moves"},
    }


def test_a_file_holds_header_records_blobs_and_trailer(tmp_path: Path) -> None:
    """What is written is what is read, and nothing else is left in the folder."""
    session = a_session((a_record(1), a_record(2, body=b"\xff\x00")), d1=b"\x00" * 99)
    write_session(tmp_path / "one.session", session)

    assert read_session(tmp_path / "one.session") == session
    assert [path.name for path in tmp_path.iterdir()] == ["one.session"]


async def test_the_one_reader_reads_a_file(tmp_path: Path) -> None:
    """A session that was exported gives the same groups as the log it came from."""
    log = MemoryLog(EPOCH)
    await answer_all(log, await append_inputs(log, 3), count=2)
    records = await collect(log, partition=11, agent="ada", first=1, last=3)
    write_session(tmp_path / "one.session", a_session(records))

    recorded = SessionLog(read_session(tmp_path / "one.session"))

    assert recorded.epoch == log.epoch
    assert [group async for group in groups(recorded, 11)] == [
        group async for group in groups(log, 11)
    ]
    assert [each async for each in recorded.follow(">", 7, 9)] == [records[7:]]
    assert await recorded.last_sequence("ev.*.in.>") == 3
    assert await recorded.record(9) == records[8]
    assert await recorded.blob("d1") is None


async def test_a_session_is_its_agents_and_the_partitions_own() -> None:
    """Other agents stay out; what is shared or names no agent comes with it."""
    log = MemoryLog()
    causes = [
        await log.append(an_input(agent=agent), f"e:{place}")
        for place, agent in enumerate(("ada", "bob", "_", "b$d", "ada"))
    ]
    await answer_all(log, causes)

    records = await collect(log, partition=11, agent="ada", first=1, last=4)

    assert [each.sequence for each in records] == [1, 3, 4, 6, 8, 9]


def packed(*lines: bytes) -> bytes:
    """A compressed file of raw lines."""
    return zstandard.compress(b"\n".join(lines) + b"\n")


HEADER = (
    b'{"format":"echoic session","version":1,"epoch":"%s","agent":"ada","session":"s"'
    b',"partition":11,"first":1,"last":2,"checkpoint":null}' % str(EPOCH).encode()
)
LINE = b'{"n":%d,"t":1,"s":"in.ada.control.x","j":{}}'
END = b'{"end":%d,"chain":"c"}'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: is no header"),
        (b"text", "line 1: is no session file"),
        (packed(b"text"), "line 1: does not have the form"),
        (packed(b"{}"), "line 1: is no header"),
        (
            packed(HEADER.replace(b"1,", b"2,", 1)),
            "version 2, this Echoic reads 1: a newer",
        ),
        (packed(HEADER.replace(b"1,", b"0,", 1)), "line 1: is of version 0"),
        (
            packed(HEADER, b'{"n":'),
            "line 2: does not have the form of its place (no JSON",
        ),
        (packed(HEADER, LINE % 1), "line 3: is missing: the file was cut"),
        (packed(HEADER, LINE % 1, b'{"n":2}', END % 2), "line 3: does not have"),
        (packed(HEADER, LINE % 2, LINE % 1, END % 2), "line 3: has sequence 1 after 2"),
        (packed(HEADER, LINE % 1, END % 2), "line 3: ends a file of 2 messages, 1 are"),
        (packed(HEADER, END % 0, LINE % 1), "line 3: follows the end"),
    ],
)
def test_what_is_no_whole_session_is_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    """The error names the file and the line."""
    path = tmp_path / "bad.session"
    path.write_bytes(content)

    with pytest.raises(SessionFileError) as refused:
        read_session(path)

    assert message in str(refused.value)
    assert str(path) in str(refused.value)


def test_every_cut_is_refused(tmp_path: Path) -> None:
    """Down to the last byte, and so is whatever follows it."""
    path = tmp_path / "one.session"
    write_session(path, a_session(tuple(map(a_record, range(1, 6)))))
    whole = path.read_bytes()
    cut = [whole[:size] for size in range(len(whole))]

    for content in (*cut, whole + b"\0", whole + whole):
        path.write_bytes(content)
        with pytest.raises(SessionFileError, match=r"cut|no header|not the end"):
            read_session(path)


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    """A file that has a flipped bit is never read as another session."""
    path = tmp_path / "one.session"
    write_session(path, a_session(tuple(map(a_record, range(1, 6)))))
    whole = path.read_bytes()
    damaged = [
        whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :]
        for place in range(len(whole))
    ]

    unnoticed = []
    for content in damaged:
        path.write_bytes(content)
        try:
            if read_session(path) != a_session(tuple(map(a_record, range(1, 6)))):
                unnoticed.append(content)
        except SessionFileError:
            pass

    assert unnoticed == []


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A path that cannot be read gives the same kind of error."""
    with pytest.raises(SessionFileError, match=r"none\.session"):
        read_session(tmp_path / "none.session")


def test_a_file_that_cannot_be_put_in_place_leaves_nothing(tmp_path: Path) -> None:
    """A folder of the same name stays, and no half-made file beside it."""
    (tmp_path / "taken").mkdir()

    with pytest.raises(IsADirectoryError):
        write_session(tmp_path / "taken", a_session((a_record(1),)))

    assert [each.name for each in tmp_path.iterdir()] == ["taken"]


async def test_a_file_is_read_page_by_page_as_if_it_were_whole(tmp_path: Path) -> None:
    """A stream over a file gives the same records as the file in memory."""
    path = tmp_path / "one.session"
    log = MemoryLog(EPOCH)
    await answer_all(log, await append_inputs(log, 40), count=3)
    records = await collect(log, partition=11, agent="ada", first=1, last=40)
    write_session(path, a_session(records))

    whole, streamed = SessionLog(read_session(path)), SessionStream(path)

    assert streamed.epoch == whole.epoch
    assert streamed.outline.trailer == read_session(path).trailer
    assert [each async for each in groups(streamed, 11)] == [
        each async for each in groups(whole, 11)
    ]
    for after, limit in ((0, 7), (7, 7), (3, 200), (0, 7), (160, 5)):
        for subjects in (">", inputs_of(11), outputs_of(11)):
            assert await streamed.page(subjects, after, limit) == await whole.page(
                subjects, after, limit
            )
    for sequence in (1, 90, 161):
        assert await streamed.record(sequence) == await whole.record(sequence)
    assert await streamed.last_sequence(inputs_of(11)) == 40
    assert [each async for each in streamed.follow(">", 157, 2)] == [
        records[157:159],
        records[159:],
    ]


async def test_a_cut_file_is_not_begun(tmp_path: Path) -> None:
    """A file without its end is refused before anything of it is read."""
    path = tmp_path / "one.session"
    write_session(path, a_session(tuple(map(a_record, range(1, 200)))))
    path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(SessionFileError, match=r"line \d+"):
        SessionStream(path)


async def test_a_stream_holds_only_so_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads one direction alone lets the other go, which is then read anew."""
    monkeypatch.setattr(paged_log, "HELD", 10)
    monkeypatch.setattr(paged_log, "AT_ONCE", 16)
    path = tmp_path / "one.session"
    log = MemoryLog(EPOCH)
    await answer_all(log, await append_inputs(log, 40), count=3)
    records = await collect(log, partition=11, agent="ada", first=1, last=40)
    write_session(path, a_session(records))
    streamed = SessionStream(path)

    found: dict[str, list[Record]] = {}
    for subjects in (inputs_of(11), outputs_of(11)):
        position, found[subjects] = 0, []
        while page := await streamed.page(subjects, position, 7):
            found[subjects] += page
            position = page[-1].sequence

    assert found[inputs_of(11)] == [each for each in records if ".in." in each.subject]
    assert found[outputs_of(11)] == [
        each for each in records if ".out." in each.subject
    ]
