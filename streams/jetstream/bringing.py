"""Brings into the log what it missed of the intake streams (docs/adr/0075).

What stands before something that was taken is appended, once, in the order of its intake
stream, and says where it came from: a crash in between is noticed by that. Of what nothing
behind was taken the broker is made to take it itself.
"""

import asyncio
import logging
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from uuid import UUID

from schemas.values.subjects import PARTITIONS, SHARED_AGENT, partition_of
from streams.cancellation import heed_cancellation
from streams.errors import StreamsError
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.connection import insist
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.intake import append_kept
from streams.jetstream.migrate import epoch_of, without
from streams.jetstream.missed import Forgotten, Lookout, Lost, Missed
from streams.jetstream.one_instance import OneInstance
from streams.jetstream.origins import BROUGHT_FROM
from streams.jetstream.read import stored
from streams.jetstream.registry import load
from streams.segments import Segment
from streams.topology import IN

_STRAYS = (partition_of(SHARED_AGENT) + 2) % PARTITIONS
"""Where strays are appended: in the two partitions before, the last one is a position."""

SURE_S = 2.0
"""Seconds for which a message must be missing: what is under way is taken within one."""

_BEFORE_S = 10.0
"""Seconds for which a start looks; a log without a mark may be read for longer."""

_SHOWN = 5
_log = logging.getLogger(__name__)


class Bringer:
    """Brings over what the log misses, as long as an instance runs."""

    def __init__(
        self,
        client: BrokerClient,
        alone: OneInstance,
        mark: Path | None = None,
        sure_s: float = SURE_S,
    ) -> None:
        """Use a connection, which the caller closes, in turns with other instances."""
        self._client, self._alone, self._sure_s = client, alone, sure_s
        self._lookout = Lookout(client, mark)
        self._suspected: dict[Missed, float] = {}
        """Since when, in seconds of a monotonic clock."""
        self._lost: tuple[Lost, ...] = ()

    @property
    def suspects(self) -> bool:
        """Whether something was found that the next look may find again."""
        return bool(self._suspected)

    async def look(self) -> tuple[Missed, ...]:
        """Bring over what has been missed for so long that it is not on its way; return it.

        Raises:
            StreamsError: the broker is away, or refuses.
        """
        found, now = await self._lookout.look(), time.monotonic()
        self._lost = await _told_lost(self._lookout, self._lost)
        self._suspected = {each: self._suspected.get(each, now) for each in found}
        missed = [each for each in found if now - self._suspected[each] >= self._sure_s]
        if not missed:
            await self._lookout.keep()
            return ()
        async with self._alone.turn() as may:
            if may:
                # Taken by the broker or read in the log, it takes a moment.
                self._suspected = {}
                await self._bring(missed)
        return tuple(missed) if may else ()

    async def _bring(self, missed: Sequence[Missed]) -> None:
        segments, _ = await load(self._client)
        for segment in segments.open:
            own = [each for each in missed if segment.has(each.partition)]
            if not own:
                continue
            names = {each.stream for each in own}
            # What is sourced late would come twice, and under an id of its own if it has none.
            async with without(self._client, segments, segment, names):
                still = await self._lookout.look()
                await bring(
                    self._client,
                    self._lookout,
                    segment,
                    [each for each in own if each in still],
                )


async def bring(
    client: BrokerClient, lookout: Lookout, segment: Segment, missed: Sequence[Missed]
) -> None:
    """Bring what a segment missed into the log, which takes nothing of it meanwhile.

    Raises:
        StreamsError: the broker is away, or refuses; what was brought is known by the log.
    """
    writer, epoch = JetStreamWriter(client), await epoch_of(client)
    for each in sorted(missed):
        if not each.is_behind:
            await _append(client, writer, epoch, each)
    # `IN` has no consumer of ours: its source goes on behind what the log has of it.
    for box in sorted({each.stream for each in missed if each.is_behind} - {IN.name}):
        begin = max(lookout.last(box) + 1, segment.begins.get(box, 1))
        subject = f"$JS.API.CONSUMER.RESET.{box}.{segment.stream}"
        await insist(client, subject, {"seq": begin})
    if missed:
        shown = ", ".join(map(str, missed[:_SHOWN]))
        _log.warning("%d acknowledged messages were missed: %s", len(missed), shown)


async def bring_before_opening(client: BrokerClient, mark: Path | None = None) -> None:
    """Bring over what was missed, while the intake is closed; what takes long comes later."""
    try:
        async with asyncio.timeout(_BEFORE_S):
            lookout = Lookout(client, mark)
            await bring_all(client, lookout)
            # Before it counts on: then it has nothing of this any more.
            await _told_lost(lookout)
            for each in await lookout.forgotten():
                await _number_on(client, each)
    except (StreamsError, TimeoutError) as error:
        _log.warning("what the log missed is looked for later: %r", error)


async def bring_all(client: BrokerClient, lookout: Lookout) -> None:
    """Bring over all that was missed, while the intake is closed.

    Raises:
        StreamsError: the broker is away, or refuses.
    """
    while missed := await lookout.look(is_closed=True):
        heed_cancellation()
        segments, _ = await load(client)
        for segment in segments.open:
            own = [each for each in missed if segment.has(each.partition)]
            await bring(client, lookout, segment, own)
        if all(each.is_behind for each in missed):
            # The broker takes it once the intake is open.
            return


async def _told_lost(lookout: Lookout, told: Collection[Lost] = ()) -> tuple[Lost, ...]:
    """Return what is lost, and say what was not told before."""
    lost = await lookout.lost()
    for each in lost:
        if each not in told:
            _log.warning("the broker lost %s, which the log does not have", each)
    return lost


async def _number_on(client: BrokerClient, forgotten: Forgotten) -> None:
    """Have an intake stream count on behind what the log has of it.

    The log takes nothing with a number that it has already, so what the stream took since
    then is appended here.
    """
    stream, last = forgotten.stream, forgotten.last
    writer, epoch = JetStreamWriter(client), await epoch_of(client)
    at, brought = 1, 0
    while kept := await stored(client, {"seq": at, "next_by_subj": ">"}, stream):
        at = kept.sequence + 1
        if kept.time_ns > forgotten.since_ns:
            await append_kept(writer, epoch, stream, kept, strays=_STRAYS)
            brought += 1
    # Purged up to a number that it has not reached, it goes on from there.
    await insist(client, f"$JS.API.STREAM.PURGE.{stream}", {"seq": last + 1})
    _log.warning(
        "the broker had forgotten messages of %s that the log has: it counts on from %d, "
        "and %d new ones were brought over",
        stream,
        last + 1,
        brought,
    )


async def _append(
    client: BrokerClient, writer: JetStreamWriter, epoch: UUID, missed: Missed
) -> None:
    kept = await stored(client, {"seq": missed.sequence}, missed.stream)
    # It may have become too old in this moment.
    if kept is not None:
        origin = {BROUGHT_FROM: f"{missed.stream} {missed.sequence}"}
        await append_kept(writer, epoch, missed.stream, kept, strays=_STRAYS, **origin)
