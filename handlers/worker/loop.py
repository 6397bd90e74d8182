"""The worker's loop: read what waits, answer it, append whole groups behind the fences.

While one write is under way, the next inputs are decided on, on top of it. A write that
is not acknowledged, for whatever reason, costs the state: it is dropped and folded again
from the log, which knows what became of the write.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from time import time_ns
from uuid import uuid4

from msgspec.structs import replace

from handlers.aids import AidProvider
from handlers.broker_wait import PAUSE_S, heed_cancellation, until_available
from handlers.mind import turn as turns
from handlers.mind.turn import Turn
from handlers.state_sources import state_code
from handlers.worker.checkpointing import Saver
from handlers.worker.clock import Alarms, wall_clock
from handlers.worker.lanes import Lanes
from handlers.worker.listening import Listeners, Timed
from handlers.worker.partition_owner import PartitionOwner, advanced, writes
from handlers.worker.recovery import Recovery
from handlers.worker.timing import StageClock
from projections.folds import rate_limits
from schemas.codec.decode import read_input
from schemas.codec.envelope import Input
from schemas.messages.controls import MindStarted
from schemas.messages.results import ClockTicked
from schemas.ports import faults
from schemas.state.agent import AgentState, PartitionState
from schemas.values.record import Record
from schemas.values.subjects import (
    ALL_PARTITIONS,
    SHARED_AGENT,
    inputs_of,
    parse,
    partition_of,
)
from streams.errors import Fenced, LogFull, LogRefused, LogUnavailable
from streams.jetstream.checkpoints import Checkpoints
from streams.log import ReadableLog, WritableLog, append_input
from streams.topology import BATCH_LIMIT

INPUTS_AT_ONCE = 192
"""How many inputs are answered with one write, at most."""

TAKEN_AT_ONCE = 4 * INPUTS_AT_ONCE
"""How many inputs are decided on before the loop checks its timers again."""

TURNS_BETWEEN = 16
"""After so many turns, a few milliseconds, other tasks of this process get to run."""

Taken = tuple[Input, int]
"""An input and when it was picked up, in nanoseconds since 1970."""

SILENT = Listeners()
"""Nobody listens."""

_PASSING: tuple[type[Exception], ...] = (
    Fenced,
    LogUnavailable,
    LogFull,
    LogRefused,
    *faults.OF_THE_SHELL,
)
"""Errors that pass: the inputs are answered again, on what the log holds by then."""

_log = logging.getLogger(__name__)


class Worker:
    """The owner of some partitions of a log."""

    def __init__(
        self,
        log: ReadableLog,
        writer: WritableLog,
        provider: AidProvider,
        started: MindStarted,
        *,
        partitions: Sequence[int] = ALL_PARTITIONS,
        checkpoints: Checkpoints | None = None,
        listeners: Listeners = SILENT,
        clock: Callable[[], datetime] = wall_clock,
    ) -> None:
        """Prepare to own `partitions`; `started` is appended to each of them first."""
        code = state_code(started.digests.embedder)
        self.ready = asyncio.Event()
        """Set when the state is there and inputs are being answered."""
        self._log = log
        self._writer = writer
        self._provider = provider
        self._started = started
        self._partitions = tuple(partitions)
        self._listeners = listeners
        self._recovery = Recovery(log, provider, checkpoints, code, listeners.folding)
        self._saver = Saver(checkpoints, log.epoch, code)
        self._alarms = Alarms(clock)
        # Only what the log has acknowledged; turns decided ahead are local to
        # `_answer_ahead`.
        self._owners: dict[int, PartitionOwner] = {}

    def state_of(self, agent: str) -> AgentState | None:
        """Return what is known of an agent; None if nothing is, or another worker knows."""
        state = self.knowing(agent)
        return state.agents[agent] if state else None

    def knowing(self, agent: str) -> PartitionState | None:
        """Return the state of the partition that knows an agent; None if it does not."""
        standing = self._owners.get(partition_of(agent))
        return standing.state if standing and agent in standing.state.agents else None

    async def run(self) -> None:
        """Answer inputs until cancelled."""
        await self._recover(self._partitions)
        # Recovered first: the announcement is an input like any other, and is answered
        # below.
        await self._announce()
        first = await until_available(self._first_to_read)
        after = {
            partition: max(first, standing.state.position)
            for partition, standing in self._owners.items()
        }
        arrivals = Lanes(self._log, after, INPUTS_AT_ONCE)
        self.ready.set()
        try:
            while True:
                # A request of the client may have swallowed it (ADR 0007).
                heed_cancellation()
                records = await arrivals.within(self._alarms.wait_s())
                # Inputs go before ticks: one that comes now runs the due timers itself.
                await self._answer(arrivals, self._owned(records))
                if not records:
                    await self._tick()
        finally:
            # The reader first, so that no record arrives while the last states are saved.
            await arrivals.close()
            await self._saver.finish(self._owners)

    async def _first_to_read(self) -> int:
        """Return the sequence behind which the first input stands that has no answer yet.

        An idle partition's position may lie far behind; what others have answered since
        need not be read again.
        """
        # The end of all inputs is the start if every partition has answered what it has.
        starts = [await self._log.last_sequence(inputs_of("*"))]
        for partition, standing in self._owners.items():
            subjects, position = inputs_of(partition), standing.state.position
            if await self._log.last_sequence(subjects) > position:
                # A replica that lags may not have it yet.
                found = await self._log.page(subjects, position, 1)
                starts.append(found[0].sequence - 1 if found else position)
        return min(starts)

    def _owned(self, records: Iterable[Record]) -> list[Taken]:
        """Return the inputs that are ours to answer, with the time of pick-up in ns."""
        now_ns = time_ns()
        return [
            (read_input(record), now_ns)
            for record in records
            if (partition := parse(record.subject).partition) in self._owners
            and record.sequence > self._owners[partition].state.position
        ]

    async def _answer(self, arrivals: Lanes, taken: list[Taken]) -> None:
        """Answer inputs in order, and those that arrive before the last is written."""
        while taken := self._unanswered(taken):
            try:
                await self._answer_ahead(arrivals, taken)
            except _PASSING as error:
                await self._fold_again(taken, error)

    async def _answer_ahead(self, arrivals: Lanes, taken: list[Taken]) -> None:
        """Decide on the next inputs while those before are being written.

        `taken` grows by what arrives meanwhile.

        Raises:
            Fenced, LogUnavailable, LogFull: of the first write that failed.
        """
        # States are persistent values (ADR 0005): if a write fails, these are just dropped.
        ahead = {each.partition: each.state for each in self._owners.values()}
        decided = 0
        write: asyncio.Task[None] | None = None
        try:
            while decided < len(taken):
                timed = await self._round(arrivals, taken, decided, ahead, write)
                decided += len(timed)
                if write is not None:
                    await write
                # One write at a time: the next one's fence is the last output of this one.
                write = asyncio.create_task(self._write(timed))
                # While the disk syncs the write, take what arrives.
                if decided == len(taken):
                    taken += await self._meanwhile(arrivals, taken, write)
            if write is not None:
                await write
        finally:
            if write is not None and not write.done():
                # Whether it reached the log is unknown now; the caller folds the state
                # again.
                write.cancel()
                await asyncio.wait({write})

    async def _round(
        self,
        arrivals: Lanes,
        taken: list[Taken],
        start: int,
        ahead: dict[int, PartitionState],
        write: asyncio.Task[None] | None,
    ) -> list[Timed]:
        """Decide on `taken` from `start` on, and on what arrives until `write` is done.

        What waits for a write to end shares the next one: each costs a sync of the disk.
        """
        timed: list[Timed] = []
        while (room := INPUTS_AT_ONCE - len(timed)) and start < len(taken):
            made = await self._turns(taken[start : start + room], ahead, timed)
            # No message more fits into the write.
            if not made:
                break
            timed += made
            start += len(made)
            if write is not None and start == len(taken):
                taken += await self._meanwhile(arrivals, taken, write)
        return timed

    async def _meanwhile(
        self, arrivals: Lanes, taken: Sequence[Taken], write: asyncio.Task[None]
    ) -> list[Taken]:
        """Return what arrives before `write` is done; nothing once much was taken."""
        # The bound keeps timers from waiting.
        if write.done() or len(taken) >= TAKEN_AT_ONCE:
            return []
        return self._unanswered(self._owned(await arrivals.before(write)))

    async def _write(self, timed: Sequence[Timed]) -> None:
        """Append turns in one fenced write, adopt their states, notify the listeners.

        Raises:
            Fenced, LogUnavailable, LogFull: the write failed, or may have.
        """
        made, writing_ns = [turn for turn, _ in timed], time_ns()
        # The fence: refused as a whole if anybody wrote an output since `last_output`.
        ends = await self._writer.commit(writes(made, self._owners))
        self._adopt(made, advanced(made, ends))
        self._tell(timed, writing_ns)

    def _unanswered(self, taken: Sequence[Taken]) -> list[Taken]:
        return [
            (each, picked_up_ns)
            for each, picked_up_ns in taken
            # After a doubtful write the log may turn out to hold some of the answers
            # already.
            if each.sequence > self._owners[each.partition].state.position
        ]

    async def _turns(
        self,
        taken: Sequence[Taken],
        states: dict[int, PartitionState],
        before: Sequence[Timed],
    ) -> list[Timed]:
        """Answer as many inputs as fit into one write with those `before`.

        `states` is advanced with each.
        """
        made: list[Timed] = []
        messages = sum(len(turn.outputs) for turn, _ in before)
        # Known before any embedding, so that a flood costs no vectors. It may be shorter
        # than `taken`: the rest waits for the next call.
        shed = rate_limits.sheds(states, [each for each, _ in taken])
        inputs = [each for each, _ in taken[: len(shed)]]
        brought = await self._provider.for_inputs(inputs, shed)
        # Not strict: aids are made for a prefix of `taken` only, see above.
        for (each, picked_up_ns), aids in zip(taken, brought, strict=False):
            clock = StageClock()
            turn = turns.answer(
                states[each.partition], each, aids, self._log.epoch, probe=clock.enter
            )
            messages += len(turn.outputs)
            # A group is never split; this input is answered again with the next write. The
            # first always fits, since `turn.answer` bounds a group to the same limit.
            if messages > BATCH_LIMIT and (made or before):
                break
            states[each.partition] = turn.state
            made.append((turn, clock.times(picked_up_ns)))
            if len(made) % TURNS_BETWEEN == 0:
                # The mind is pure CPU: without this the reader and the heartbeats would
                # starve.
                await asyncio.sleep(0)
        return made

    def _adopt(self, made: Sequence[Turn], owners: dict[int, PartitionOwner]) -> None:
        """Make acknowledged turns the worker's state; note their timers and checkpoints."""
        self._owners |= owners
        # Each agent once: its alarm follows from its newest state alone.
        met = dict.fromkeys((turn.input.partition, turn.input.agent) for turn in made)
        for partition, agent in met:
            own = owners[partition].state.agents.get(agent)
            if own is not None:
                self._alarms.note(partition, agent, own)
        self._saver.note(made)
        self._saver.save(self._owners)

    def _tell(self, timed: Sequence[Timed], writing_ns: int) -> None:
        """Notify the listeners of turns that the log holds since now."""
        write = {"writing_ns": writing_ns, "committed_ns": time_ns()}
        told = [(turn, replace(times, **write)) for turn, times in timed]
        try:
            self._listeners.answered(told)
        except Exception:  # noqa: BLE001  # whoever listens has no part in the answers
            _log.exception("whoever listens to the worker failed; it goes on unheard")

    async def _fold_again(self, taken: Sequence[Taken], error: Exception) -> None:
        """Drop the state of the partitions of some inputs, and fold it from the log."""
        partitions = {each.partition for each, _ in taken}
        _log.warning("%s; partitions %s are folded again", error, sorted(partitions))
        self._listeners.failed(error)
        # A fence says that the log moved on, which reading at once shows; others need time.
        if not isinstance(error, Fenced):
            await asyncio.sleep(PAUSE_S)
        await self._recover(sorted(partitions))

    async def _recover(self, partitions: Iterable[int]) -> None:
        for partition in partitions:
            standing = await until_available(partial(self._recovery.recover, partition))
            self._owners[partition] = standing
            self._alarms.note_all(partition, standing.state)
            self._saver.recovered(standing)

    async def _announce(self) -> None:
        """Append to each partition which settings are in force from here."""
        appends = (
            self._append(self._started, SHARED_AGENT, partition, "/echoic/worker")
            for partition in self._partitions
        )
        await asyncio.gather(*appends)

    async def _tick(self) -> None:
        """Make an input for each agent whose timer is due."""
        for alarm in self._alarms.ring():
            tick = ClockTicked(due_at=alarm.due)
            await self._append(tick, alarm.agent, alarm.partition, "/echoic/clock")

    async def _append(
        self,
        message: MindStarted | ClockTicked,
        agent: str,
        partition: int,
        source: str,
    ) -> None:
        attempt = partial(
            append_input,
            self._writer,
            self._log.epoch,
            message,
            agent=agent,
            partition=partition,
            # Made once, outside the attempts, so that a repeated append is dropped as a
            # duplicate.
            id_=str(uuid4()),
            source=source,
        )
        await until_available(attempt)
