"""The projector: the tables are the fold of the log, whatever happens on the way."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import Connection

from bench.beside import beside
from projections.errors import LogTruncated, PositionLost, StoreUnavailable
from projections.postgres.server import embedded_postgres
from projections.projector import projector as projecting
from projections.projector.projector import Projector
from projections.projector.rebuild import verify
from projections.store import queries
from projections.store.store import Store
from schemas.messages.asks import ModelAsked
from schemas.messages.results import ModelAnswered
from tests import factories
from tests.memory_log import MemoryLog
from tests.minds import until
from tests.projections.chronicle import Chronicle, eventful, garden, here
from tests.projections.store.test_store import values
from tests.scenario import Scenario, output

pytestmark = pytest.mark.services

TABLES = {
    "decisions": 5,
    "heuristic_fires": 1,
    "feedback_events": 2,
    "confidence_changes": 5,
    "heuristics": 2,
    "sessions": 2,
    "habituation": 4,
    "rapport": 1,
    "quarantine": 1,
    "asks": 1,
}


@pytest.fixture
async def chronicle() -> Chronicle:
    """The log of a scenario in which something of every sort happened."""
    chronicle = Chronicle(eventful(garden()))
    await chronicle.catch_up()
    return chronicle


def project(chronicle: Chronicle, store: Store) -> Projector:
    """A projector of a chronicle."""
    return Projector(chronicle.log, store, chronicle.aids)


async def assert_equal(chronicle: Chronicle, store: Store) -> None:
    """The tables are the fold of the whole log."""
    verified = await verify(chronicle.log, store, here(chronicle, store))
    assert verified.differences == ()
    assert queries.without_rows(store) == ()
    (position,) = verified.positions.values()
    assert position.sequence == chronicle.last_input


async def test_the_tables_hold_the_log(chronicle: Chronicle, store: Store) -> None:
    """Everything that happened is a row, under the names that the design gives."""
    await project(chronicle, store).catch_up()

    counts = {
        name: values(store, f"SELECT count(*) FROM {name}")[0][0] for name in TABLES
    }
    assert counts == TABLES
    await assert_equal(chronicle, store)


async def test_a_restart_goes_on_where_the_tables_are(
    chronicle: Chronicle, store: Store
) -> None:
    """What is written already is folded and not written again."""
    await project(chronicle, store).catch_up()
    chronicle.scenario.wait(1).sense("one more")
    await chronicle.catch_up()

    await project(chronicle, store).catch_up()

    await assert_equal(chronicle, store)


@pytest.mark.parametrize("batch", [1, 2, 3])
async def test_the_size_of_batches_does_not_show(
    chronicle: Chronicle, store: Store, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows and later changes of them may be written together or apart."""
    monkeypatch.setattr(projecting, "BATCH_GROUPS", batch)
    monkeypatch.setattr("projections.projector.folding.GROUPS_AT_ONCE", 1)
    await project(chronicle, store).catch_up()
    monkeypatch.undo()

    await assert_equal(chronicle, store)


@pytest.mark.parametrize("writes", range(1, 10))
async def test_a_stop_in_the_middle_leaves_a_whole_prefix(
    chronicle: Chronicle, store: Store, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a projector dies, the next one ends with the same tables."""
    monkeypatch.setattr(projecting, "BATCH_GROUPS", 1)
    monkeypatch.setattr("projections.projector.folding.GROUPS_AT_ONCE", 1)
    dying = Dying(store, writes)
    with pytest.raises(Killed):
        await Projector(chronicle.log, dying, chronicle.aids).catch_up()
    monkeypatch.undo()
    assert stands(store) < chronicle.last_input

    await project(chronicle, store).catch_up()

    await assert_equal(chronicle, store)


async def test_of_two_projectors_one_stops(chronicle: Chronicle, store: Store) -> None:
    """Both begin at the same place; the second finds it moved and writes nothing."""
    first, second = project(chronicle, store), project(chronicle, store)
    await first.catch_up(until={5: 5})
    await second.catch_up(until={5: 5})
    await first.catch_up()

    with pytest.raises(PositionLost):
        await second.catch_up(until={5: 13})
    await assert_equal(chronicle, store)


async def test_a_commit_whose_answer_is_lost_counts(
    chronicle: Chronicle, store: Store
) -> None:
    """The projector finds its own move in the tables and goes on."""
    deaf = Deaf(store)
    await Projector(chronicle.log, deaf, chronicle.aids).catch_up()

    assert deaf.lost == 1
    await assert_equal(chronicle, store)


async def test_following_brings_what_happens_meanwhile(
    chronicle: Chronicle, store: Store
) -> None:
    """New groups are in the tables shortly after they are in the log."""
    async with beside(project(chronicle, store).run()):
        for text in ("first", "second"):
            chronicle.scenario.wait(1).sense(text)
            await chronicle.catch_up()
            await until(lambda: stands(store) == chronicle.last_input, "written")

    await assert_equal(chronicle, store)


async def test_a_database_away_is_waited_for(
    chronicle: Chronicle, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told once; when PostgreSQL is back, the tables catch up."""
    async with embedded_postgres(folder, durable=False) as server:
        with Store(server.url) as store:
            store.prepare()
            await server.kill()
            with caplog.at_level(logging.WARNING):
                async with beside(project(chronicle, store).run()):
                    await until(lambda: "fall behind" in caplog.text, "told")
                    await server.restart()
                    await until(
                        lambda: stands(store) == chronicle.last_input, "caught up"
                    )

            assert caplog.text.count("fall behind") == 1
            await assert_equal(chronicle, store)


async def test_a_shorter_log_stops_the_projector(
    chronicle: Chronicle, store: Store
) -> None:
    """An older backup of the log does not pass for the log."""
    await project(chronicle, store).catch_up()
    shorter = Chronicle(Scenario())
    await shorter.catch_up()

    with pytest.raises(LogTruncated, match="ends before it"):
        await project(shorter, store).catch_up()


async def test_another_message_at_the_position_stops_the_projector(
    chronicle: Chronicle, store: Store
) -> None:
    """A log that went another way since does not either."""
    await project(chronicle, store).catch_up()
    other = garden()
    for number in range(20):
        other.sense(f"other {number}")
    strange = Chronicle(other)
    await strange.catch_up()

    with pytest.raises(LogTruncated, match=r"has '.+' there, not 'id-10'"):
        await project(strange, store).catch_up()


async def test_another_log_stops_the_projector(
    chronicle: Chronicle, store: Store
) -> None:
    """Tables belong to one log; the error says how to make those of another."""
    await project(chronicle, store).catch_up()

    with pytest.raises(LogTruncated, match=r"another log.*projection rebuild"):
        await Projector(MemoryLog(), store, chronicle.aids).catch_up()


async def test_text_that_postgresql_refuses_stops_nothing(store: Store) -> None:
    """The character 0 in a text, a field or a comment is replaced; no person has one."""
    scenario = garden()
    advised = scenario.sense(
        "nul \x00 here", salience={"threat": 1}, fields={"a\x00": "\x00"}
    )
    scenario.feedback(advised, "positive", comment="\x00")
    chronicle = Chronicle(scenario)
    await chronicle.catch_up()
    await project(chronicle, store).catch_up()

    assert values(store, "SELECT event_text FROM decisions") == [("nul \ufffd here",)]
    await assert_equal(chronicle, store)


class Killed(Exception):
    """The end of a process, for a test."""


class Dying(Store):
    """A store whose program dies in the middle of one of its writes."""

    def __init__(self, store: Store, writes: int) -> None:
        self._engine = store._engine
        self._left = writes

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        with super().transaction() as connection:
            yield connection
            if self._left == 0:
                raise Killed

    def write(self, *arguments: Any) -> None:
        self._left -= 1
        super().write(*arguments)


class Deaf(Store):
    """A store that commits its first write, and does not hear so."""

    def __init__(self, store: Store) -> None:
        self._engine = store._engine
        self.lost = 0

    def write(self, *arguments: Any) -> None:
        super().write(*arguments)
        if not self.lost:
            self.lost += 1
            raise StoreUnavailable("the answer to the commit was lost")


def stands(store: Store) -> int:
    """Up to where the tables are; 0 while the database is away."""
    try:
        positions: Sequence[int] = [
            each.sequence for each in store.positions(1).values()
        ]
    except StoreUnavailable:
        return 0
    return max(positions, default=0)


def test_the_agents_partition_is_the_one_used_above() -> None:
    """The tests name it by its number."""
    assert Scenario(agent=factories.AGENT).partition == 5


@pytest.mark.parametrize("tokens", [3_000_000_000, 2**63 + 1, -(2**40)])
async def test_any_count_of_tokens_is_held(store: Store, tokens: int) -> None:
    """What a model says that it took stops no projector, and no rebuild."""
    scenario = garden(model=factories.MODEL)
    asked = output(scenario.sense("zombies near", salience={"threat": 0.9}), ModelAsked)
    scenario.tell(
        ModelAnswered(
            ask_id=asked.id,
            request_hash="r",
            model="m",
            text="Run!",
            input_tokens=tokens,
            output_tokens=tokens,
        )
    )
    chronicle = Chronicle(scenario)
    await chronicle.catch_up()

    await project(chronicle, store).catch_up()

    await assert_equal(chronicle, store)
    [(held,)] = values(
        store, "SELECT input_tokens FROM asks WHERE input_tokens IS NOT NULL"
    )
    assert held == max(-(2**63) + 1, min(tokens, 2**63 - 1))
