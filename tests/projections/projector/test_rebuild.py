"""Rebuilding beside what serves, and proving that the tables are the fold of the log."""

import asyncio

import pytest
import sqlalchemy as sa

from bench.beside import beside
from projections.errors import StoreUnusable
from projections.projector.projector import Projector
from projections.projector.rebuild import Here, rebuild, verify
from projections.store.checksums import Difference
from projections.store.store import Store
from tests.minds import until
from tests.projections.chronicle import Chronicle, eventful, garden, here
from tests.projections.store.test_store import values
from tests.scenario import decision_id

pytestmark = pytest.mark.services


@pytest.fixture
async def chronicle(store: Store) -> Chronicle:
    """A log that is in the tables."""
    chronicle = Chronicle(eventful(garden()))
    await chronicle.catch_up()
    await Projector(chronicle.log, store, chronicle.aids).catch_up()
    return chronicle


def execute(store: Store, statement: str) -> None:
    """Change something that nobody should."""
    with store.transaction() as connection:
        connection.execute(sa.text(statement))


async def test_a_rebuild_serves_the_same(chronicle: Chronicle, store: Store) -> None:
    """A new version stands in the old one's place; the old one is kept until the next."""
    before = values(store, "SELECT * FROM decisions ORDER BY id")

    assert await rebuild(store, here(chronicle, store)) == 2
    assert values(store, "SELECT * FROM decisions ORDER BY id") == before
    assert [each.number for each in store.versions()] == [1, 2]

    assert await rebuild(store, here(chronicle, store)) == 3
    assert [each.number for each in store.versions()] == [2, 3]


async def test_a_rebuild_heals_what_was_changed(
    chronicle: Chronicle, store: Store
) -> None:
    """Whatever was done to the tables is gone with them."""
    execute(store, "UPDATE rapport__v1 SET value = 1")
    execute(store, "DELETE FROM decisions__v1")
    await rebuild(store, here(chronicle, store))

    verified = await verify(chronicle.log, store, here(chronicle, store))
    assert verified.is_equal


async def test_readers_are_served_while_it_goes_on(
    chronicle: Chronicle, store: Store
) -> None:
    """They see the old version whole until they see the new one whole."""
    count = "SELECT count(*) FROM decisions"
    rebuilding = rebuild(store, here(chronicle, store))
    seen = set()
    async with beside(rebuilding, may_end=True) as (done,):
        while not done.done():
            seen |= set(await asyncio.to_thread(values, store, count))

    assert seen == {(5,)}


async def test_a_projector_goes_on_with_the_new_version(
    chronicle: Chronicle, store: Store
) -> None:
    """Who followed the log before the swap writes the new tables after it."""
    following = Projector(chronicle.log, store, chronicle.aids)
    async with beside(following.run()):
        await rebuild(store, here(chronicle, store))
        taken = chronicle.scenario.wait(1).sense("after the swap")
        await chronicle.catch_up()
        wanted = f"SELECT id FROM decisions WHERE id = '{decision_id(taken)}'"
        await until(lambda: len(values(store, wanted)) == 1, "written")

    verified = await verify(chronicle.log, store, here(chronicle, store))
    assert (verified.version, verified.is_equal) == (2, True)


async def test_a_rebuild_that_fails_leaves_nothing(
    chronicle: Chronicle, store: Store
) -> None:
    """Its tables are dropped, and the old ones serve on."""
    with pytest.raises(LookupError, match="not at hand"):
        await rebuild(store, Here(chronicle.log, store, type(chronicle.aids)({})))

    assert [each.number for each in store.versions()] == [1]


async def test_what_a_stopped_rebuild_left_is_removed(
    chronicle: Chronicle, store: Store
) -> None:
    """The next one clears away tables that nobody fills any more."""
    store.begin()

    assert await rebuild(store, here(chronicle, store)) == 2
    assert [each.state for each in store.versions()] == ["retired", "serving"]


async def test_one_rebuild_at_a_time(chronicle: Chronicle, store: Store) -> None:
    """The second is refused, and so is a verification."""
    with store.alone(), Store(database_of(store)) as other:
        filler = here(chronicle, other)
        for again in (rebuild(other, filler), verify(chronicle.log, other, filler)):
            with pytest.raises(StoreUnusable, match="under way"):
                await again


async def test_a_rebuild_tells_how_far_it_is(
    chronicle: Chronicle, store: Store
) -> None:
    """What it tells adds up to the groups of the log."""
    told: list[int] = []
    await rebuild(store, here(chronicle, store, told.append))

    assert sum(told) == len(chronicle.scenario.turns)


def database_of(store: Store) -> str:
    """The URL of a store's database."""
    return store._engine.url.render_as_string(hide_password=False)


@pytest.mark.parametrize(
    ("statement", "table", "kind"),
    [
        ("UPDATE rapport__v1 SET value = 0.99", "rapport", "changed"),
        ("DELETE FROM quarantine__v1", "quarantine", "missing"),
        (
            "INSERT INTO heuristics__v1 (agent, id) VALUES ('ana', 'z')",
            "heuristics",
            "extra",
        ),
        (
            """UPDATE decisions__v1 SET message = message || '{"arm": "x"}'
               WHERE sequence = (SELECT min(sequence) FROM decisions__v1)""",
            "decisions",
            "changed",
        ),
    ],
)
async def test_verifying_names_a_row_that_was_changed(
    chronicle: Chronicle, store: Store, statement: str, table: str, kind: str
) -> None:
    """One value of one row is enough; the row is named by its key."""
    execute(store, statement)

    verified = await verify(chronicle.log, store, here(chronicle, store))
    (difference,) = verified.differences
    assert (difference.table, difference.kind) == (table, kind)
    assert difference.key[0] == "ana"
    assert [each.number for each in store.versions()] == [1]


async def test_verifying_names_the_first_of_many(
    chronicle: Chronicle, store: Store
) -> None:
    """A table that lost all its rows does not make an endless list."""
    execute(store, "TRUNCATE heuristics__v1")

    verified = await verify(chronicle.log, store, here(chronicle, store))
    assert {each.kind for each in verified.differences} == {"missing"}
    assert isinstance(verified.differences[0], Difference)
    assert verified.tables["decisions"].rows == 5


async def test_tables_of_another_program_version_are_told(
    chronicle: Chronicle, store: Store
) -> None:
    """Neither verifying nor projecting takes them for its own; a rebuild does."""
    execute(store, "UPDATE projection_versions SET shape = 0")

    with pytest.raises(StoreUnusable, match="projection rebuild"):
        await verify(chronicle.log, store, here(chronicle, store))
    with pytest.raises(StoreUnusable, match="projection rebuild"):
        await Projector(chronicle.log, store, chronicle.aids).catch_up()
    await rebuild(store, here(chronicle, store))
    assert (await verify(chronicle.log, store, here(chronicle, store))).is_equal
