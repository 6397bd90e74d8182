"""Fold one input, and the group of outputs that answers it, into one agent's state.

An input changes the state only through its outputs, so that one which was quarantined,
refused or a duplicate changes nothing but the chain hash.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import replace

from projections.folds import (
    asking,
    clock,
    controls,
    credit,
    events,
    experiments,
    fires,
    formation,
    pending_answers,
    proposals,
    reflection,
    repeats,
    sessions,
    timers,
)
from projections.folds.characters import asks as layer_asks
from projections.folds.characters import autonomy, body, failing, places, retrospects
from projections.folds.executive import (
    ignored,
    known_facts,
    opportunities,
    personality,
    remembering,
    reminders,
    sayings,
    speech,
    spending,
    waiting,
)
from projections.folds.fold_context import FoldContext
from projections.folds.learning import confidence, heuristics
from schemas.codec.catalogue import OutputMessage
from schemas.codec.envelope import Input
from schemas.messages import notes
from schemas.messages.asks import (
    DeliveryAsked,
    ModelAsked,
    RecallAsked,
    StopAsked,
    TurnAsked,
    WakeupSet,
)
from schemas.messages.conversations import ConversationMoved
from schemas.messages.decisions import (
    ActionChoice,
    Completed,
    Decided,
    Dropped,
    Held,
    HeuristicFired,
)
from schemas.messages.learning import (
    AdviceIgnored,
    CandidateRefused,
    DriftRaised,
    Endorsed,
    FeedbackApplied,
    FeedbackRefused,
    HeuristicFormed,
    HeuristicReinforced,
    InsightFormed,
    LifecycleChanged,
    OutcomeExpired,
    OutcomeObserved,
    ProposalMade,
    SilenceWeighed,
    TrustChanged,
)
from schemas.messages.results import DeliveryBegun, Result
from schemas.messages.sensing import Sensed
from schemas.messages.sleep import Reflected, SleepBegun, SleepEnded
from schemas.state import limits
from schemas.state.agent import AgentState
from schemas.state.character import RememberedWords
from schemas.values.reasons import HELD_BACK

_LAYERS = ("talker", "single")
"""The layers that talk."""


def begin(state: AgentState, input_: Input) -> tuple[AgentState, datetime]:
    """Return the state in the session of an input and at its time, and that time.

    Raises:
        clock.ClockFaultError: the session's clock cannot take the input's time.
    """
    last = state
    # The order matters: a lapsed session takes its clock along, and a new one begins at
    # the time that the clock in force gives.
    state = sessions.before(state, input_)
    now = clock.agent_time(state, input_)
    if clock.has_changed(last, state, input_, now):
        moved = timers.carried(state, input_.at, now)
        state = reminders.carried(state, moved, clock.name(state, input_))
    state = controls.lapsed(clock.advance(state, now, input_), now)
    return sessions.opened(state, input_, now), now


def said(
    state: AgentState, context: FoldContext, id_: str, message: OutputMessage
) -> AgentState:
    """Return the state after one output of the group; `state` is at the input's time.

    One of a kind that is not known here changes nothing.
    """
    context.output_id = id_
    for fold in FOLDS.get(type(message), ()):
        state = fold(state, context, message)
    return state


def _dropped(state: AgentState, context: FoldContext, message: Dropped) -> AgentState:
    state = remembering.dropped(state, context, message)
    state = opportunities.unsaid(state, message.decision_id)
    if message.reason in HELD_BACK:
        state = events.unheard(state, message.decision_id)
    return fires.dropped(waiting.without(state, message.decision_id), message)


def _spoken(
    state: AgentState, context: FoldContext, message: DeliveryAsked
) -> AgentState:
    open_ = fires.ask_is(state, context.output_id, "open")
    open_ = sayings.aloud(open_, message.text, context.now)
    return speech.asked(open_, context.output_id, message, context.now)


def _controlled(
    state: AgentState, context: FoldContext, _: notes.ControlApplied
) -> AgentState:
    message, id_ = context.input.message, context.input.id
    return controls.applied(state, context, message, id_)


def _refused(
    state: AgentState, context: FoldContext, message: CandidateRefused
) -> AgentState:
    if message.sleep_id is None:
        return formation.over(state, message.decision_id)
    return reflection.refused(state, message)


def _proposed(
    state: AgentState, context: FoldContext, message: ProposalMade
) -> AgentState:
    state = proposals.made(state, message, context.input.sequence, context.aids)
    asleep = message.sleep_id and state.sleeping
    return reflection.proposed(state, message) if asleep else state


def _formed(
    state: AgentState, context: FoldContext, message: HeuristicFormed
) -> AgentState:
    # A heuristic of silence has the vector of its occasion's event as its condition.
    if message.is_silence:
        occasion = state.occasions.get(message.decision_id)
        kept = (occasion.vector if occasion is not None else b"", b"")
        return heuristics.formed(state, message, context.aids, kept)
    if message.proposal_id is None:
        state = heuristics.formed(state, message, context.aids)
        return formation.over(state, message.decision_id)
    proposal = proposals.find(state, message.proposal_id)
    kept = proposal.vectors if proposal is not None else (b"", b"")
    return heuristics.formed(state, message, context.aids, kept)


def _without_timer(
    state: AgentState, context: FoldContext, message: notes.TimerFailed
) -> AgentState:
    """Return the state without what failed; a reminder that recurs comes again."""
    reminder = reminders.of_timer(state.executive, message.timer_id)
    state = timers.failed(state, message)
    return state if reminder is None else reminders.again(state, context, reminder)


def _decided(state: AgentState, context: FoldContext, message: Decided) -> AgentState:
    id_ = context.output_id
    decisions = fires.decided(state, id_, message, context.now)
    if state.experiment is not None and message.experiment is not None:
        runs = experiments.decided(state.experiment, message.experiment, context.now)
        state = replace(state, experiment=runs)
    event = context.input.message
    # A decision on a due timer is on no event: there is nothing to remember or get used to.
    if not isinstance(event, Sensed) or message.event_id != context.input.id:
        state = replace(state, decisions=decisions)
        return opportunities.decided(state, context, message)
    vector, now, passed = context.aids.vector, context.now, message.path != "none"
    # What was held back nobody heard of: the next of its kind is as new as it was.
    heard = None if message.silence in HELD_BACK else vector
    sources = events.remembered(state, event, context.input.id, id_, heard, now)
    habits, occasions = state.habits, state.occasions
    # Without a vector nothing can be found to be alike.
    if vector is not None:
        habits = events.habituated(
            state,
            context.appearance,
            vector,
            now,
            passed=passed,
            counts=context.remembers,
        )
    if context.settings.silence and passed and vector is not None:
        lesson = formation.of_event(event, message.domain, vector)
        occasions = occasions.set(id_, lesson)
    # At once, since each copy of a state costs a microsecond.
    state = replace(
        state, decisions=decisions, sources=sources, habits=habits, occasions=occasions
    )
    state = remembering.decided(state, context, message, event)
    how = context.settings.sleep
    if not how.events:
        return state
    return reflection.decided(
        state,
        context.packs,
        id_,
        message,
        event,
        now,
        how,
        vector=asking.event_vector(context),
    )


def _completed(
    state: AgentState, context: FoldContext, message: Completed
) -> AgentState:
    # All before `fires.completed`, which removes the pending answer and its lesson.
    # Of what a model did no rule is made: words alone would promise what they do not do.
    does = message.path == "llm" and message.action is not None
    if context.settings.formation and not does:
        state = formation.completed(state, message)
    # Without moments nobody needs the vector of the answer.
    if state.moments and not does:
        words = context.aids.of(message.text)
        state = reflection.completed(state, message, words)
    state = remembering.completed(state, context, message)
    state = waiting.without(state, message.decision_id)
    state = fires.completed(state, message)
    return fires.batched(state, message) if context.shares_votes else state


def _fired(
    state: AgentState, context: FoldContext, message: HeuristicFired
) -> AgentState:
    id_ = context.output_id
    if message.mode == "suggested":
        return fires.suggested(state, message)
    if message.mode == "kept":
        state = fires.fired(state, id_, message, fires.nothing_awaited(context.now))
        return _once_more(state, context, message)
    event = context.input.message
    if isinstance(event, Sensed) and message.event_id == context.input.id:
        trigger = fires.trigger(context, event)
    elif (late := waiting.find(state, message.decision_id)) is not None:
        trigger = waiting.trigger(late, context.now) or fires.nothing_awaited(
            context.now
        )
    else:
        # The rival of a race fires later than its event: its windows begin now.
        trigger = pending_answers.trigger(state, message.decision_id, context.now)
    state = fires.fired(state, id_, message, trigger)
    state = fires.shown(state, id_, message, trigger, context.learning.undo_s)
    return _once_more(state, context, message)


def _once_more(
    state: AgentState, context: FoldContext, message: HeuristicFired
) -> AgentState:
    """Return the state with one more fire counted in the heuristic's belief."""
    held = context.raw_belief(state, message.heuristic_id, message.content_hash)
    return credit.believing(
        state,
        message.heuristic_id,
        message.content_hash,
        confidence.fired(held, context.now),
    )


def _of_character(
    state: AgentState, context: FoldContext, message: Decided | Completed | Dropped
) -> AgentState:
    """Return the state after a decision or the end of one; a companion's is as it was."""
    match message:
        case Decided() if message.layers is not None:
            mind = body.mind_of(context.packs)
            if mind is not None and mind.autonomous is not None:
                return autonomy.decided(state, context, message)
            return body.decided(state, context, message)
        case Completed(choice=ActionChoice()):
            state = layer_asks.over(state, message.decision_id)
            return autonomy.completed(state, context, message)
        case Completed() if state.character.asked:
            state = _talked(state, context, message)
            return layer_asks.over(
                _judged(state, context, message), message.decision_id
            )
        case Dropped() if state.character.asked:
            return layer_asks.over(
                _judged(state, context, message), message.decision_id
            )
        case _:
            return state


def _judged(
    state: AgentState, context: FoldContext, message: Completed | Dropped
) -> AgentState:
    if not context.settings.characters.falls_back:
        return state
    return failing.ended(state, message)


def _talked(state: AgentState, context: FoldContext, message: Completed) -> AgentState:
    """Return the state with what a layer that talks said and thought.

    Its talker is told of it later. Before its ask is forgotten.
    """
    character, mind = state.character, body.mind_of(context.packs)
    asked = (character.asked.get(each) for each in _LAYERS)
    if not any(each and each.decision_id == message.decision_id for each in asked):
        return state
    if mind is None or mind.talker is None or not mind.talker.words:
        return state
    if not (message.text or message.thought):
        return state
    latest = RememberedWords(said=message.text, thought=message.thought or "")
    words = (*character.words, latest)[-limits.WORDS :]
    return replace(state, character=replace(character, words=words))


def _recorded(
    state: AgentState, context: FoldContext, note: notes.Handled
) -> AgentState:
    result = context.input.message
    if note.reason != "recorded" or not isinstance(result, Result):
        return state
    if state.executive.speech.asked:
        state = speech.heard(state, result, context.now)
    # What has begun is still to end.
    if isinstance(result, DeliveryBegun):
        return state
    return fires.ask_is(state, result.ask_id, "answered")


_M = TypeVar("_M", bound=OutputMessage)
_Fold: TypeAlias = Callable[[AgentState, FoldContext, _M], AgentState]
_Row: TypeAlias = tuple[type, tuple[_Fold[Any], ...]]


def _on(kind: type[_M], *folds: _Fold[_M]) -> _Row:
    """Return a row: what an output of this kind changes, each on what the last one left."""
    return kind, folds


def _alone(fold: Callable[[AgentState, _M], AgentState]) -> _Fold[_M]:
    """Return a fold that follows from its message alone."""
    return lambda state, _, message: fold(state, message)


FOLDS: Mapping[type, tuple[_Fold[Any], ...]] = dict(
    (
        _on(Decided, _decided, _of_character, personality.felt, known_facts.noticed),
        _on(Completed, _completed, _of_character),
        _on(Dropped, _dropped, _of_character),
        _on(Held, waiting.taken),
        _on(HeuristicFired, _fired),
        _on(ModelAsked, asking.asked, spending.noticed),
        _on(RecallAsked, asking.asked, spending.noticed),
        _on(TurnAsked, layer_asks.asked),
        _on(DeliveryAsked, _spoken),
        _on(StopAsked),
        _on(WakeupSet, _alone(body.woken)),
        _on(OutcomeObserved, credit.observed, personality.felt, ignored.noticed),
        _on(OutcomeExpired, credit.expired, ignored.noticed),
        _on(AdviceIgnored, credit.ignored),
        _on(
            FeedbackApplied,
            credit.voted,
            repeats.remembered,
            personality.felt,
            ignored.noticed,
        ),
        _on(FeedbackRefused),
        _on(Endorsed, credit.endorsed),
        _on(SilenceWeighed, credit.weighed),
        _on(LifecycleChanged),
        _on(DriftRaised),
        _on(TrustChanged),
        _on(HeuristicFormed, _formed),
        _on(HeuristicReinforced),
        _on(CandidateRefused, _refused),
        _on(ProposalMade, _proposed),
        _on(InsightFormed, retrospects.formed),
        _on(SleepBegun, reflection.begun),
        _on(Reflected, _alone(reflection.reflected)),
        _on(SleepEnded, reflection.ended),
        _on(notes.ControlApplied, _controlled, repeats.remembered, personality.felt),
        _on(notes.ControlRefused),
        _on(notes.ControlInferred, controls.inferred),
        _on(notes.Handled, _recorded, spending.noticed),
        _on(notes.Quarantined),
        _on(notes.TimerFailed, _without_timer),
        _on(notes.OpportunityDrawn, _alone(opportunities.drawn)),
        _on(ConversationMoved, _alone(places.moved)),
    )
)
"""What each kind of output changes; one without folds tells only what others did."""
