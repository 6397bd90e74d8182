"""The index of episodes by likeness, made once there are many and made anew as they grow.

By inverted lists (ivfflat): a row costs some 15 µs more to write, where a graph (hnsw) costs
6 ms. Lists are made of the rows that are there, so an empty table has none (ADR 0047).
"""

from math import isqrt

import sqlalchemy as sa
from sqlalchemy.engine import Connection

FROM = 10_000
"""From how many episodes of one dimension on there is an index; fewer are scanned."""

_GROWTH = 4
"""When there are so many times as many as it was made of, it is made anew."""

PROBES = 30
"""How many lists are searched; further ones if what is found there may not be told."""

_LISTS = (10, 1_000)
"""How many lists there are, at least and at most: the root of the number of rows."""

_COUNTS = (
    "SELECT dimension, count(*) AS rows FROM episodes__v{version}"
    " WHERE dimension IS NOT NULL GROUP BY dimension ORDER BY dimension"
)
_MADE = sa.text(
    "SELECT indexrelid::regclass::text AS name,"
    " coalesce(obj_description(indexrelid, 'pg_class'), '0')::bigint AS rows"
    " FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
    " WHERE indrelid = to_regclass(:table) AND relname LIKE :prefix"
)
_MEMORY = sa.text("SET LOCAL maintenance_work_mem = '256MB'")


def tend(connection: Connection, version: int) -> None:
    """Make the indexes that a version of the tables is to have by now.

    Writers wait meanwhile, some seconds for a hundred thousand rows; readers do not.
    """
    found = connection.execute(sa.text(_COUNTS.format(version=version))).all()
    for dimension, rows in found:
        prefix = f"episodes__v{version}_near_{dimension}_"
        names = {"table": f"episodes__v{version}", "prefix": f"{prefix}%"}
        made = connection.execute(_MADE, names).all()
        known = max((each.rows for each in made), default=0)
        if rows < max(FROM, known * _GROWTH):
            continue
        connection.execute(_MEMORY)
        connection.execute(sa.text(_index(version, dimension, rows)))
        connection.execute(sa.text(f"COMMENT ON INDEX {prefix}{rows} IS '{rows}'"))
        for each in made:
            connection.execute(sa.text(f"DROP INDEX {each.name}"))


def _index(version: int, dimension: int, rows: int) -> str:
    lists = min(max(isqrt(rows), _LISTS[0]), _LISTS[1])
    # Of an expression: the column has no dimension, since agents' embedders may differ.
    return (
        f"CREATE INDEX episodes__v{version}_near_{dimension}_{rows}"
        f" ON episodes__v{version}"
        f" USING ivfflat ((embedding::vector({dimension})) vector_cosine_ops)"
        f" WITH (lists = {lists}) WHERE dimension = {dimension}"
    )
