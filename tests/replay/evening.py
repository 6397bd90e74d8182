"""The recording that is shipped, and ways to answer it anew."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from msgspec import structs

from handlers.aids import AidProvider, PackLibrary
from replay.recording.sessions import start_of
from replay.verify import Span, Verification, verify
from schemas.values.record import Record
from streams.session_files.file import SessionFile, read_session
from streams.session_files.memory_log import SessionLog
from tests.minds import the_embedder

EVENING = (
    Path(__file__).parents[2] / "packs" / "survival" / "recording" / "evening.echoic"
)


@cache
def evening() -> SessionFile:
    """The recorded evening."""
    return read_session(EVENING)


async def verified(session: SessionFile) -> Verification:
    """A session answered anew, its chain compared with the trailer's."""
    log = SessionLog(session)
    header = session.header
    return await verify(
        log,
        Span(header.partition, header.first - 1, header.last, header.agent),
        AidProvider(the_embedder(), PackLibrary(log, the_embedder())),
        start=start_of(session),
        expected_chain=session.trailer.chain,
    )


def place(session: SessionFile, ending: str, number: int = 0) -> int:
    """Where the `number`-th record stands whose subject ends so; -1 is the last."""
    found = [
        index
        for index, record in enumerate(session.records)
        if record.subject.endswith(ending)
    ]
    return found[number]


def cause_of(session: SessionFile, index: int) -> int:
    """Where the input stands that the output at a place answers."""
    cause = int(session.records[index].headers["ce-causeseq"])
    return next(
        place
        for place, record in enumerate(session.records)
        if record.sequence == cause
    )


def group_of(session: SessionFile, index: int) -> list[int]:
    """Where the whole group stands that the output at a place is of, with its input."""
    mark = session.records[index].headers["ce-causeseq"]
    outputs = [
        place
        for place, record in enumerate(session.records)
        if record.headers.get("ce-causeseq") == mark
    ]
    return [cause_of(session, index), *outputs]


def with_record(session: SessionFile, index: int, record: Record) -> SessionFile:
    """The session with another record at a place."""
    records = (*session.records[:index], record, *session.records[index + 1 :])
    return replace(session, records=records)


def without(session: SessionFile, *indexes: int) -> SessionFile:
    """The session without the records at these places."""
    kept = [
        record for index, record in enumerate(session.records) if index not in indexes
    ]
    return replace(session, records=tuple(kept))


def swapped(session: SessionFile, one: int, other: int) -> SessionFile:
    """The session with two records at each other's place and sequence."""
    first, second = session.records[one], session.records[other]
    session = with_record(
        session, one, structs.replace(second, sequence=first.sequence)
    )
    return with_record(session, other, structs.replace(first, sequence=second.sequence))
