"""Keeping the log at taking what intake streams hold, whatever the broker went through."""

import asyncio
import logging

from streams.errors import StreamsError
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.majority import is_of_a_cluster
from streams.jetstream.one_instance import OneInstance
from streams.jetstream.silent_sources import SilentSources
from streams.jetstream.stalls import StallWatch

LOOK_S = 1.0
"""Seconds between two looks."""

STILL_LOOKS = 3
"""For how many of them a window must stand still: what is taken is acknowledged within one
second."""

CLOSE_S = 15
"""How many seconds after a connection was made are watched closely; a kill ends it."""

SELDOM_S = 60
"""How often it is looked in other times: another node may have been killed."""

_log = logging.getLogger(__name__)


async def keep_taking(client: BrokerClient) -> None:
    """Mend what stands still and ask silent sources again, one by one, until cancelled."""
    alone = OneInstance(client, "intake")
    stalls, sources = StallWatch(client, alone), SilentSources(client, alone)
    looks, reconnects = 0, client.stats["reconnects"]
    while True:
        if client.stats["reconnects"] != reconnects:
            looks, reconnects = 0, client.stats["reconnects"]
        try:
            # One broker alone has no elections, in which sources fall silent.
            if is_of_a_cluster(client) or _is_due(looks):
                await sources.look()
            if _is_due(looks):
                await stalls.look()
            looks += 1
        except StreamsError as error:
            _log.info("not looked whether the log takes what is sent: %s", error)
        await asyncio.sleep(LOOK_S)


def _is_due(looks: int) -> bool:
    """Whether to look for what stands still; two looks in a row tell."""
    if looks < CLOSE_S:
        return looks % STILL_LOOKS == 0
    return looks % SELDOM_S in (0, STILL_LOOKS)
