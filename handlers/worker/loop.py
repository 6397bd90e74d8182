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
from typing import Protocol

from msgspec.structs import replace

from handlers.aids import AidProvider
from handlers.broker_wait import PAUSE_S, until_available
from handlers.mind import turn as turns
from handlers.mind.turn import Turn
from handlers.state_sources import state_code
from handlers.worker.checkpointing import Saver
from handlers.worker.clock import Alarms, wall_clock
from handlers.worker.entering import Entrance
from handlers.worker.holdings import Holdings, Tenure, Unlimited
from handlers.worker.lanes import Lanes
from handlers.worker.listening import Listeners, Timed
from handlers.worker.partition_owner import PartitionOwner, advanced, writes
from handlers.worker.recovery import Recovery
from handlers.worker.timing import StageClock
from projections.folds import rate_limits
from schemas.codec.decode import read_input
from schemas.codec.envelope import Input
from schemas.messages.controls import MindStarted, PersonForgotten
from schemas.messages.notes import ControlApplied
from schemas.messages.results import ClockTicked
from schemas.ports import faults
from schemas.ports.sealing import Caused
from schemas.state.agent import AgentState, PartitionState
from schemas.values.record import Record
from schemas.values.subjects import ALL_PARTITIONS, parse, partition_of
from streams.cancellation import heed_cancellation
from streams.errors import Fenced, LogFull, LogRefused, LogUnavailable
from streams.jetstream.checkpoints import Checkpoints
from streams.log import ReadableLog, WritableLog
from streams.topology import BATCH_LIMIT

INPUTS_AT_ONCE = 192
"""How many inputs are answered with one write, at most."""

TAKEN_AT_ONCE = 4 * INPUTS_AT_ONCE
"""How many inputs are decided on before the loop checks its timers again."""

_TURNS_BETWEEN = 16
"""After so many turns, a few milliseconds, other tasks of this process get to run."""

_Taken = tuple[Input, int]
"""An input and when it was picked up, in nanoseconds since 1970."""


class _Keys(Protocol):
    """The keys of a sealed log."""

    def sealed_outputs(
        self, cause: Caused, outputs: Sequence[Record]
    ) -> Sequence[Record]:
        """Seal outputs before their digests enter the chain."""
        ...

    async def forgotten(self, agent: str) -> None:
        """Go on without those keys of an agent that were destroyed."""
        ...


SILENT = Listeners()
"""Nobody listens."""

_ASKED_S = 1.0
"""Seconds for which a question waits for the write under way; then it is answered without."""


class _Lapsed(Exception):
    """The worker cannot tell that its partitions are still its own."""


_PASSING: tuple[type[Exception], ...] = (
    Fenced,
    _Lapsed,
    LogUnavailable,
    LogFull,
    LogRefused,
    *faults.OF_THE_SHELL,
)
"""Errors that pass: the inputs are answered again, on what the log holds by then."""

_log = logging.getLogger(__name__)


class Worker:
    """The owner of some partitions of a log."""

    def __init__(  # noqa: PLR0913  # each is a port or a setting of its own
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
        keys: _Keys | None = None,
    ) -> None:
        """Prepare to own `partitions`; `started` is appended to each of them first."""
        code = state_code(started.digests.embedder)
        self.ready = asyncio.Event()
        """Set when the state is there and inputs are being answered."""
        self._log = log
        self._writer = writer
        self._provider = provider
        self.partitions = tuple(partitions)
        """Those that it begins with."""
        self._listeners = listeners
        self.tenure: Tenure = Unlimited()
        """Whether what it owns is still its own."""
        recovery = Recovery(log, provider, checkpoints, code, listeners.folding)
        self._entrance = Entrance(log, writer, recovery, started, listeners.recovered)
        self._saver = Saver(checkpoints, log.epoch, code)
        self._alarms = Alarms(clock)
        self._keys = keys
        self._lanes = Lanes(log, {}, INPUTS_AT_ONCE)
        self.holdings = Holdings(self._entrance, self._lanes, self._alarms, self._saver)
        """What it owns; turns decided ahead are local to `_answer_ahead`."""
        self._owners = self.holdings.owners
        self._written: asyncio.Task[None] | None = None
        """The last write; under way until it is done."""

    def owns(self, partition: int) -> bool:
        """Tell whether this worker, and no other, answers the inputs of a partition."""
        return partition in self._owners and not self.tenure.lapsed()

    def state_of(self, agent: str) -> AgentState | None:
        """Return what is known of an agent; None if nothing is, or another worker knows."""
        state = self.knowing(agent)
        return state.agents[agent] if state else None

    def knowing(self, agent: str) -> PartitionState | None:
        """Return the state of the partition that knows an agent; None if it does not."""
        standing = self._owners.get(partition_of(agent))
        return standing.state if standing and agent in standing.state.agents else None

    async def known_now(self, agent: str) -> PartitionState | None:
        """Return the state of an agent's partition, with whatever the log holds by now.

        Whoever read an answer there and asks at once would else be told of the time before:
        the log shows a write to others before it is acknowledged here.
        """
        if self._written is not None:
            await asyncio.wait({self._written}, timeout=_ASKED_S)
        return self.knowing(agent)

    async def run(self) -> None:
        """Answer inputs until cancelled; it may be called again after that."""
        await self.holdings.begin(self.partitions)
        self.ready.set()
        try:
            while True:
                # A request of the client may have swallowed it (ADR 0007).
                heed_cancellation()
                if self.tenure.lapsed() and not await self.tenure.look():
                    self.holdings.let_go()
                records = await self._lanes.within(self._alarms.wait_s())
                # Inputs go before ticks: one that comes now runs the due timers itself.
                await self._answer(self._owned(records))
                if not records:
                    await self._tick()
        finally:
            # What others go on from is theirs to save.
            if self.tenure.lapsed():
                self.holdings.let_go()
            # Before saving, so that no record arrives meanwhile.
            await self._lanes.close()
            await self._saver.finish(self._owners)

    def _owned(self, records: Iterable[Record]) -> list[_Taken]:
        """Return the inputs that are ours to answer, with the time of pick-up in ns."""
        now_ns = time_ns()
        return [
            (read_input(record), now_ns)
            for record in records
            if (partition := parse(record.subject).partition) in self._owners
            and record.sequence > self._owners[partition].state.position
        ]

    async def _answer(self, taken: list[_Taken]) -> None:
        """Answer inputs in order, and those that arrive before the last is written."""
        while taken := self._unanswered(taken):
            try:
                await self._answer_ahead(taken)
            except _PASSING as error:
                await self._fold_again(taken, error)

    async def _answer_ahead(self, taken: list[_Taken]) -> None:
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
                timed = await self._round(taken, decided, ahead, write)
                decided += len(timed)
                if write is not None:
                    await write
                # One write at a time: the next one's fence is the last output of this one.
                write = self._written = asyncio.create_task(self._write(timed))
                if forgotten := _forgotten_in(timed):
                    await write
                    # On what is left in the log, and not on what the state still knows.
                    inputs = [turn.input for turn, _ in timed]
                    await _let_go(self._keys, inputs)
                    await self.holdings.fold_again(forgotten)
                    ahead |= {each: self._owners[each].state for each in forgotten}
                # While the disk syncs the write, take what arrives.
                if decided == len(taken):
                    taken += await self._meanwhile(taken, write)
            if write is not None:
                await write
        finally:
            if write is not None:
                # Whether it reached the log is unknown now; the caller folds the state
                # again.
                write.cancel()
                await asyncio.wait({write})
                # Looked at, for it may have failed while nobody waited for it.
                if not write.cancelled():
                    write.exception()

    async def _round(
        self,
        taken: list[_Taken],
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
            if isinstance(made[-1][0].input.message, PersonForgotten):
                break
            if write is not None and start == len(taken):
                taken += await self._meanwhile(taken, write)
        return timed

    async def _meanwhile(
        self, taken: Sequence[_Taken], write: asyncio.Task[None]
    ) -> list[_Taken]:
        """Return what arrives before `write` is done; nothing once much was taken."""
        # The bound keeps timers from waiting.
        if write.done() or len(taken) >= TAKEN_AT_ONCE:
            return []
        return self._unanswered(self._owned(await self._lanes.before(write)))

    async def _write(self, timed: Sequence[Timed]) -> None:
        """Append turns in one fenced write, adopt their states, notify the listeners.

        Raises:
            Fenced, LogUnavailable, LogFull: the write failed, or may have.
            _Lapsed: nothing was written, as another may own the partitions by now.
        """
        if self.tenure.lapsed():
            raise _Lapsed("nobody knows for some seconds who is in charge")
        made, writing_ns = [turn for turn, _ in timed], time_ns()
        # The fence: refused as a whole if anybody wrote an output since `last_output`.
        ends = await self._writer.commit(writes(made, self._owners))
        self._adopt(made, advanced(made, ends))
        self._tell(timed, writing_ns)

    def _unanswered(self, taken: Sequence[_Taken]) -> list[_Taken]:
        owners = self._owners
        return [
            (each, picked_up_ns)
            for each, picked_up_ns in taken
            # After a doubtful write the log may turn out to hold some of the answers
            # already, or another worker to own the partition.
            if (standing := owners.get(each.partition)) is not None
            and each.sequence > standing.state.position
        ]

    async def _turns(
        self,
        taken: Sequence[_Taken],
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
                states[each.partition],
                each,
                aids,
                self._log.epoch,
                probe=clock.enter,
                seal=self._keys.sealed_outputs if self._keys else None,
            )
            messages += len(turn.outputs)
            # A group is never split; this input is answered again with the next write. The
            # first always fits, since `turn.answer` bounds a group to the same limit.
            if messages > BATCH_LIMIT and (made or before):
                break
            states[each.partition] = turn.state
            made.append((turn, clock.times(picked_up_ns)))
            # What follows is answered on the state without that person.
            if isinstance(each.message, PersonForgotten):
                break
            if len(made) % _TURNS_BETWEEN == 0:
                # The mind is pure CPU: without this the reader and the heartbeats would
                # starve.
                await asyncio.sleep(0)
        return made

    def _adopt(self, made: Sequence[Turn], owners: dict[int, PartitionOwner]) -> None:
        """Make acknowledged turns the worker's state; note their timers and checkpoints."""
        self._owners.update(owners)
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

    async def _fold_again(self, taken: Sequence[_Taken], error: Exception) -> None:
        """Drop the state of the partitions of some inputs, and fold it from the log."""
        partitions = {each.partition for each, _ in taken}
        _log.warning("%s; partitions %s are folded again", error, sorted(partitions))
        self._listeners.failed(error)
        await _let_go(self._keys, [each for each, _ in taken])
        # A fence says that the log moved on, which reading at once shows; others need time.
        if not isinstance(error, Fenced):
            await asyncio.sleep(PAUSE_S)
        # Whoever wrote may own them by now.
        if await self.tenure.look():
            await self.holdings.fold_again(sorted(partitions))
        else:
            self.holdings.let_go()

    async def _tick(self) -> None:
        """Make an input for each agent whose timer is due."""
        for alarm in self._alarms.ring():
            tick = ClockTicked(due_at=alarm.due)
            await self._entrance.append(
                tick, alarm.agent, alarm.partition, "/echoic/clock"
            )


def _forgotten_in(timed: Sequence[Timed]) -> list[int]:
    """Return where people were forgotten by turns, which the states do not yet show."""
    return sorted({turn.input.partition for turn, _ in timed if _is_forgetting(turn)})


def _is_forgetting(turn: Turn) -> bool:
    return isinstance(turn.input.message, PersonForgotten) and any(
        isinstance(output.message, ControlApplied) for output in turn.outputs
    )


async def _let_go(keys: _Keys | None, inputs: Iterable[Input]) -> None:
    """Seal no further output under the keys of whom these inputs forget."""
    for each in inputs:
        if keys is not None and isinstance(each.message, PersonForgotten):
            await until_available(partial(keys.forgotten, each.agent))
