"""The context of a group: what the folds of its outputs share."""

from datetime import datetime

from msgspec import Struct

from projections.folds import events
from projections.folds.events import Appearance
from projections.folds.learning import beliefs
from schemas.codec.envelope import Input
from schemas.messages.sensing import Sensed
from schemas.packs.compiled import CompiledPack
from schemas.ports import aids as aiding
from schemas.ports.aids import Aids
from schemas.state.agent import AgentState, SharedState
from schemas.state.evidence import Belief
from schemas.values.learning_settings import LearningSettings
from schemas.values.settings import UNSTARTED, MindSettings


class FoldContext:
    """What the folds of one group share."""

    def __init__(
        self,
        shared: SharedState,
        agent: AgentState,
        input: Input,  # as in a turn
        aids: Aids,
        now: datetime,
    ) -> None:
        """Take the state at the input, before any of its outputs is folded."""
        self.shared = shared
        self.agent = agent
        self.input = input
        self.aids = aids
        self.now = now
        self.output_id = ""
        """Of the output that is being folded; of a group one follows the other."""
        # Each is asked for many times in a group, and depends on nothing but the above.
        self.settings: MindSettings = shared.settings or UNSTARTED
        """The settings in force."""
        self.learning: LearningSettings = agent.learning(self.settings)
        """The learning settings in force for the agent."""
        self._appearance: Appearance | None = None
        self._packs: tuple[CompiledPack, ...] | None = None

    @property
    def remembers(self) -> bool:
        """Whether conversations and like events are remembered, for prompts."""
        return self.settings.executive.prompt_tokens > 0

    @property
    def shares_votes(self) -> bool:
        """Whether a vote on answers that were said as one counts by shares."""
        return self.settings.executive.shares_votes

    @property
    def tells_events(self) -> bool:
        """Whether the latest events are remembered in words, for prompts."""
        return self.settings.executive.recent_events

    @property
    def tells_silences(self) -> bool:
        """Whether it is remembered what was not said: only if there are words to ask why."""
        phrases = self.settings.executive.phrases
        return self.remembers and any("why_silent" in each.patterns for each in phrases)

    def judging(self, state: AgentState, heuristic_id: str) -> LearningSettings:
        """Return the learning settings of a heuristic, by its terms in `state`."""
        return beliefs.learning_under(
            self.learning, beliefs.terms_of(state, self.packs, heuristic_id)
        )

    def belief(self, state: AgentState, heuristic_id: str, content_hash: str) -> Belief:
        """Return the belief in a heuristic's content within its bounds, as reported.

        Folds go on from `raw_belief`, never from this one.
        """
        return beliefs.bounded_belief(
            state, self.packs, self.learning, heuristic_id, content_hash
        )

    def raw_belief(
        self, state: AgentState, heuristic_id: str, content_hash: str
    ) -> Belief:
        """Return the belief in a heuristic's content by evidence alone, without bounds."""
        return beliefs.raw_belief(
            state, self.packs, self.learning, heuristic_id, content_hash
        )

    @property
    def packs(self) -> tuple[CompiledPack, ...]:
        """The packs in force, by name; no group loads one and uses it afterwards."""
        if self._packs is None:
            self._packs = aiding.in_force(self.shared, self.agent, self.aids)
        return self._packs

    @property
    def appearance(self) -> Appearance:
        """The appearance of the group's event; only its own decision changes it."""
        if self._appearance is None:
            event = self.input.message
            assert isinstance(event, Sensed)
            self._appearance = events.appearance(
                self.agent,
                self.packs,
                event,
                self.aids.vector,
                self.settings.limits.duplicate,
            )
        return self._appearance


class Origin(Struct, frozen=True):
    """Where a control comes from."""

    id: str
    """Of the input, or of the note that infers it: by it the change is undone."""
    at: datetime
    """The agent's time."""
    aids: Aids
    context: FoldContext
