"""A glance answers what the store does, by the driver alone."""

import pytest

from projections.errors import StoreUnavailable, StoreUnusable
from projections.store import queries
from projections.store.glance import Glance
from projections.store.store import Store
from tests.projections.store.test_store import BEGIN, refused, write

pytestmark = pytest.mark.services


def test_a_glance_sees_what_the_store_does(store: Store, database: str) -> None:
    """Version, positions and rows are the same, with JSON, times and `%` as they are."""
    write(store, refused("100%"), move=BEGIN)

    with Glance(database) as glance:
        assert glance.serving() == store.serving()
        assert glance.positions(1) == store.positions(1) != {}
        (kept,) = glance.rows("SELECT * FROM quarantine")
        assert [dict(kept)] == [dict(e) for e in store.rows("SELECT * FROM quarantine")]
        assert kept["id"] == "100%"
        assert queries.sessions(glance) == queries.sessions(store)
        like = glance.rows("SELECT '5%'::text LIKE '5%' AS is_like, :a AS a", a=":b")
        assert [dict(row) for row in like] == [{"is_like": True, "a": ":b"}]


def test_what_a_glance_cannot_see_is_said_as_the_store_does(postgres: str) -> None:
    """A new database, one that is away, one that refuses, and what is no URL: each named."""
    for url in ("nonsense", "mysql://here/x"):
        with pytest.raises(StoreUnusable):
            Glance(url)
    with Glance(postgres) as fresh:
        with pytest.raises(StoreUnusable, match="no read models yet"):
            fresh.serving()
        with pytest.raises(StoreUnusable, match="refuses"):
            fresh.rows("SELECT nothing_like_it")
    away = "postgresql://kim:secret@127.0.0.1:1/x"
    with Glance(away) as gone, pytest.raises(StoreUnavailable, match="is away") as told:
        gone.serving()

    assert "secret" not in str(told.value)
