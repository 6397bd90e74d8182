"""Whatever a stranger changes in a file, verify says so, and what compares refuses it."""

import asyncio
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard
from msgspec import structs

from echoic.client.observations import observations
from handlers.aids import AidProvider, PackLibrary
from replay.recording.source import RecordingError
from replay.world import verify_session
from schemas.messages.decisions import Decided
from streams.errors import SessionFileError
from streams.session_files.file import SessionFile, read_session, write_session
from streams.session_files.memory_log import SessionLog
from streams.session_files.paged_log import SessionStream
from streams.session_files.redigest import redigest
from tests.factories import heuristic, pack, pattern
from tests.replay.scenarios import WordsEmbedder, file_of_scenario
from tests.scenario import Scenario, said

Lines = list[dict[str, Any]]
Edit = Callable[[Lines], Lines | bytes | None]

PACKED = zstandard.ZstdCompressor(level=3, write_checksum=True)


def a_session() -> SessionFile:
    """Some events, answers and votes."""
    scenario = Scenario(
        pack(
            heuristic("low", "strength low", "Drink.", confidence=0.8),
            patterns=[pattern("strength low", "strength fine", 60)],
        )
    )
    for number in range(4):
        turn = scenario.wait(40).sense("strength low")
        assert said(turn, Decided)
        scenario.feedback(turn, comment=f"vote {number}")
        scenario.wait(5).sense("strength fine")
    return file_of_scenario(scenario)


def providing(log: SessionLog) -> AidProvider:
    """Brings aids out of a session."""
    made = WordsEmbedder()
    return AidProvider(made, PackLibrary(log, made))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session's file as it was written."""
    path = tmp_path_factory.mktemp("altered") / "original.echoic"
    write_session(path, a_session())
    return path


def lines_of(path: Path) -> Lines:
    text = zstandard.decompress(path.read_bytes(), max_output_size=50_000_000)
    return [orjson.loads(line) for line in text.splitlines()]


def written(path: Path, made: Lines | bytes) -> Path:
    text = made
    if isinstance(made, list):
        text = b"".join(orjson.dumps(line) + b"\n" for line in made)
    assert isinstance(text, bytes)
    path.write_bytes(text if made is text else PACKED.compress(text))
    return path


def fault_of(path: Path, agent: str | None = None) -> str | None:
    """What verify says is wrong with a file; None if nothing is."""
    try:
        file = read_session(path, agent)
    except SessionFileError as refused:
        return str(refused)
    found = asyncio.run(verify_session(file, providing))
    if found.is_identical:
        return None
    assert found.divergence is not None
    return f"{found.divergence.what}: {found.divergence.replayed}"


def header(**changes: object) -> Edit:
    def edit(lines: Lines) -> None:
        place = next(n for n, each in enumerate(lines) if "session" in each)
        lines[place] |= changes

    return edit


def ends(**changes: object) -> Edit:
    def edit(lines: Lines) -> None:
        lines[-1] |= changes

    return edit


def messages(lines: Lines, direction: str = "") -> list[int]:
    return [
        n
        for n, each in enumerate(lines)
        if direction in each.get("s", "") and "n" in each
    ]


def message(number: int, direction: str = "", **changes: object) -> Edit:
    def edit(lines: Lines) -> None:
        lines[messages(lines, direction)[number]] |= changes

    return edit


def later(number: int, **by: int) -> Edit:
    """Move times or places of some messages; the rest stays where it was."""

    def edit(lines: Lines) -> None:
        at = messages(lines)[number]
        for name, amount in by.items():
            lines[at][name] += amount
            # Times are differences to the line before.
            if name == "t" and at + 1 < len(lines) - 1:
                lines[at + 1][name] -= amount

    return edit


def dropped(number: int, direction: str = "") -> Edit:
    def edit(lines: Lines) -> None:
        del lines[messages(lines, direction)[number]]
        lines[-1]["end"] -= 1

    return edit


def swapped(one: int, other: int) -> Edit:
    def edit(lines: Lines) -> None:
        every = messages(lines)
        a, b = every[one], every[other]
        # Their places in the log stay: only what stands there is swapped.
        lines[a]["n"], lines[b]["n"] = lines[b]["n"], lines[a]["n"]
        lines[a], lines[b] = lines[b], lines[a]

    return edit


def doubled(lines: Lines) -> None:
    last = messages(lines)[-1]
    again = lines[last] | {"n": lines[last]["n"] + 1}
    lines.insert(last + 1, again)
    lines[-1]["end"] += 1


def body(number: int, direction: str, name: str, value: object) -> Edit:
    def edit(lines: Lines) -> None:
        line = lines[messages(lines, direction)[number]]
        assert name in line["j"], line
        line["j"] = line["j"] | {name: value}

    return edit


def start(lines: Lines) -> None:
    place = next(n for n, each in enumerate(lines) if "session" in each)
    lines[place]["checkpoint"] |= {"position": 1}


def blob(lines: Lines) -> None:
    place = next(n for n, each in enumerate(lines) if "blob" in each)
    lines[place]["data"] = lines[place]["data"][:-8] + "AAAAAAA="


def no_blob(lines: Lines) -> Lines:
    return [each for each in lines if "blob" not in each]


def cut(lines: Lines) -> Lines:
    return lines[:-3]


def cut_bytes(lines: Lines) -> bytes:
    return PACKED.compress(b"\n".join(map(orjson.dumps, lines)))[:-9]


def more_bytes(lines: Lines) -> bytes:
    return PACKED.compress(b"\n".join(map(orjson.dumps, lines)) + b"\n") + b"x"


def spaced(lines: Lines) -> bytes:
    made = b"\n".join(map(orjson.dumps, lines)).replace(b'"n":', b'"n": ')
    return PACKED.compress(made + b"\n")


def without_digests(lines: Lines) -> None:
    del lines[-1]["digests"]


EDITS: dict[str, Edit] = {
    "agent": header(agent="bob"),
    "session": header(session="another"),
    "epoch": header(epoch="00000000-0000-4000-8000-00000000000f"),
    "partition": header(partition=3),
    "first, earlier": header(first=0),
    "first, later": header(first=3),
    "last, earlier": header(last=5),
    "last, later": header(last=4_000),
    "state before": start,
    "as if sealed": header(sealed="key-1"),
    "as if redacted": header(redacted=True),
    "version": header(version=2),
    "format": header(format="another"),
    "one broker time": later(5, t=1),
    "the first broker time": later(0, t=-1_000_000_000),
    "the last broker time": message(-1, t=10**12),
    "one place": later(-1, n=1),
    "words of an input": body(1, "sensor", "text", "strength lower"),
    "reason of a vote": body(2, "feedback", "comment", "another"),
    "words of an output": body(1, "decided", "source", "tv"),
    "a sensor's header": message(1, "in.", h={"ce-id": "other"}),
    "an output's header": message(3, "out.", h={"ce-time": "2020-01-01T00:00:00Z"}),
    "a header that replays skip": message(1, "in.", h={"traceparent": "00-1-1-01"}),
    "a subject": message(-1, "in.", s="in.ada.sensor.cam.motion"),
    "a group's mark": message(3, "out.", m=[1, 0, 9]),
    "swapped lines": swapped(3, 4),
    "swapped inputs": swapped(0, 2),
    "a dropped input": dropped(2, "in."),
    "a dropped output": dropped(2, "out."),
    "a dropped end": dropped(-1),
    "a message twice": doubled,
    "cut": cut,
    "cut within": cut_bytes,
    "something behind": more_bytes,
    "written with spaces": spaced,
    "a pack": blob,
    "no pack": no_blob,
    "count": ends(end=3),
    "chain": ends(chain="0" * 24),
    "no digests": without_digests,
    "other digests": ends(digests={"header": "0", "messages": "0"}),
}


def test_a_file_is_what_it_was(original: Path) -> None:
    """Read and written again it has the same bytes, and nothing is wrong with it."""
    again = original.with_name("again.echoic")
    write_session(again, read_session(original))

    assert fault_of(original) is None
    assert again.read_bytes() == original.read_bytes()


@pytest.mark.parametrize("name", EDITS)
def test_each_edit_of_a_stranger_is_named(
    original: Path, tmp_path: Path, name: str
) -> None:
    """By where the file ends to be what it was, or by the first output that differs."""
    lines = lines_of(original)
    made = EDITS[name](lines)
    path = written(tmp_path / "edited.echoic", lines if made is None else made)
    assert path.read_bytes() != original.read_bytes()

    try:
        fault = fault_of(path)
    # What the file lacks, or says of its state, ends the command with its own words.
    except Exception as error:  # noqa: BLE001
        fault = f"{type(error).__name__}: {error}"
        assert name in ("no pack", "a pack", "as if sealed", "state before", "agent"), (
            fault
        )

    assert fault


@pytest.mark.parametrize(
    "change",
    [
        lambda file: {
            "header": structs.replace(file.header, first=file.header.first + 1)
        },
        lambda file: {"header": structs.replace(file.header, session_id="other")},
        lambda file: {
            "records": (
                *file.records[:-1],
                structs.replace(file.records[-1], time_ns=file.records[-1].time_ns + 1),
            )
        },
    ],
    ids=["first", "session", "time"],
)
def test_what_was_read_and_changed_keeps_its_digests(
    original: Path, tmp_path: Path, change: Callable[[SessionFile], dict[str, Any]]
) -> None:
    """Also with our own reader and writer in hand."""
    path, file = tmp_path / "edited.echoic", read_session(original)
    write_session(path, dataclasses.replace(file, **change(file)))

    assert "digest: " in str(fault_of(path))


def test_a_file_that_says_nothing_of_itself_is_made_to(
    original: Path, tmp_path: Path
) -> None:
    """One of before there were digests is flagged; redigest writes them, and no more."""
    lines = lines_of(original)
    without_digests(lines)
    old = written(tmp_path / "old.echoic", lines)

    before = fault_of(old)
    redigest(old)
    once = old.read_bytes()
    redigest(old)

    assert before == "digest: the file has no digest of its header and messages"
    assert fault_of(old) is None
    assert old.read_bytes() == once == original.read_bytes()


def test_what_is_altered_is_not_compared(original: Path, tmp_path: Path) -> None:
    """Page by page as well: no row is made of it."""
    lines = lines_of(original)
    later(5, t=1)(lines)
    path = written(tmp_path / "edited.echoic", lines)

    assert SessionStream(path).outline.altered is not None
    with pytest.raises(RecordingError, match=r"a message .* was altered"):
        observations([path], "silent")
