"""The context of a group: what the folds of its outputs share."""

from datetime import datetime
from functools import cached_property

from msgspec import Struct

from projections.folds import events, habits
from projections.folds.events import Appearance
from projections.folds.learning import terms
from schemas.codec.envelope import Input
from schemas.messages.sensing import Sensed
from schemas.packs.manifest import CompiledPack
from schemas.ports import aids as aiding
from schemas.ports.aids import Aids
from schemas.state.agent import AgentState, SharedState
from schemas.values.settings import UNSTARTED, LearningSettings, MindSettings


class FoldContext(Struct, frozen=True, dict=True):
    """What the folds of one group share."""

    shared: SharedState
    agent: AgentState
    """The state at the input, before any of its outputs is folded."""
    input: Input
    aids: Aids
    now: datetime

    @property
    def settings(self) -> MindSettings:
        """The settings in force."""
        return self.shared.settings or UNSTARTED

    @property
    def learning(self) -> LearningSettings:
        """The learning settings in force for the agent."""
        return self.agent.learning(self.settings)

    def judging(self, state: AgentState, heuristic_id: str) -> LearningSettings:
        """Return the learning settings of a heuristic, by its terms in `state`."""
        return terms.under(self.learning, terms.of(state, self.packs, heuristic_id))

    # Cached for the group, whose inputs do not change; `dict=True` above gives the struct
    # the place to keep them in.
    @cached_property
    def packs(self) -> tuple[CompiledPack, ...]:
        """The packs in force, by name; no group loads one and uses it afterwards."""
        return aiding.in_force(self.shared, self.agent, self.aids)

    @cached_property
    def appearance(self) -> Appearance:
        """The appearance of the group's event; only its own decision changes it."""
        event = self.input.message
        assert isinstance(event, Sensed)
        limit = self.settings.limits.duplicate
        vector = self.aids.vector
        return events.appearance(
            self.agent,
            self.packs,
            event,
            vector,
            limit,
            is_bounded=self.settings.edition >= habits.BOUNDED_SINCE,
        )
