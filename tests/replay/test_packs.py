"""Packs of a recording: those of its start come with it, and one that was missing stays so."""

from pathlib import Path

from handlers.aids import AidProvider, PackLibrary
from replay.recording.sessions import export, find_session, start_of
from replay.verify import Span, Verification, verify
from schemas.messages.controls import SessionStarted
from schemas.packs.manifest import to_blob
from streams.log import ReadableLog
from streams.session_files.file import read_session, write_session
from streams.session_files.memory_log import SessionLog
from tests.factories import heuristic, pack, pack_loaded
from tests.projections.chronicle import GARDEN, HINTS, LOW, Chronicle, garden
from tests.replay.scenarios import WordsEmbedder
from tests.scenario import Scenario, applied, refused

NEWER = pack(heuristic("drink", LOW, "Drink.", 0.9), version="2.0.0")


def brings(log: ReadableLog) -> AidProvider:
    """What brings the packs that a log's store holds."""
    return AidProvider(WordsEmbedder(), PackLibrary(log, WordsEmbedder()))


async def verified(scenario: Scenario, log: ReadableLog) -> Verification:
    """The scenario's whole log, answered anew."""
    last = scenario.turns[-1].input.sequence
    return await verify(log, Span(scenario.partition, 0, last), brings(log))


async def test_a_pack_that_was_missing_is_missing_again() -> None:
    """Its blob came too late: what was refused is refused, what was loaded later loads."""
    scenario = garden()
    assert refused(scenario.control(pack_loaded(NEWER))) == "unknown_pack"
    scenario.sense(LOW, salience=HINTS)
    scenario.blobs[NEWER.digest] = NEWER
    applied(scenario.control(pack_loaded(NEWER)))
    scenario.sense(LOW, salience=HINTS)
    log = await Chronicle(scenario).catch_up()
    for each in (GARDEN, NEWER):
        await log.put_blob(to_blob(each.pack))

    found = await verified(scenario, log)
    assert found.divergence is None
    assert found.is_identical


async def test_a_session_that_begins_with_a_newer_pack_brings_the_older(
    tmp_path: Path,
) -> None:
    """The state before its first input needs it."""
    scenario = Scenario()
    scenario.blobs = {each.digest: each for each in (GARDEN, NEWER)}
    applied(scenario.control(pack_loaded(GARDEN)))
    scenario.sense(LOW, salience=HINTS)
    scenario.wait(3_600).control(pack_loaded(NEWER))
    scenario.control(SessionStarted(session_id="s"))
    scenario.sense(LOW, salience=HINTS)
    log = await Chronicle(scenario).catch_up()
    for each in (GARDEN, NEWER):
        await log.put_blob(to_blob(each.pack))

    session = scenario.turns[-3].state.agents[scenario.agent].session
    assert session is not None
    assert session.first_sequence == scenario.turns[-3].input.sequence
    span = await find_session(log, scenario.agent, session.id, brings(log))
    path = tmp_path / "s.echoic"
    write_session(path, await export(log, span, brings(log)))

    read = read_session(path)
    assert sorted(read.blobs) == sorted([GARDEN.digest, NEWER.digest])
    found = await verify(
        SessionLog(read),
        Span(scenario.partition, span.first - 1, span.last, scenario.agent),
        brings(SessionLog(read)),
        start=start_of(read),
        expected_chain=read.trailer.chain,
    )
    assert found.is_identical
