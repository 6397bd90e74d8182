"""One folded group: its messages, and the states before and after it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from projections.folds import agent as agent_fold
from projections.folds.fold_context import FoldContext
from schemas.codec.envelope import Input, Output
from schemas.packs.compiled import CompiledPack
from schemas.ports.aids import Aids, in_force
from schemas.state.agent import AgentState, PartitionState
from schemas.values.learning_settings import LearningSettings
from schemas.values.settings import UNSTARTED, MindSettings

_NOTHING = AgentState()


class Folded:
    """An input, its outputs, and the partition's state before and after them.

    What every row asks for is looked up once, when it is made.
    """

    def __init__(
        self,
        before: PartitionState,
        input_: Input,
        outputs: tuple[Output, ...],
        after: PartitionState,
        aids: Aids,
    ) -> None:
        """Take what was folded; nothing of it may be changed afterwards."""
        self.before = before
        self.input = input_
        self.outputs = outputs
        self.after = after
        self.aids = aids
        self.name = input_.agent
        """The agent's name."""
        known = before.agents.get(input_.agent)
        self.is_new = known is None
        """Whether this is the agent's first group."""
        self.agent_before = known or _NOTHING
        """The agent's state before the group."""
        # The shared agent has no state of its own.
        self.agent = after.agents.get(input_.agent, _NOTHING)
        """The agent's state after the group."""
        self.now = self.agent.now or input_.at
        """The agent's time after the group; the broker's where it has none."""
        self.settings: MindSettings = after.shared.settings or UNSTARTED
        """The settings in force."""
        self._packs: tuple[CompiledPack, ...] | None = None

    def now_of(self, agent: AgentState) -> datetime:
        """Return the time of another agent that the input concerns."""
        return agent.now or self.input.at

    @property
    def learning(self) -> LearningSettings:
        """The learning settings in force for the agent."""
        return self.agent.learning(self.settings)

    @property
    def packs(self) -> tuple[CompiledPack, ...]:
        """The packs in force for the agent, by name."""
        if self._packs is None:
            self._packs = in_force(self.after.shared, self.agent, self.aids)
        return self._packs


@dataclass(frozen=True, slots=True)
class Step:
    """One output of a group, and the agent's state before and after it."""

    output: Output
    before: AgentState
    after: AgentState
    context: FoldContext


def steps(folded: Folded) -> Iterator[Step]:
    """Fold the group again, output by output, and yield what each of them changed."""
    state, now = agent_fold.begin(folded.agent_before, folded.input)
    context = FoldContext(
        shared=folded.before.shared,
        agent=state,
        input=folded.input,
        aids=folded.aids,
        now=now,
    )
    for output in folded.outputs:
        before = state
        state = agent_fold.said(state, context, output.id, output.message)
        yield Step(output, before, state, context)
