"""The context of one turn: the outputs emitted so far, and the state after them.

It exists for one call of `handle` and is passed as `turn`. Whoever reads `state` sees every
output emitted before.
"""

from datetime import datetime
from uuid import UUID

from projections.folds import agent as agent_fold
from projections.folds import experiments, goals_and_biases
from projections.folds.events import Appearance
from projections.folds.fold_context import FoldContext
from projections.folds.learning import beliefs, heuristics
from projections.folds.learning.drift import Drift, drift
from schemas.codec.catalogue import OutputMessage
from schemas.codec.envelope import Input
from schemas.messages.arms import Action
from schemas.messages.decisions import RelevantGoal
from schemas.messages.experiments import AS_SET, Variant
from schemas.messages.learning import (
    AdviceIgnored,
    DriftRaised,
    Endorsed,
    FeedbackApplied,
    LifecycleChanged,
    OutcomeObserved,
    SilenceWeighed,
)
from schemas.packs.compiled import CompiledPack
from schemas.ports import faults
from schemas.ports.aids import Aids
from schemas.ports.probe import Probe, Stage, unprobed
from schemas.state.agent import AgentState, SharedState, ShownFire
from schemas.state.evidence import Belief
from schemas.values import ids
from schemas.values.learning_settings import LearningSettings
from schemas.values.reasons import Lifecycle
from schemas.values.settings import MindSettings

_Credited = (
    FeedbackApplied | OutcomeObserved | AdviceIgnored | Endorsed | SilenceWeighed
)


class TurnContext:
    """Collects the outputs that answer one input, and folds them into the agent's state.

    Mutable, but local to one call: nobody outside the call may keep it.
    """

    def __init__(
        self,
        state: AgentState,
        shared: SharedState,
        input_: Input,
        aids: Aids,
        now: datetime,
        epoch: UUID,
        *,
        probe: Probe = unprobed,
    ) -> None:
        self.input = input_
        self.aids = aids
        self.now = now
        self.variant = AS_SET
        self.claimed: str | None = None
        """Whom the event named, though its sensor may not."""
        self._fold_context = FoldContext(shared, state, input_, aids, now)
        self.settings: MindSettings = self._fold_context.settings
        """The settings in force, with those of an adopted variant on top."""
        self.learning: LearningSettings = self._fold_context.learning
        """The learning settings in force for the agent."""
        self.packs: tuple[CompiledPack, ...] = self._fold_context.packs
        self.state = state
        """The agent's state after the input and the outputs emitted so far."""
        self._epoch = epoch
        self._probe = probe
        self._outputs: list[OutputMessage] = []
        self._ids: list[str] = []

    @property
    def outputs(self) -> tuple[OutputMessage, ...]:
        """The outputs emitted so far, in order."""
        return tuple(self._outputs)

    @property
    def appearance(self) -> Appearance:
        """The event's domain and habit, as the agent knows them."""
        return self._fold_context.appearance

    @property
    def goals(self) -> tuple[str, ...]:
        """The goals for every event: the agent's own, else the settings'."""
        return goals_and_biases.own_goals(self.state, self.settings)

    @property
    def possible_goals(self) -> tuple[str, ...]:
        """Texts that identify which other goals a model may be told; part of its arm."""
        return goals_and_biases.possible_goals(self.state, self.settings)

    def goals_of(self, domain: str) -> tuple[str, ...]:
        """Return the goals that may count for a domain's events."""
        return goals_and_biases.goals_of_domain(self.state, self.settings, domain)

    def relevant_goals(self, domain: str) -> tuple[RelevantGoal, ...] | None:
        """Return the goals that the event at hand is about; None if all of them count."""
        known = self.goals_of(domain)
        vector = self.aids.vector
        return goals_and_biases.relevant_goals(
            self.state, self._fold_context.shared, self.settings, known, vector
        )

    def biases_of(self, domain: str) -> dict[str, float]:
        """Return the personality's adjustments for a domain's events."""
        return goals_and_biases.biases(
            self.settings,
            self.state,
            self.packs,
            domain,
            template=self.variant.template,
        )

    @property
    def next_id(self) -> str:
        """The id of the output to be emitted next."""
        place = len(self._outputs)
        if place == len(self._ids):
            self._ids.append(ids.output_id(self._epoch, self.input.sequence, place))
        return self._ids[place]

    def enter(self, stage: Stage) -> None:
        """Tell the probe, if there is one, that a stage begins."""
        try:
            self._probe(stage)
        except faults.OF_AN_INPUT:
            # Whoever measures has no part in the answer, not even by failing.
            return

    def emit(self, message: OutputMessage) -> str:
        """Add an output, fold it into the state, and return its id.

        Raises whatever the fold raises of it, before anything of it can be written.
        """
        id_ = self.next_id
        self._outputs.append(message)
        self.state = agent_fold.said(self.state, self._fold_context, id_, message)
        return id_

    def unsay(self, count: int, state: AgentState) -> None:
        """Take back all but the first `count` outputs; `state` is the one after those."""
        del self._outputs[count:]
        self.state = state
        # The variant was adopted for what is taken back; the next output chooses its own.
        self.adopt(None)

    def adopt(self, variant: Variant | None) -> None:
        """Use the settings of a variant of an experiment from here on; of none if None."""
        self.variant = variant or AS_SET
        own = self._fold_context.settings
        self.settings = own if variant is None else experiments.under(own, variant)

    def draw(self, purpose: str) -> float:
        """Return a draw in [0, 1) that depends on seed, agent, event and purpose alone."""
        return ids.draw(self.settings.seed, self.input.agent, self.input.id, purpose)

    def belief(self, heuristic_id: str, content_hash: str) -> Belief:
        """Return the Beta belief about a heuristic's content at this point of the turn."""
        return self._fold_context.belief(self.state, heuristic_id, content_hash)

    def action_of(self, fire: ShownFire) -> Action | None:
        """Return the action of a fire's heuristic, as that is defined now."""
        found = heuristics.find(self.state, self.packs, fire.heuristic_id)
        return found.action if found is not None else None

    def credit(self, message: _Credited) -> None:
        """Emit evidence on a heuristic, and announce the limit that it crosses by it."""
        id_, content_hash = message.heuristic_id, message.content_hash
        # A vote on a model's words credits no heuristic, and is recorded all the same.
        if id_ is None or content_hash is None:
            self.emit(message)
            return
        self.watch(id_, content_hash, message)

    def watch(
        self, heuristic_id: str, content_hash: str, message: OutputMessage
    ) -> None:
        """Emit a message on a heuristic; announce a new lifecycle or drift alarm by it."""
        # Compared before and after the fold, so that what is announced is what a reader
        # folds.
        life = self.life(heuristic_id, content_hash)
        drifted = self._drift(heuristic_id, content_hash)
        self.emit(message)
        after = self.life(heuristic_id, content_hash)
        if after != life:
            self.emit(
                LifecycleChanged(
                    heuristic_id=heuristic_id,
                    content_hash=content_hash,
                    before=life,
                    after=after,
                    confidence=self.belief(heuristic_id, content_hash).confidence,
                )
            )
        drifts = self._drift(heuristic_id, content_hash)
        # Only on the rising edge: an alarm that lasts is announced once.
        if drifts is not None and drifted is None:
            self.emit(
                DriftRaised(
                    heuristic_id=heuristic_id,
                    content_hash=content_hash,
                    fires=drifts.fires,
                    successes=drifts.successes,
                    expected=drifts.expected,
                    low=drifts.low,
                    high=drifts.high,
                )
            )

    def life(self, heuristic_id: str, content_hash: str) -> Lifecycle:
        """Return the lifecycle of a heuristic's content."""
        return beliefs.lifecycle(
            self.belief(heuristic_id, content_hash),
            heuristic_id in self.state.frozen,
            self.learning,
        )

    def _drift(self, heuristic_id: str, content_hash: str) -> Drift | None:
        learning = self._fold_context.judging(self.state, heuristic_id)
        return drift(self.belief(heuristic_id, content_hash), learning)
