"""The closed-loop run: a strategy answers a recording's inputs with its own state.

The mind itself answers them. It learns only from what carries over, models answer from the
cassette after the latency they had, and timers run on a virtual clock, the recorded broker
time. Inputs made by the run have sequences far above the recorded ones.
"""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass

from handlers.aids import AidProvider
from replay.cassette import Cassette, Mode, ModelPort, Player
from replay.closed_loop.decision import ClosedLoopDecision
from replay.closed_loop.history import History, history_of
from replay.closed_loop.simulation import Ending, Simulation
from replay.recording.in_force import Contender
from replay.recording.source import Recording
from schemas.codec.envelope import Input
from schemas.ports.aids import Aids
from schemas.values.subjects import SHARED_AGENT
from streams.groups import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Where the answers of models come from."""

    mode: Mode = "cassette"
    port: ModelPort | None = None
    """For the mode `requery`."""
    stub: str = ""
    """For the mode `stub`."""


class ClosedLoopRun:
    """One run of a strategy over a recording."""

    def __init__(
        self,
        recording: Recording,
        strategy: Contender,
        provider: AidProvider,
        *,
        answers: Answers | None = None,
        since: int | None = None,
    ) -> None:
        """Prepare a run.

        Args:
            recording: the source of its inputs.
            strategy: what it decides by; None is the agent's own, without exploration.
            provider: supplies vectors and packs, as it does for the worker.
            answers: where the answers of models come from.
            since: the first input that it answers; those before are folded as recorded.

        Iterate over `decisions`, or else call `begin`, `take` for every group, and `end`.
        """
        self._recording = recording
        self._strategy = strategy
        self._provider = provider
        self._answers = answers or Answers()
        self._since = max(since or 0, recording.first)
        self._simulation: Simulation | None = None

    async def decisions(self) -> AsyncGenerator[ClosedLoopDecision, None]:
        """Run, and yield each decision once it is completed.

        Raises:
            ModelMiss: mode `strict`, and a model's answer was not recorded.
            MissingPackError: a pack in force is not in the recording's store.
            LogDamaged, SessionFileError: the recording is not sound or not whole.
        """
        recording = self._recording
        # The recording is read twice: what carries over depends on all that the recorded
        # run did, later winners and answers included.
        self.begin(*await history_of(recording, self._since))
        await self._provider.fetch_packs_of(recording.start)
        async with aclosing(recording.groups()) as groups:
            async for group, input_, aids in self._provider.for_recorded(groups):
                for decision in await self.take(group, input_, aids):
                    yield decision
        for decision in await self.end():
            yield decision

    def begin(self, past: History, cassette: Cassette) -> None:
        """Start the run, given what the recorded run did from `since` on."""
        how = self._answers
        player = Player(cassette, how.mode, port=how.port, stub=how.stub)
        self._simulation = Simulation(
            self._recording, self._strategy, self._provider, player, past
        )

    async def take(
        self, group: Group, input_: Input, aids: Aids
    ) -> Iterator[ClosedLoopDecision]:
        """Process the next group, and return the decisions that it completes.

        Raises:
            ModelMiss: mode `strict`, and a model's answer was not recorded.
        """
        run = self._begun
        # The log is one of a partition; its other agents have no part in this one's state.
        if input_.agent not in (self._recording.agent, SHARED_AGENT):
            return iter(())
        if input_.sequence < self._since:
            run.fold(input_, group.outputs, aids)
            return iter(())
        await run.answer_recorded(input_, aids)
        return run.complete()

    async def end(self) -> Iterator[ClosedLoopDecision]:
        """Deliver the models' outstanding answers, and return the remaining decisions."""
        await self._begun.deliver_outstanding()
        return self._begun.complete(at_the_end=True)

    @property
    def ending(self) -> Ending:
        """The result of the run, complete after its last decision."""
        return self._begun.ending()

    @property
    def _begun(self) -> Simulation:
        if self._simulation is None:
            raise RuntimeError("nothing was run yet: go through decisions() first")
        return self._simulation
