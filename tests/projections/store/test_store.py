"""The store: a batch and its positions are written together, or not at all."""

import pytest
import sqlalchemy as sa

from projections.errors import (
    PositionLost,
    StoreUnavailable,
    StoreUnusable,
    VersionRetired,
)
from projections.rows.changes import Change, Patch, Put, Remove, Row, join
from projections.store.places import Move, Position
from projections.store.store import Store

pytestmark = pytest.mark.services

AT_7 = Position(7, "epoch", "id-7")
AT_9 = Position(9, "epoch", "id-9")
BEGIN = Move(3, None, AT_7)


def vote(value: float, *, person: str = "kim") -> Put:
    """A row of rapport."""
    return Put("rapport", ("ana", person), {"value": value, "at": None, "sequence": 1})


def refused(id_: str) -> Put:
    """A row of a table whose rows are only added."""
    row: Row = {"reason": "empty", "detail": "d", "subject": "s", "input_id": "i"}
    return Put("quarantine", ("ana", id_), {**row, "received_at": None, "sequence": 1})


def write(store: Store, *changes: Change, move: Move, version: int = 1) -> None:
    """Write changes with one move."""
    store.write(version, join(changes), [move])


def values(store: Store, statement: str) -> list[tuple[object, ...]]:
    """What a question is answered with."""
    with store.transaction() as connection:
        return [tuple(row) for row in connection.execute(sa.text(statement))]


def test_a_batch_is_written_with_its_position(store: Store) -> None:
    """Rows are put, replaced, patched and removed; the position stands where it ends."""
    write(store, vote(0.5), vote(0.4, person="lee"), refused("a"), move=BEGIN)
    write(
        store,
        vote(0.6),
        Patch("rapport", ("ana", "lee"), {"value": 0.3}),
        Patch("rapport", ("ana", "nobody"), {"value": 0.3}),
        refused("b"),
        Remove("quarantine", ("ana", "a")),
        move=Move(3, AT_7, AT_9),
    )

    found = values(store, "SELECT person, value FROM rapport ORDER BY person")
    assert found == [("kim", 0.6), ("lee", 0.3)]
    assert values(store, "SELECT id FROM quarantine") == [("b",)]
    assert store.positions(1) == {3: AT_9}


def test_a_moved_position_refuses_the_whole_write(store: Store) -> None:
    """The second of two projectors writes nothing, wherever it thought to stand."""
    write(store, vote(0.5), move=BEGIN)

    for late in (BEGIN, Move(3, Position(5, "epoch", "id-5"), AT_9)):
        with pytest.raises(PositionLost, match="another projector"):
            write(store, vote(0.9), move=late)
    assert values(store, "SELECT value FROM rapport") == [(0.5,)]
    assert store.positions(1) == {3: AT_7}


def test_a_write_that_fails_moves_nothing(store: Store) -> None:
    """An error behind the move takes the move back."""
    write(store, refused("a"), move=BEGIN)

    with pytest.raises(StoreUnusable, match="duplicate key"):
        write(store, refused("a"), move=Move(3, AT_7, AT_9))
    assert store.positions(1) == {3: AT_7}


def test_counts_are_added_to_what_is_there(store: Store) -> None:
    """Counting goes on across batches."""
    row: Row = {"title": "", "input_count": 2, "first_sequence": 1, "spoke_count": 0}
    session = Put("sessions", ("ana", "s"), row)
    write(store, session, move=BEGIN)
    more = Patch("sessions", ("ana", "s"), {"input_count": 3})
    write(store, more, move=Move(3, AT_7, AT_9))

    assert values(store, "SELECT input_count FROM sessions") == [(5,)]


def test_a_heuristic_keeps_when_it_came_to_be(store: Store) -> None:
    """Putting it again replaces all but that."""
    first = Put("heuristics", ("ana", "h"), {"name": "a", "created_by": 3})
    again = Put("heuristics", ("ana", "h"), {"name": "b", "created_by": 9})
    write(store, first, move=BEGIN)
    write(store, again, move=Move(3, AT_7, AT_9))

    found = values(store, "SELECT name, created_by FROM heuristics")
    assert found == [("b", 3)]


def test_a_version_is_shown_once_it_is_not_behind(store: Store) -> None:
    """Readers see the old tables until the swap, and the new ones from then on."""
    write(store, vote(0.5), move=BEGIN)
    version = store.begin()
    assert store.promote(version, {}) is False

    write(store, vote(0.7), move=BEGIN, version=version)
    assert values(store, "SELECT value FROM rapport") == [(0.5,)]
    assert store.promote(version, {}) is True
    assert values(store, "SELECT value FROM rapport") == [(0.7,)]
    assert [each.state for each in store.versions()] == ["retired", "serving"]


def test_a_retired_version_is_not_written(store: Store) -> None:
    """Its projector is told, so that it goes on with the one that serves."""
    assert store.promote(store.begin(), {})

    with pytest.raises(VersionRetired, match="replaced by a rebuild"):
        write(store, vote(0.5), move=BEGIN)


def test_the_serving_version_cannot_be_dropped(store: Store) -> None:
    """Any other can, with its tables and positions."""
    version = store.begin()
    write(store, vote(0.5), move=BEGIN, version=version)
    store.drop(version)

    with pytest.raises(StoreUnusable, match="serves"):
        store.drop(1)
    assert store.positions(version) == {}
    tables = values(store, "SELECT tablename FROM pg_tables WHERE tablename ~ '__v2$'")
    assert tables == []


def test_a_database_away_is_told_without_its_password() -> None:
    """The error says where it should be and that the mind goes on."""
    with (
        Store("postgresql://echoic:secret@127.0.0.1:9/x") as store,
        pytest.raises(StoreUnavailable) as told,
    ):
        store.prepare()
    assert "127.0.0.1:9" in str(told.value)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("url", ["nonsense", "mysql://here/x"])
def test_a_url_of_something_else_is_refused(url: str) -> None:
    """The error shows how one is written."""
    with pytest.raises(StoreUnusable, match="postgresql://"):
        Store(url)


def test_a_database_without_tables_is_told(postgres: str) -> None:
    """Reading before anything was projected says what to run."""
    with (
        Store(postgres) as store,
        pytest.raises(StoreUnusable, match="no read models yet"),
    ):
        store.serving()


def test_files_are_wiped_by_a_superuser_alone(store: Store, database: str) -> None:
    """Another role is told that it may not, and nothing is tried."""
    with store.transaction() as connection:
        connection.execute(sa.text("CREATE ROLE plain LOGIN PASSWORD 'x'"))
    url = sa.make_url(database).set(username="plain", password="x")
    with Store(url.render_as_string(hide_password=False)) as plain:
        assert not plain.wipe()
    assert store.wipe()
    with store.transaction() as connection:
        connection.execute(sa.text("DROP ROLE plain"))
