"""Sessions of a running instance: found in its log, written to a file, answered anew."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from handlers.aids import AidProvider
from replay.recording.sessions import (
    UnknownSessionError,
    export,
    find_session,
    sessions,
    start_of,
)
from replay.recording.worlds import export as export_world
from replay.recording.worlds import find_world
from replay.verify import Span, Verification, verify
from replay.world import verify_world
from schemas.messages.controls import GoalsSet, SessionEnded, SessionStarted
from streams.session_files.file import (
    SessionFile,
    read_session,
    write_session,
    write_world,
)
from streams.session_files.memory_log import SessionLog
from tests.e2e.companion import Companion, bringer, companion

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

EVENING = datetime(2026, 11, 20, 20, tzinfo=UTC)


async def exported(ada: Companion, session_id: str, folder: Path) -> SessionFile:
    """A session of the companion, written to a file and read back."""
    brings = bringer(ada.live)
    span = await find_session(ada.live.log, ada.agent, session_id, brings)
    path = folder / "session.echoic"
    write_session(path, await export(ada.live.log, span, brings))
    return read_session(path)


async def verified(ada: Companion, session: SessionFile) -> Verification:
    """The file answered anew, with nothing but what it holds."""
    header = session.header
    return await verify(
        SessionLog(session),
        Span(header.partition, header.first - 1, header.last, header.agent),
        bringer(ada.live),
        start=start_of(session),
        expected_chain=session.trailer.chain,
    )


@pytest.mark.parametrize("clock", ["broker", "event"])
async def test_an_exported_session_is_identical(
    ada: Companion, tmp_path: Path, clock: str
) -> None:
    """With answers of model and heuristics, feedback, outcomes and controls in it."""
    await ada.senses("Player health is low", fields={"health": 3})
    await ada.tell(SessionStarted.from_fields({"session_id": "s", "clock": clock}))
    times = (EVENING + timedelta(seconds=number) for number in range(100))

    def now() -> str | None:
        return next(times).isoformat() if clock == "event" else None

    low = await ada.senses(
        "Player health is low", fields={"health": 1}, occurred_at=now(),
        salience={"threat": 0.9},
    )  # fmt: skip
    await ada.votes(low, "positive")
    await ada.tell(GoalsSet(goals=("Find the sea",)))
    storm = "A storm is coming from the west, they say"
    await ada.senses(storm, type_="weather", occurred_at=now())
    await ada.senses(
        "Player health restored", occurred_at=now(), intent="informational"
    )
    await ada.taught("gull", "A gull cries", "The sea is near.")
    await ada.senses("A gull cries", type_="weather", occurred_at=now())
    await ada.tell(SessionEnded())
    await ada.senses("Something else entirely")

    session = await exported(ada, "s", tmp_path)
    found = await verified(ada, session)

    assert found.is_identical, found.divergence
    assert found.inputs >= 9
    assert found.identical == found.total


async def test_every_session_is_found(ada: Companion) -> None:
    """One before the first start, and each that was started."""
    await ada.senses("Before anything was started")
    for name in ("one", "two"):
        await ada.tell(SessionStarted(session_id=name, title=f"Session {name}"))
        await ada.senses(f"In session {name}", intent="informational")
    await ada.tell(SessionEnded())

    found = [
        span
        for span in await sessions(ada.live.log, ada.partition, bringer(ada.live))
        if span.agent == ada.agent
    ]
    assert [span.id for span in found][1:] == ["one", "two"]
    assert [span.decisions for span in found] == [1, 1, 1]


async def test_a_world_is_exported_whole(ada: Companion, tmp_path: Path) -> None:
    """All members in one file, up to the end of the last; others of the log are not in it."""
    async with companion(ada.live, f"{ada.agent}-2") as bob:
        world = f"world-of-{ada.agent}"
        await bob.senses("Before the world began")
        for each in (ada, bob):
            started = SessionStarted(session_id="day", clock="event", world=world)
            await each.tell(started)
            await each.senses("In the world", occurred_at=EVENING.isoformat())
        await ada.tell(SessionEnded())
        await ada.senses("In it still, since bob is")
        await bob.senses("The last of it", occurred_at=EVENING.isoformat())
        await bob.tell(SessionEnded())
        await bob.senses("After the world")
        log = ada.live.log

        span = await find_world(log, world)
        members = await export_world(log, span, bringer(ada.live))
        path = tmp_path / "world.echoic"
        write_world(path, span.id, members)

    def providing(log: SessionLog) -> AidProvider:
        return bringer(ada.live)

    read = [read_session(path, each) for each in (ada.agent, bob.agent)]
    found = await verify_world(read, providing)
    assert found.is_identical
    assert found.told == 0
    # Of inputs alone: a prompt has what was before.
    texts = [
        b"".join(record.body for record in each.records if ".in." in record.subject)
        for each in read
    ]
    assert b"In it still" in texts[0]
    assert b"The last of it" in texts[1]
    assert not any(b"Before the world" in each for each in texts)
    assert not any(b"After the world" in each for each in texts)
    with pytest.raises(UnknownSessionError):
        await find_world(log, "no such world")
