"""Beginning to own partitions: fold what the log holds, and say which settings are in force."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

from handlers.broker_wait import until_available
from handlers.worker.listening import Recovered
from handlers.worker.partition_owner import PartitionOwner
from handlers.worker.recovery import Recovery
from schemas.messages.controls import MindStarted
from schemas.messages.results import ClockTicked
from schemas.values.subjects import SHARED_AGENT, inputs_of
from streams.log import ReadableLog, WritableLog, append_input


@dataclass(slots=True)
class Entrance:
    """Takes partitions up, with the settings that are in force from then on."""

    log: ReadableLog
    writer: WritableLog
    recovery: Recovery
    started: MindStarted
    recovered: Recovered

    async def recover(self, partitions: Iterable[int]) -> list[PartitionOwner]:
        """Fold partitions up to the last group that the log holds."""
        standings = [
            await until_available(partial(self.recovery.recover, each))
            for each in partitions
        ]
        for each in standings:
            await self.recovered(each.partition, each.state)
        return standings

    async def announce(self, partitions: Sequence[int]) -> None:
        """Append to each partition which settings are in force from here."""
        appends = (
            self.append(self.started, SHARED_AGENT, partition, "/echoic/worker")
            for partition in partitions
        )
        await asyncio.gather(*appends)

    async def append(
        self,
        message: MindStarted | ClockTicked,
        agent: str,
        partition: int,
        source: str,
    ) -> None:
        """Append an input of the worker's own."""
        attempt = partial(
            append_input,
            self.writer,
            self.log.epoch,
            message,
            agent=agent,
            partition=partition,
            # Made once, outside the attempts, so that a repeated append is dropped as a
            # duplicate.
            id_=str(uuid4()),
            source=source,
        )
        await until_available(attempt)

    async def first_to_read(
        self, standings: Iterable[PartitionOwner]
    ) -> dict[int, int]:
        """Return by partition behind which sequence its first unanswered input stands.

        An idle partition's position may lie far behind; what others have answered since
        need not be read again.
        """
        return await until_available(partial(self._first_to_read, standings))

    async def _first_to_read(
        self, standings: Iterable[PartitionOwner]
    ) -> dict[int, int]:
        # The end of all inputs is where a partition begins that has answered what it has;
        # partitions in several streams share no such end.
        ends = await self.log.ends(inputs_of("*"))
        begins = {}
        for standing in standings:
            subjects, position = inputs_of(standing.partition), standing.state.position
            begin = max(position, ends[0]) if len(ends) == 1 else position
            if await self.log.last_sequence(subjects) > position:
                # Empty if what stood there was removed in between.
                found = await self.log.page(subjects, position, 1)
                begin = found[0].sequence - 1 if found else position
            begins[standing.partition] = begin
        return begins
