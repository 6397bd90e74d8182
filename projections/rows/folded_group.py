"""One folded group: its messages, and the states before and after it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from projections.folds import agent as agent_fold
from projections.folds.fold_context import FoldContext
from schemas.codec.envelope import Input, Output
from schemas.packs.manifest import CompiledPack
from schemas.ports.aids import Aids, in_force
from schemas.state.agent import AgentState, PartitionState
from schemas.values.settings import UNSTARTED, LearningSettings, MindSettings

_NOTHING = AgentState()


@dataclass(frozen=True, slots=True)
class Folded:
    """An input, its outputs, and the partition's state before and after them."""

    before: PartitionState
    input: Input
    outputs: tuple[Output, ...]
    after: PartitionState
    aids: Aids

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.input.agent

    @property
    def is_new(self) -> bool:
        """Whether this is the agent's first group."""
        return self.input.agent not in self.before.agents

    @property
    def agent_before(self) -> AgentState:
        """The agent's state before the group."""
        return self.before.agents.get(self.input.agent, _NOTHING)

    @property
    def agent(self) -> AgentState:
        """The agent's state after the group."""
        return self.after.agents[self.input.agent]

    @property
    def now(self) -> datetime:
        """The agent's time after the group; the broker's where it has none."""
        return self.agent.now or self.input.at

    def now_of(self, agent: AgentState) -> datetime:
        """Return the time of another agent that the input concerns."""
        return agent.now or self.input.at

    @property
    def settings(self) -> MindSettings:
        """The settings in force."""
        return self.after.shared.settings or UNSTARTED

    @property
    def learning(self) -> LearningSettings:
        """The learning settings in force for the agent."""
        return self.agent.learning(self.settings)

    @property
    def packs(self) -> tuple[CompiledPack, ...]:
        """The packs in force for the agent, by name."""
        return in_force(self.after.shared, self.agent, self.aids)


@dataclass(frozen=True, slots=True)
class Step:
    """One output of a group, and the agent's state before and after it."""

    output: Output
    before: AgentState
    after: AgentState
    scene: FoldContext


def steps(folded: Folded) -> Iterator[Step]:
    """Fold the group again, output by output, and yield what each of them changed."""
    state, now = agent_fold.begin(
        folded.agent_before, folded.input, folded.before.shared.settings
    )
    scene = FoldContext(
        shared=folded.before.shared,
        agent=state,
        input=folded.input,
        aids=folded.aids,
        now=now,
    )
    for output in folded.outputs:
        before = state
        state = agent_fold.said(state, scene, output.id, output.message)
        yield Step(output, before, state, scene)
