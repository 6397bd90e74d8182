"""The index of episodes: made when there are many, made anew as they grow, and right."""

import random
from typing import Any

import pytest
import sqlalchemy as sa

from projections.rows.changes import Put, join
from projections.rows.episodes import embedding
from projections.store import nearness, recall
from projections.store.recall import Wanted
from projections.store.store import Store
from schemas.values.vectors import Vector
from tests.factories import NOON

pytestmark = pytest.mark.services

DIMENSION = 16


def vector(chance: random.Random) -> Vector:
    """Any vector."""
    return bytes(chance.randrange(1, 256) for _ in range(DIMENSION))


def write(store: Store, first: int, count: int, **fields: Any) -> None:
    """Write episodes of one agent, every other one of one person."""
    chance = random.Random(first)
    puts = [
        Put(
            "episodes",
            (fields.get("agent", "ada"), str(place)),
            {
                "source": "s", "type": "t", "text": f"text {place}",
                "person": "lee" if place % 2 else None, "entities": "[]",
                "said": None, "said_sequence": None,
                "embedding": embedding(vector(chance)), "embedder": "words",
                "dimension": DIMENSION, "at": NOON, "sequence": place,
            },
        )
        for place in range(first, first + count)
    ]  # fmt: skip
    store.write(1, join(puts), [])


def indexes(store: Store) -> list[str]:
    """The indexes by likeness that there are."""
    with store.transaction() as connection:
        found = connection.execute(
            sa.text(
                "SELECT indexname FROM pg_indexes WHERE indexname LIKE '%_near_%'"
                " ORDER BY 1"
            )
        )
        return list(found.scalars())


def found(store: Store, **fields: Any) -> list[int]:
    """The places of what is nearest to a vector."""
    wanted = Wanted(
        vector=vector(random.Random("any")),
        **{"embedder": "words", "as_of": 10_000, "limit": 10, **fields},
    )
    return [each.sequence for each in recall.nearest(store, "ada", wanted)]


def test_an_index_is_made_of_many_and_made_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not of few; when there are four times as many it is replaced by one."""
    monkeypatch.setattr(nearness, "FROM", 50)
    write(store, 0, 49)
    store.tend(1)
    assert indexes(store) == []
    write(store, 49, 51)
    store.tend(1)
    assert indexes(store) == ["episodes__v1_near_16_100"]
    write(store, 100, 100)
    store.tend(1)
    assert indexes(store) == ["episodes__v1_near_16_100"]
    write(store, 200, 250)
    store.tend(1)
    assert indexes(store) == ["episodes__v1_near_16_450"]


def test_what_an_index_finds_is_filtered_as_a_scan_is(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By agent, person and place, though few of the nearest may be told."""
    monkeypatch.setattr(nearness, "FROM", 50)
    write(store, 0, 400)
    write(store, 1_000, 400, agent="other")
    asked: tuple[dict[str, Any], ...] = (
        {},
        {"as_of": 40},
        {"is_private": True},
        {"person": "lee"},
        {"person": "ada", "as_of": 7},
        {"embedder": "others"},
    )
    before = [found(store, **each) for each in asked]
    store.tend(1)
    # So few rows are scanned sooner: the index is to be tried all the same.
    monkeypatch.setattr(
        recall, "_SEARCH",
        sa.text(
            recall._SEARCH.text
            + ", set_config('enable_seqscan', 'off', true)"
            ", set_config('enable_bitmapscan', 'off', true)"
            ", set_config('enable_sort', 'off', true)"
        ),
    )  # fmt: skip
    assert [found(store, **each) for each in asked] == before
    with store.transaction() as connection:
        connection.execute(sa.text("SELECT pg_stat_force_next_flush()"))
    with store.transaction() as connection:
        used = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname LIKE"
        assert connection.scalar(sa.text(f"{used} 'episodes__v1_near_%'")) >= len(asked)
    assert [len(each) for each in before] == [10, 10, 10, 10, 4, 0]
