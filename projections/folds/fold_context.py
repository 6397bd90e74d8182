"""The scene of a group: what all folds of its outputs look at."""

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
    """At the input, before anything is said."""
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
        """Return the learning settings that a heuristic is judged by, as it stands in
        `state`.
        """
        return terms.under(self.learning, terms.of(state, self.packs, heuristic_id))

    @cached_property
    def packs(self) -> tuple[CompiledPack, ...]:
        """The packs in force, by name; no group loads one and goes on to use it."""
        return aiding.in_force(self.shared, self.agent, self.aids)

    @cached_property
    def appearance(self) -> Appearance:
        """What the event at hand is; only the one decision on it changes that."""
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
