"""What is lacking of what was acknowledged: messages of intake streams, and packs."""

import asyncio

from echoic.client.connection import Connection
from schemas.codec.decode import read_input
from schemas.messages.controls import PackLoaded
from streams.errors import LogReclaimed
from streams.jetstream import bringing, taken_mark
from streams.jetstream.missed import Lookout, Lost, Missed
from streams.log import ReadableLog, scan

_LOADED = f"ev.*.in.*.control.{PackLoaded.token}"


async def missed_of(
    connection: Connection, *, full: bool = False
) -> tuple[tuple[Missed, ...], tuple[Lost, ...]]:
    """Return what the log lacks, message by message, and what is lost.

    The intake of a sealed log appends itself, and keeps what it has not appended yet. What
    the next start takes anyhow is not missed by a log whose instance does not run.

    Args:
        connection: To the instance, or to an operator's own broker.
        full: From the oldest message that the intake streams keep, though an instance knows
            up to where nothing is missed.

    Raises:
        StreamsError: the broker is away.
    """
    if connection.log.keyring is not None:
        return (), ()
    mark = None if full else connection.settings.data / taken_mark.FILE
    lookout = Lookout(connection.client, mark)
    found = await lookout.look()
    if connection.is_stopped:
        found = tuple(each for each in found if not each.is_behind)
    elif found:
        # It may have been on its way.
        await asyncio.sleep(bringing.SURE_S)
        again = set(await lookout.look())
        found = tuple(each for each in found if each in again)
    return found, await lookout.lost()


async def lost_packs(log: ReadableLog) -> tuple[str, ...]:
    """Return the packs that the log names and the broker cannot hand out whole.

    What an archive alone has names none.

    Raises:
        StreamsError: the broker is away.
    """
    named: dict[str, str] = {}
    after: int | None = 0
    while after is not None:
        try:
            async for record in scan(log, _LOADED, after):
                message = read_input(record).message
                if isinstance(message, PackLoaded):
                    named[message.digest] = f"{message.name} {message.pack_version}"
            after = None
        except LogReclaimed as gone:
            after = gone.last + 1
    return tuple([name for each, name in named.items() if not await log.blob(each)])
