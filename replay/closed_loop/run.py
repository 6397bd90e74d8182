"""Own state: a strategy lives through a recording with its own consequences.

The mind itself answers the recorded inputs. It learns only from what carries over, models
answer from the cassette after the time they took, and timers run by the broker's time that
was recorded. The inputs that this makes have sequences far above the recorded ones.
"""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass

from handlers.aids import AidProvider
from replay.cassette import Cassette, Mode, ModelPort, Player
from replay.closed_loop.decision import ClosedLoopDecision
from replay.closed_loop.history import History, history_of
from replay.closed_loop.simulation import Ending, Simulation
from replay.recording.source import Recording
from replay.recording.standing import Contender
from schemas.codec.envelope import Input
from schemas.ports.aids import Aids
from schemas.values.subjects import SHARED_AGENT
from streams.groups import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Where the words of models come from."""

    mode: Mode = "cassette"
    port: ModelPort | None = None
    """For the mode `requery`."""
    stub: str = ""
    """For the mode `stub`."""


class ClosedLoopRun:
    """A life that a strategy leads in the place of the recorded one."""

    def __init__(
        self,
        recording: Recording,
        strategy: Contender,
        provider: AidProvider,
        *,
        answers: Answers | None = None,
        since: int | None = None,
    ) -> None:
        """Prepare a life.

        Args:
            recording: whose inputs it gets.
            strategy: what it decides by; None is the agent's own, without exploration.
            bringer: brings vectors and packs, as it does for the worker.
            answers: where the words of models come from.
            since: the input from which on it lives; before, all is as it was recorded.

        Either go through `decisions`, or let it `begin`, `take` every group, and `end`.
        """
        self._recording = recording
        self._strategy = strategy
        self._provider = provider
        self._answers = answers or Answers()
        self._since = max(since or 0, recording.first)
        self._life: Simulation | None = None

    async def decisions(self) -> AsyncGenerator[ClosedLoopDecision, None]:
        """Live, and yield each decision once it is known what came of it.

        Raises:
            ModelMiss: mode `strict`, and a model's answer was not recorded.
            MissingPackError: a pack in force is not in the recording's store.
            LogDamaged, SessionFileError: the recording is not sound or not whole.
        """
        recording = self._recording
        self.begin(*await history_of(recording, self._since))
        await self._provider.fetch_packs_of(recording.start)
        async with aclosing(recording.groups()) as groups:
            async for group, input_, aids in self._provider.for_recorded(groups):
                for decision in await self.take(group, input_, aids):
                    yield decision
        for decision in await self.end():
            yield decision

    def begin(self, past: History, cassette: Cassette) -> None:
        """Begin to live, with what the recorded life did from `since` on."""
        how = self._answers
        player = Player(cassette, how.mode, port=how.port, stub=how.stub)
        self._life = Simulation(
            self._recording, self._strategy, self._provider, player, past
        )

    async def take(
        self, group: Group, input_: Input, aids: Aids
    ) -> Iterator[ClosedLoopDecision]:
        """Take the next group; give the decisions that are complete by it.

        Raises:
            ModelMiss: mode `strict`, and a model's answer was not recorded.
        """
        life = self._begun
        if input_.agent not in (self._recording.agent, SHARED_AGENT):
            return iter(())
        if input_.sequence < self._since:
            life.follow(input_, group.outputs, aids)
            return iter(())
        await life.live(input_, aids)
        return life.complete()

    async def end(self) -> Iterator[ClosedLoopDecision]:
        """Let models answer what is still asked; give the decisions that are left."""
        await self._begun.hear_the_rest()
        return self._begun.complete(at_the_end=True)

    @property
    def ending(self) -> Ending:
        """What the life came to; known after its last decision."""
        return self._begun.ending()

    @property
    def _begun(self) -> Simulation:
        if self._life is None:
            raise RuntimeError("no life was led: go through decisions() first")
        return self._life
