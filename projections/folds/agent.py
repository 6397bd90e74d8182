"""One agent's state after one more input and the group that answers it.

What an input changes, it changes through its answer: whatever was quarantined, refused or
had been seen before leaves nothing but its trace in the chain.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from immutables import Map
from msgspec.structs import replace

from projections.folds import (
    beliefs,
    clock,
    controls,
    events,
    expectations,
    experiments,
    fires,
    heuristics,
    judging,
    lessons,
    lives,
    proposals,
    sessions,
    sleeping,
    terms,
    waits,
)
from projections.folds.events import Appearance
from schemas import aids as aiding
from schemas.aids import Aids
from schemas.asks import DeliveryAsked, ModelAsked
from schemas.catalogue import OutputMessage
from schemas.controls import HeuristicFrozen, ProposalApplied, ProposalReverted
from schemas.decisions import Completed, Decided, Dropped, HeuristicFired
from schemas.envelope import Input
from schemas.feedback import FeedbackGiven
from schemas.learning import (
    AdviceIgnored,
    CandidateRefused,
    Endorsed,
    FeedbackApplied,
    HeuristicFormed,
    OutcomeExpired,
    OutcomeObserved,
    ProposalMade,
)
from schemas.lessons import Lesson
from schemas.notes import ControlApplied, Handled
from schemas.packs import CompiledPack
from schemas.results import Result
from schemas.sensing import Sensed
from schemas.settings import UNSTARTED, LearningSettings, MindSettings
from schemas.sleep import Reflected, SleepBegun, SleepEnded
from schemas.state import (
    AgentState,
    Belief,
    SharedState,
    Trigger,
    belief_key,
)


@dataclass(frozen=True)
class Scene:
    """What the folds of one group share."""

    shared: SharedState
    agent: AgentState
    """At the input, before anything is said."""
    taken: Input
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
        """The learning settings that a heuristic is judged by, as it stands in `state`."""
        return terms.under(self.learning, terms.of(state, self.packs, heuristic_id))

    @cached_property
    def packs(self) -> tuple[CompiledPack, ...]:
        """The packs in force, by name; no group loads one and goes on to use it."""
        return aiding.in_force(self.shared, self.agent, self.aids)

    @cached_property
    def appearance(self) -> Appearance:
        """What the event at hand is; only the one decision on it changes that."""
        event = self.taken.message
        assert isinstance(event, Sensed)
        limit = self.settings.limits.duplicate
        vector = self.aids.vector
        return events.appearance(self.agent, self.packs, event, vector, limit)


def begin(state: AgentState, taken: Input) -> tuple[AgentState, datetime]:
    """The state in the session and at the time of an input.

    Raises:
        clock.ClockFaultError: the session's clock cannot take the input's time.
    """
    state = sessions.before(state, taken)
    now = clock.agent_time(state, taken)
    state = clock.advance(state, now, taken)
    return sessions.opened(state, taken, now), now


def said(
    state: AgentState, scene: Scene, id_: str, message: OutputMessage
) -> AgentState:
    """The state after one output of the group; `state` is at the input's time."""
    match message:
        case Decided():
            return _decided(state, scene, id_, message)
        case Completed():
            if scene.settings.formation:
                state = lessons.completed(state, message)
            if state.moments:
                words = scene.aids.of(message.text)
                state = sleeping.completed(state, message, words)
            return fires.completed(state, message)
        case Dropped():
            return fires.dropped(state, message)
        case ModelAsked():
            return _asked(state, scene, id_, message)
        case DeliveryAsked():
            return fires.ask_is(state, id_, "open")
        case Handled(reason="recorded"):
            return _recorded(state, scene.taken.message)
        case ControlApplied():
            return _controlled(state, scene)
        case _:
            return _learnt(state, scene, id_, message)


def _controlled(state: AgentState, scene: Scene) -> AgentState:
    match scene.taken.message:
        case ProposalApplied() as message:
            place, settings = scene.taken.sequence, scene.settings
            return proposals.applied(state, message, place, settings, scene.packs)
        case ProposalReverted() as message:
            return proposals.reverted(state, message, scene.settings, scene.packs)
        case HeuristicFrozen() as message:
            return heuristics.frozen(_revived(state, scene, message), message)
        case _:
            return controls.applied(state, scene.taken, scene.aids)


def _revived(state: AgentState, scene: Scene, message: HeuristicFrozen) -> AgentState:
    """The state in which what froze of itself begins a new trial, if it is released."""
    id_ = message.heuristic_id
    content_hash = controls.content_in_force(state, scene.packs, id_)
    if message.frozen or content_hash is None:
        return state
    learning = scene.judging(state, id_)
    held = belief(state, scene, id_, content_hash)
    if beliefs.lifecycle(held, frozen_by_hand=False, learning=learning) != "frozen":
        return state
    declared = terms.declared(state, scene.packs, id_)
    return _believing(state, id_, content_hash, lives.revived(held, declared, learning))


def _learnt(
    state: AgentState, scene: Scene, id_: str, message: OutputMessage
) -> AgentState:
    match message:
        case HeuristicFired():
            return _fired(state, scene, id_, message)
        case OutcomeObserved():
            return _observed(state, scene, message)
        case OutcomeExpired():
            return _expired(state, scene, message)
        case AdviceIgnored():
            return _ignored(state, scene, message)
        case FeedbackApplied():
            return _voted(state, scene, message)
        case Endorsed():
            return _endorsed(state, scene, message)
        case HeuristicFormed():
            return _formed(state, scene, message)
        case CandidateRefused(sleep_id=None):
            return lessons.over(state, message.decision_id)
        case ProposalMade():
            place = scene.taken.sequence
            state = proposals.made(state, message, place, scene.aids)
            asleep = message.sleep_id and state.sleeping
            return sleeping.proposed(state, message) if asleep else state
        case _:
            return _slept(state, scene, message)


def _formed(state: AgentState, scene: Scene, message: HeuristicFormed) -> AgentState:
    if message.proposal_id is None:
        state = heuristics.formed(state, message, scene.aids)
        return lessons.over(state, message.decision_id)
    proposal = proposals.find(state, message.proposal_id)
    kept = proposal.vectors if proposal is not None else (b"", b"")
    return heuristics.formed(state, message, scene.aids, kept)


def _slept(state: AgentState, scene: Scene, message: OutputMessage) -> AgentState:
    match message:
        case SleepBegun():
            return sleeping.begun(state, message, scene.now)
        case Reflected():
            return sleeping.reflected(state, message)
        case CandidateRefused():
            return sleeping.refused(state, message)
        case SleepEnded():
            return sleeping.ended(state, message, scene.now)
        case _:
            return state


def belief(
    state: AgentState, scene: Scene, heuristic_id: str, content_hash: str
) -> Belief:
    """What is believed of a heuristic's content, its declared confidence if nothing yet.

    Within the bounds that hold for it; what is folded on is what the evidence says.
    """
    packs, learning = scene.packs, scene.learning
    return lives.believed(state, packs, learning, heuristic_id, content_hash)


def _held(
    state: AgentState, scene: Scene, heuristic_id: str, content_hash: str
) -> Belief:
    packs, learning = scene.packs, scene.learning
    return lives.held(state, packs, learning, heuristic_id, content_hash)


def _decided(state: AgentState, scene: Scene, id_: str, message: Decided) -> AgentState:
    state = fires.decided(state, id_, message)
    if state.experiment is not None and message.experiment is not None:
        runs = experiments.decided(state.experiment, message.experiment, scene.now)
        state = replace(state, experiment=runs)
    event = scene.taken.message
    if not isinstance(event, Sensed) or message.event_id != scene.taken.id:
        return state
    vector = scene.aids.vector
    state = events.remembered(state, event, scene.taken.id, id_, vector)
    if scene.settings.sleep.events:
        how = scene.settings.sleep
        packs, now = scene.packs, scene.now
        state = sleeping.decided(state, packs, id_, message, event, now, how)
    if vector is None:
        return state
    return events.habituated(
        state, scene.appearance, vector, scene.now, passed=message.path != "none"
    )


def _fired(
    state: AgentState, scene: Scene, id_: str, message: HeuristicFired
) -> AgentState:
    if message.mode != "shown":
        return fires.suggested(state, message)
    event = scene.taken.message
    if isinstance(event, Sensed) and message.event_id == scene.taken.id:
        trigger = _trigger(scene, event)
    else:
        trigger = waits.trigger(state, message.decision_id, scene.now)
    state = fires.fired(state, id_, message, trigger)
    state = fires.shown(state, id_, message, trigger, scene.learning.undo_s)
    held = _held(state, scene, message.heuristic_id, message.content_hash)
    return _believing(
        state,
        message.heuristic_id,
        message.content_hash,
        beliefs.fired(held, scene.now),
    )


def _asked(
    state: AgentState, scene: Scene, id_: str, message: ModelAsked
) -> AgentState:
    event, trigger, lesson = scene.taken.message, None, None
    if message.purpose == "reflection":
        return sleeping.asked(state, id_, message)
    if isinstance(event, FeedbackGiven):
        return lessons.asked(state, id_, message, event)
    if message.about is not None:
        text = message.about.text
        words = scene.aids.of(text)
        state = sleeping.asked_about(state, message.decision_id, text, words)
        return waits.for_prediction(state, id_, message, message.about)
    if isinstance(event, Sensed):
        lesson = _lesson(scene, event)
    if message.rival is not None and isinstance(event, Sensed):
        trigger = _trigger(scene, event)
    state = waits.for_answer(state, id_, message, scene.taken.id, trigger, lesson)
    return experiments.asked(state, id_)


def _lesson(scene: Scene, event: Sensed) -> Lesson | None:
    """The event as what a model says of it may teach, if anything is learnt so."""
    if not (scene.settings.formation or scene.settings.endorsement):
        return None
    return lessons.of_event(event, scene.appearance.domain.name)


def _trigger(scene: Scene, event: Sensed) -> Trigger:
    """What a fire of this event waits for, and whose outcome counts."""
    domain = scene.appearance.domain
    armed = expectations.armed(domain.pack, event, scene.now) if domain.pack else ()
    return Trigger(
        at=scene.now, domain=domain.name, entities=event.entities, expectations=armed
    )


def _recorded(state: AgentState, message: object) -> AgentState:
    if isinstance(message, Result):
        return fires.ask_is(state, message.ask_id, "answered")
    return state


def _observed(state: AgentState, scene: Scene, message: OutcomeObserved) -> AgentState:
    is_known = fires.is_told(state, message)
    state = fires.ended(state, message, message.outcome)
    held = _held(state, scene, message.heuristic_id, message.content_hash)
    if message.outcome not in ("success", "fail"):
        return _noticed(state, message, held)
    is_success = message.outcome == "success"
    after, place = held, scene.taken.sequence
    learning = scene.judging(state, message.heuristic_id)
    if not is_known:
        after = beliefs.observed(held, message.fire_id, is_success, place, learning)
    after = beliefs.told(after, message.fire_id, is_success, scene.now)
    return _believing(state, message.heuristic_id, message.content_hash, after)


def _expired(state: AgentState, scene: Scene, message: OutcomeExpired) -> AgentState:
    remembered = state.decisions.get(message.decision_id)
    state = fires.ended(state, message, "timeout")
    if not scene.learning.ignored_after or remembered is None:
        return state
    held = _held(state, scene, message.heuristic_id, message.content_hash)
    after = beliefs.expired(held, is_judged=remembered.is_judged)
    return _believing(state, message.heuristic_id, message.content_hash, after)


def _ignored(state: AgentState, scene: Scene, message: AdviceIgnored) -> AgentState:
    held = _held(state, scene, message.heuristic_id, message.content_hash)
    place = scene.taken.sequence
    learning = scene.judging(state, message.heuristic_id)
    after = beliefs.ignored(held, message.fire_id, place, learning)
    state = fires.ignored(state, message)
    return _believing(state, message.heuristic_id, message.content_hash, after)


def _noticed(state: AgentState, message: OutcomeObserved, held: Belief) -> AgentState:
    """The state that knows that the world took note, though it teaches nothing."""
    if not held.ignored:
        return state
    held = replace(held, ignored=0)
    return _believing(state, message.heuristic_id, message.content_hash, held)


def _voted(state: AgentState, scene: Scene, message: FeedbackApplied) -> AgentState:
    given, before = scene.taken.message, state
    about = given if isinstance(given, FeedbackGiven) else None
    earlier = judging.earlier(state, about, message)
    if message.heuristic_id is not None and message.content_hash is not None:
        held = _held(state, scene, message.heuristic_id, message.content_hash)
        place = scene.taken.sequence
        learning = scene.judging(state, message.heuristic_id)
        state = judging.counted(
            state, message, held, earlier, place, learning, scene.now
        )
        state = lessons.reinforced(state, message)
    state = judging.rated(state, message)
    if message.decision_id is None:
        return state
    state = judging.noted(before, state, message, earlier)
    state = lessons.voted(state, message)
    return judging.felt(state, message, scene.now)


def _endorsed(state: AgentState, scene: Scene, message: Endorsed) -> AgentState:
    id_, content_hash, similarity = (
        message.heuristic_id,
        message.content_hash,
        message.similarity,
    )
    held = _held(state, scene, id_, content_hash)
    place, learning = scene.taken.sequence, scene.judging(state, id_)
    after = beliefs.endorsed(held, message.decision_id, similarity, place, learning)
    return _believing(state, id_, content_hash, after)


def _believing(
    state: AgentState, heuristic_id: str, content_hash: str, held: Belief
) -> AgentState:
    beliefs_: Map[str, Belief] = state.beliefs.set(
        belief_key(heuristic_id, content_hash), held
    )
    return replace(state, beliefs=beliefs_)
