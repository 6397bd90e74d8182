"""Intake streams that the log stopped taking from, and how they go on.

nats-server 2.15.1 that is killed while a whole window of an intake stream is under way keeps
those messages as delivered and unacknowledged, though the log has them, and hands out no more.
The consumer is then put behind what the log has taken.
"""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streams.cancellation import heed_cancellation
from streams.errors import StreamsError
from streams.jetstream.bringing import Bringer
from streams.jetstream.connection import insist
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import without
from streams.jetstream.one_instance import OneInstance
from streams.jetstream.registry import load
from streams.jetstream.sourced import behind_box, consumer_of_box
from streams.segments import Segment, Segments
from streams.topology import BOXES, StreamSpec

LOOK_S = 3.0
"""Seconds for which a window must stand still: what is taken is acknowledged within one."""

_CLOSE_LOOKS = 5
"""How often it is looked after each `LOOK_S`, once a connection was made; a kill ends it."""

_SELDOM_LOOKS = 20
"""After how many `LOOK_S` it is looked in other times: another node may have been killed."""

MISSED_LOOKS = 3
"""After how many `LOOK_S` it is looked for what the log missed: a broker that stands still
need not end a connection."""

_log = logging.getLogger(__name__)


async def keep_taking(client: BrokerClient, mark: Path | None = None) -> None:
    """See to it that the log takes all that intake streams hold, until cancelled.

    Consumers that stand still are put behind what the log has taken, and what it missed is
    brought over. Both take sources out for a moment, so it is one after the other. `mark` is
    a file that says up to where nothing is missed.
    """
    alone = OneInstance(client, "intake")
    watch, bringer = _StallWatch(client, alone), Bringer(client, alone, mark)
    looks, reconnects = 0, client.stats["reconnects"]
    while True:
        heed_cancellation()
        if client.stats["reconnects"] != reconnects:
            looks, reconnects = 0, client.stats["reconnects"]
        try:
            # Two looks in a row tell what stands still.
            if looks < _CLOSE_LOOKS or looks % _SELDOM_LOOKS <= 1:
                await watch.look()
            if bringer.suspects or looks % MISSED_LOOKS == 0:
                await bringer.look()
        except StreamsError as error:
            _log.info("not looked whether the log takes what is sent: %s", error)
        looks += 1
        await asyncio.sleep(LOOK_S)


class _StallWatch:
    """What the intake streams' consumers stood at when they were last looked at."""

    def __init__(self, client: BrokerClient, alone: OneInstance) -> None:
        """Use a connection, which the caller closes, in turns with other instances."""
        self._client = client
        self._alone = alone
        self._stood: dict[tuple[str, str], Any] = {}

    async def look(self) -> list[str]:
        """Mend those that stand where they stood before; return their intake streams.

        Raises:
            StreamsError: the broker is away, or refuses.
        """
        segments, _ = await load(self._client)
        if segments.preparing:
            # A roll-over has closed the intake, and opens it.
            return []
        mended = []
        for segment in segments.open:
            boxes = [
                BOXES[each]
                for each in segment.every
                if await self._stands_still(segment, BOXES[each])
            ]
            if boxes:
                mended += await self._mend(segments, segment, boxes)
        return mended

    async def _mend(
        self, segments: Segments, segment: Segment, boxes: Sequence[StreamSpec]
    ) -> list[str]:
        async with self._alone.turn() as may:
            # Another instance may have mended some since they were looked at.
            still = [
                each
                for each in boxes
                if may and await self._stands_still(segment, each)
            ]
            if still:
                await go_on(self._client, segments, segment, still)
        return [each.name for each in still]

    async def _stands_still(self, segment: Segment, box: StreamSpec) -> bool:
        place = segment.stream, box.name
        info = await consumer_of_box(self._client, segment, box)
        if info is None:
            return False
        under_way = info["num_ack_pending"]
        stands = (
            info["delivered"]["stream_seq"],
            info["ack_floor"]["stream_seq"],
            under_way,
        )
        before, self._stood[place] = self._stood.get(place), stands
        return under_way > 0 and info.get("push_bound", False) and stands == before


async def go_on(
    client: BrokerClient,
    segments: Segments,
    segment: Segment,
    boxes: Sequence[StreamSpec],
) -> None:
    """Put consumers of intake streams behind what a segment has taken of them.

    The segment takes nothing of them meanwhile: what is under way would come twice, and the
    server would pass over what a consumer delivers that was reset behind its back.

    Raises:
        StreamsError: the broker is away, or refuses.
    """
    async with without(client, segments, segment, {each.name for each in boxes}):
        for box in boxes:
            taken = await behind_box(client, segment, box)
            # What the segments before have taken, this one must not.
            begin = taken or segment.begins.get(box.name, 1)
            subject = f"$JS.API.CONSUMER.RESET.{box.name}.{segment.stream}"
            await insist(client, subject, {"seq": begin})
            _log.warning(
                "%s stood still: %s goes on at %d", box.name, segment.stream, begin
            )
