"""Everywhere that an instance may hold somebody's words, as text to search."""

import asyncio
import base64
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import zstandard
from sqlalchemy import text as sql

from echoic.client.connection import Connection
from echoic.run.instance import Instance
from projections.store.store import Store
from streams.jetstream.connection import ApiError, insist
from streams.log import scan
from streams.topology import LOG_SUBJECTS


async def in_log(live: Instance | Connection) -> str:
    """All that the log says, opened as far as it can be."""
    bodies = [each.body async for each in scan(live.log, LOG_SUBJECTS)]
    return "\n".join(each.decode(errors="replace") for each in bodies)


def in_tables(live: Instance | Connection) -> str:
    """All rows of all tables, old versions included."""
    assert live.database_url is not None
    found = []
    with Store(live.database_url) as store, store.transaction() as connection:
        names = connection.scalars(
            sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        ).all()
        for name in names:
            rows = connection.execute(sql(f'SELECT t::text FROM "{name}" t'))
            found += [row[0] for row in rows]
    return "\n".join(found)


def on_disk(folder: Path, word: str | bytes, but: str = "-") -> list[Path]:
    """The files below a folder that hold a word."""
    raw = word.encode() if isinstance(word, str) else word
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and but not in path.parts and raw in bytes_of(path)
    ]


def bytes_of(path: Path) -> bytes:
    """What a file holds; nothing if it has gone meanwhile."""
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


async def in_streams(live: Instance | Connection) -> str:
    """All messages of all streams as they are stored, as the broker gives them out."""
    found = []
    listed = await insist(live.client, "$JS.API.STREAM.NAMES", {})
    for stream in listed["streams"]:
        which = {"seq": 1, "next_by_subj": ">"}
        while True:
            try:
                got = await insist(
                    live.client, f"$JS.API.STREAM.MSG.GET.{stream}", which
                )
            except ApiError:
                break
            message = got["message"]
            for name in ("hdrs", "data"):
                raw = base64.b64decode(message.get(name, ""))
                found += [raw.decode(errors="replace"), unpacked(raw)]
            which["seq"] = message["seq"] + 1
    return "\n".join(found)


def unpacked(raw: bytes) -> str:
    """What zstd makes of bytes, if it is zstd."""
    with suppress(zstandard.ZstdError):
        unpacking = zstandard.ZstdDecompressor().decompressobj()
        return unpacking.decompress(raw).decode(errors="replace")
    return ""


async def metrics(live: Instance) -> str:
    """The page for Prometheus."""
    assert live.metrics_url is not None
    url = live.metrics_url
    return await asyncio.to_thread(lambda: urlopen(url).read().decode())
