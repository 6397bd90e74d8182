"""However many streams a log has, and whenever it was divided, its tables are the same."""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping

import pytest
import sqlalchemy as sa

from bench.beside import beside
from projections.projector.projector import Projector
from projections.projector.rebuild import Here, rebuild, verify
from projections.rows.changes import TableName
from projections.store.store import Store
from projections.store.tables import COLUMNS, KEYS, physical
from schemas.values.subjects import PARTITIONS
from streams.jetstream.segments import listed, roll_over
from streams.log import scan
from tests.bench.test_segments import AGENTS, all_answered, life
from tests.minds import bringer, sensed, started, working
from tests.patience import PATIENCE_S
from tests.projections.conftest import fresh_database
from tests.projections.test_live import is_up_to_date
from tests.servers import Broker, fresh_broker

pytestmark = pytest.mark.services

Rows = Mapping[TableName, list[str]]
"""The rows of each table as text, sorted."""

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ID = re.compile(rf"{_UUID}(?:-\d+)?")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(?:Z|[+-]\d\d(?::\d\d)?)?")


async def test_tables_are_equal_row_for_row(postgres: str) -> None:
    """Over one, two and four streams, and over one that becomes four in the middle.

    Any two logs differ in the sequences, ids and times of their messages. So a sequence and
    an id are compared by which message they name, of a time whether there is one, and the
    chain, a digest of the settings' ids, not at all.
    """
    alone = await lived(postgres, 1, 1)
    assert {name for name in alone if not alone[name]} <= {"episodes", "quarantine"}
    assert len(alone["decisions"]) == 7 * len(AGENTS)
    for first, then in ((2, 2), (4, 4), (1, 4)):
        other = await lived(postgres, first, then)
        for name in alone:
            assert other[name] == alone[name], (first, then, name)


async def lived(postgres: str, first: int, then: int) -> Rows:
    """The rows of a life whose first half is over so many streams, the second over others.

    They are what a projector wrote as it went on, what `projection rebuild --verify` makes of
    the log, and what a rebuild writes.
    """
    with fresh_database(postgres) as url, Store(url) as store:
        async with fresh_broker() as broker:
            log = broker.reader
            if first > 1:
                await roll_over(broker.client, first)
            async with beside(Projector(log, store, bringer(log)).run()):
                async with working(log, broker.writer, started()):
                    await life(broker)
                if then != first:
                    # As the command demands: no worker writes meanwhile.
                    await roll_over(broker.client, then)
                async with working(log, broker.writer, started()):
                    await more_life(broker)
                async with asyncio.timeout(PATIENCE_S):
                    while not await is_up_to_date(log, store):  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
            assert len((await listed(broker.client)).open) == then
            names = await names_of(broker)
            written = rows(store, 1, names)
            here = Here(log, store, bringer(log))
            assert (await verify(log, store, here)).differences == ()
            version = await rebuild(store, Here(log, store, bringer(log)), log)
            assert rows(store, version, names) == written
            return written


async def more_life(broker: Broker) -> None:
    """What is known by now, and something new."""
    for number in range(3):
        wires = [
            sensed(
                agent,
                f"{agent}-late-{number}",
                f"a cart with {number} pears left",
                occurred_at=f"2026-03-01T08:1{number}:00Z",
            )
            for agent in AGENTS
        ]
        await all_answered(broker, wires)


async def names_of(broker: Broker) -> dict[str, str]:
    """What each message is called in any log of this life, by its sequence and by its id.

    It is the so-many-th of its subject. An agent's are the same whatever was divided; only
    the partitions themselves hear of segments.
    """
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for partition in range(PARTITIONS):
        async for record in scan(broker.reader, f"ev.{partition}.>"):
            counts[record.subject] += 1
            name = f"<{record.subject} {counts[record.subject]}>"
            names[str(record.sequence)] = names[record.headers["ce-id"]] = name
    return names


def rows(store: Store, version: int, names: Mapping[str, str]) -> Rows:
    """The rows of a version, with the names of messages for sequences and ids."""
    found: dict[TableName, list[str]] = {}
    with store.snapshot() as connection:
        for name in KEYS:
            table = physical(version)[name].name
            sequences = [each for each in COLUMNS[name] if _is_sequence(each)]
            asked = sa.text(f"SELECT * FROM {table}")
            found[name] = sorted(
                _told({**row}, sequences, names)
                for row in connection.execute(asked).mappings()
            )
    return found


def _unchained(value: object) -> object:
    """A decision's message, without the digest of the settings' ids before it."""
    if isinstance(value, dict):
        return {each: value[each] for each in value if each != "chain"}
    return value


def _is_sequence(column: str) -> bool:
    return column.endswith("sequence") or column == "created_by"


def _told(
    row: dict[str, object], sequences: list[str], names: Mapping[str, str]
) -> str:
    for each in sequences:
        if row[each] is not None:
            row[each] = names[str(row[each])]
    # Ids of rows that begin with the sequence of what changed a confidence.
    head, slash, tail = str(row.get("id")).partition("/")
    if slash:
        row["id"] = f"{names[head]}/{tail}"
    row = {name: _unchained(row[name]) for name in row}
    text = _ID.sub(lambda found: names.get(found[0], found[0]), repr(row))
    return _TIME.sub("<time>", re.sub(r"datetime\.datetime\([^)]*\)+", "<time>", text))
