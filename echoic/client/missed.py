"""What the log never took of the messages that intake streams acknowledged and still keep."""

import asyncio

from echoic.client.connection import Connection
from streams.jetstream import taken_mark
from streams.jetstream.bringing import SURE_S
from streams.jetstream.missed import Lookout, Missed


async def missed_of(
    connection: Connection, *, full: bool = False
) -> tuple[Missed, ...]:
    """Return what the log lacks, message by message.

    The intake of a sealed log appends itself, and keeps what it has not appended yet.

    Args:
        connection: To the instance, or to an operator's own broker.
        full: From the oldest message that the intake streams keep, though an instance knows
            up to where nothing is missed.

    Raises:
        StreamsError: the broker is away.
    """
    if connection.log.keyring is not None:
        return ()
    mark = None if full else connection.settings.data / taken_mark.FILE
    lookout = Lookout(connection.client, mark)
    found = await lookout.look()
    if not found:
        return ()
    # It may have been on its way.
    await asyncio.sleep(SURE_S)
    again = set(await lookout.look())
    return tuple(each for each in found if each in again)
