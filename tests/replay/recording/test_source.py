"""Sources: a recording is a file or a stretch of the log, or it is said why it is none."""

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec import structs

from handlers.aids import AidProvider, PackLibrary
from replay.open_loop.asked import ask_open_loop
from replay.recording.source import (
    Recording,
    RecordingError,
    from_file,
    from_range,
    from_session,
    of_file,
)
from schemas.codec.decode import UnreadableOutputError
from schemas.messages.controls import SessionStarted
from streams.errors import SessionFileError
from streams.log import ReadableLog
from streams.session_files.file import write_session
from streams.session_files.memory_log import SessionLog
from tests.factories import NOON
from tests.replay.evening import EVENING, evening, place, with_record
from tests.replay.scenarios import WordsEmbedder, file_of_scenario
from tests.scenario import Scenario


def two_sessions() -> Scenario:
    """A scenario of two sessions, a minute apart."""
    scenario = Scenario()
    scenario.control(SessionStarted(session_id="morning"))
    for number in range(3):
        scenario.sense(f"thing {number}")
    scenario.wait(60)
    scenario.control(SessionStarted(session_id="evening"))
    for number in range(3, 6):
        scenario.sense(f"thing {number}")
    return scenario


def log_of(scenario: Scenario) -> ReadableLog:
    """A scenario's whole log."""
    return SessionLog(file_of_scenario(scenario))


def bringer_of(log: ReadableLog) -> AidProvider:
    return AidProvider(WordsEmbedder(), PackLibrary(log, WordsEmbedder()))


async def texts(recording: Recording) -> list[str]:
    return [each.record.text async for each in ask_open_loop(recording)]


async def test_a_file_is_a_recording():
    """A file is read from the disk as it would be from memory."""
    streamed, held = from_file(EVENING), of_file(evening(), "evening")

    assert streamed.digest == held.digest
    assert await texts(streamed) == await texts(held)
    assert (streamed.first, streamed.last) == (held.first, held.last)
    assert streamed.sessions == (evening().header.session_id,)


async def test_a_session_of_the_log_is_a_recording():
    """It begins in the state that the log had before it."""
    log = log_of(two_sessions())
    found = await from_session(log, "ana", "even", bringer_of(log))

    assert await texts(found) == ["thing 3", "thing 4", "thing 5"]
    assert found.sessions == ("evening",)
    assert found.start.agents["ana"].session is not None
    assert found.start.agents["ana"].session.id == "morning"


async def test_a_range_is_cut_by_sequence_or_time():
    """What lies outside is only what came before."""
    scenario = two_sessions()
    log = log_of(scenario)
    second = scenario.turns[3].input.sequence
    minute = timedelta(seconds=60)

    by_sequence = await from_range(log, "ana", bringer_of(log), first=second)
    by_time = await from_range(log, "ana", bringer_of(log), since=NOON + minute)
    early = await from_range(
        log, "ana", bringer_of(log), until=NOON + timedelta(seconds=59)
    )
    whole = await from_range(log, "ana", bringer_of(log))

    assert (await texts(by_sequence))[0] == "thing 1"
    assert await texts(by_time) == ["thing 3", "thing 4", "thing 5"]
    assert await texts(early) == ["thing 0", "thing 1", "thing 2"]
    assert len(await texts(whole)) == 6
    assert whole.sessions == ("morning", "evening")
    digests = [each.digest for each in (by_sequence, by_time, early, whole)]
    assert len(set(digests)) == 4


async def test_an_unknown_session_is_named():
    """Who asks for a session that is not there gets an error."""
    log = log_of(two_sessions())

    with pytest.raises(RecordingError, match="no session 'night'"):
        await from_session(log, "ana", "night", bringer_of(log))


async def test_a_range_without_a_decision_is_none():
    """There must be something to decide again."""
    log = log_of(two_sessions())

    with pytest.raises(RecordingError, match="made no decision from sequence 900"):
        await from_range(log, "ana", bringer_of(log), first=900)
    with pytest.raises(RecordingError, match="agent 'bob' made no decision"):
        await from_range(log, "bob", bringer_of(log))


def test_an_empty_session_is_none(tmp_path):
    """A file without a decision names itself."""
    scenario = Scenario()
    scenario.control(SessionStarted(session_id="morning"))
    file = file_of_scenario(scenario)
    write_session(tmp_path / "empty.echoic", file)

    with pytest.raises(RecordingError, match=r"empty\.echoic.*holds no decision"):
        from_file(tmp_path / "empty.echoic")


def test_a_cut_file_names_its_line(tmp_path):
    """A file that ends in the middle is refused before anything is decided."""
    path = tmp_path / "cut.echoic"
    path.write_bytes(EVENING.read_bytes()[:30_000])

    with pytest.raises(SessionFileError, match=r"cut\.echoic.*line \d+"):
        from_file(path)


def test_a_state_of_another_format_is_named(tmp_path):
    """A file whose state this program cannot read says which it reads."""
    header = structs.replace(evening().header, checkpoint={"format": 99, "state": {}})
    write_session(tmp_path / "new.echoic", replace(evening(), header=header))

    with pytest.raises(RecordingError, match=r"line 1: .*format 99"):
        from_file(tmp_path / "new.echoic")


@pytest.mark.parametrize("ending", ["decision.decided", "fire.heuristic_fired"])
async def test_a_newer_message_is_named_by_its_sequence(ending):
    """A session of a newer program is refused by the first message that is too new."""
    index = place(evening(), ending, 7)
    record = evening().records[index]
    newer = structs.replace(record, headers={**record.headers, "ce-schemaversion": "2"})
    recording = of_file(with_record(evening(), index, newer), "newer")

    with pytest.raises(UnreadableOutputError, match=rf"{record.sequence}.*version 2"):
        await texts(recording)
