"""The live tail of the log: what is there, then what arrives, in order, without gaps.

The position is kept here: where a consumer is lost, a new one starts behind the last record
that was handed on.
"""

import asyncio
from collections.abc import AsyncGenerator

from streams.errors import LogUnavailable
from streams.jetstream.ephemeral import ASKED_AT_ONCE, Consumer
from streams.jetstream.hardened_client import BrokerClient
from streams.log import Records

ASKED_PAGES = 2
"""How many pages one request asks for, for a reader whose pages are small."""

_PAUSE_S = 0.2
"""Seconds before a new consumer is made, so that a broker that starts is not flooded."""


async def follow(
    client: BrokerClient, subjects: str, after: int, limit: int
) -> AsyncGenerator[Records, None]:
    """Yield records over sequence `after` for as long as the connection is open.

    Raises:
        LogRefused: the stream does not exist, or may not be read.
        LogUnavailable: the connection was closed.
    """
    position = after
    while True:
        try:
            # The worker follows sixteen partitions by small pages; each of them must not
            # buffer a thousand records.
            asked = min(ASKED_AT_ONCE, ASKED_PAGES * limit)
            async with Consumer(client, subjects, position, asked) as consumer:
                while records := await consumer.take(limit):
                    position = records[-1].sequence
                    yield records
        except LogUnavailable:
            if client.is_closed:
                raise
        await asyncio.sleep(_PAUSE_S)
