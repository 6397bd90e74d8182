"""Packs in force: loading a pack is an input of the log, for one agent or for all.

A pack that is in force with the same content is not loaded again.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from echoic.client.publish import TalkingLog, tell
from echoic.errors import EchoicError
from echoic.packs import bundled
from echoic.packs.load import BrokenPackError, load
from schemas.messages.controls import PackLoaded
from schemas.packs.manifest import Pack, blob_digest, to_blob
from schemas.values.subjects import PARTITIONS, SHARED_AGENT, partition_of
from streams.log import ReadableLog, messages


async def load_all(log: TalkingLog, packs: Iterable[Pack]) -> None:
    """Load packs for every agent, unless they are in force already."""
    await keep(log, packs := tuple(packs))
    for pack in packs:
        await asyncio.gather(
            # A partition has its own log and state, so each gets the control.
            *(_load(log, pack, SHARED_AGENT, each) for each in range(PARTITIONS))
        )


async def load_for(log: TalkingLog, agent: str, folder: Path) -> PackLoaded | None:
    """Load a pack for one agent; return None if it is in force with the same content."""
    pack = read_pack(folder)
    await keep(log, (pack,))
    return await _load(log, pack, agent, partition_of(agent))


async def in_force(
    log: ReadableLog, owner: str, partition: int
) -> dict[str, PackLoaded]:
    """Return the packs loaded last, by name, for an agent, or for all with `_`."""
    loaded = messages(log, PackLoaded, owner, partition=partition)
    last = {each.name: each async for _, each in loaded}
    return {name: each for name, each in last.items() if not each.off}


async def unload(log: TalkingLog, owner: str, name: str) -> bool:
    """Take a pack out, of an agent or of all with `_`; return whether it was in force."""
    places = range(PARTITIONS) if owner == SHARED_AGENT else (partition_of(owner),)
    was = False
    for partition in places:
        known = (await in_force(log, owner, partition)).get(name)
        if known is not None:
            out = replace(known, off=True)
            await tell(log, owner, out, partition=partition)
            was = True
    return was


def read_pack(folder: Path) -> Pack:
    """Read the pack in a folder.

    Raises:
        EchoicError: it has errors; all of them are named.
    """
    try:
        return load(bundled.found(folder))
    except BrokenPackError as error:
        raise EchoicError(
            f"the pack in {folder} has errors:\n{error}",
            next_step=f"echoic pack validate {folder}",
        ) from error


async def keep(log: TalkingLog, packs: Iterable[Pack]) -> None:
    """Store packs' contents, also of those in force, of which the broker may have lost them.

    To be done before an input names them: a worker that reads it fetches them at once.
    """
    for pack in packs:
        await log.put_blob(to_blob(pack))


async def _load(
    log: TalkingLog, pack: Pack, owner: str, partition: int
) -> PackLoaded | None:
    digest = blob_digest(to_blob(pack))
    wanted = PackLoaded(name=pack.name, pack_version=pack.version, digest=digest)
    known = (await in_force(log, owner, partition)).get(pack.name)
    if known == wanted:
        return None
    await tell(log, owner, wanted, partition=partition)
    return wanted
