"""Carry-over: which recorded inputs still apply to a run that chose otherwise.

A vote, a report or a delivery is about words that somebody heard. It applies to the run only
where that took the same arm, and then with the ids of the run's own decision.
"""

from msgspec.structs import replace

from projections.folds import timers
from replay.closed_loop.history import History
from replay.recording.in_force import Contender, variant_of
from schemas.codec.catalogue import InputMessage
from schemas.codec.envelope import Unreadable
from schemas.messages.controls import ExperimentStarted, ExperimentStopped
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.results import (
    ClockTicked,
    Delivered,
    DeliveryBegun,
    DeliveryFailed,
    DeliveryInterrupted,
    ModelAnswered,
    ModelFailed,
    Recalled,
    RecallFailed,
    TurnFailed,
    TurnGranted,
)
from schemas.messages.sensing import EventRef, Sensed
from schemas.state.agent import AgentState, PartitionState

Message = InputMessage | Unreadable
_Spoken = Delivered | DeliveryFailed | DeliveryBegun | DeliveryInterrupted
"""What becomes of a delivery."""


def carried_over(message: Message, past: History, own: History) -> Message | None:
    """Return the recorded input as the run gets it; None if it does not apply.

    `past` is what the recorded run did, `own` what this one did so far.
    """
    match message:
        case FeedbackGiven():
            return _vote(message, past, own)
        case Sensed(in_reply_to=str() | EventRef()):
            return _report(message, past, own)
        case Delivered() | DeliveryFailed() | DeliveryBegun() | DeliveryInterrupted():
            return _delivery(message, past, own)
        case ModelAnswered() | ModelFailed():
            # Asks made within the recording are answered by the cassette, if this run
            # makes them; an answer to an earlier ask arrives as it was recorded.
            return None if message.ask_id in past.asks else message
        case Recalled() | RecallFailed():
            return None if message.ask_id in past.recalls else message
        case TurnGranted() | TurnFailed():
            return None if message.ask_id in past.turns else message
        case ClockTicked():
            # The run has timers of its own, and makes their ticks itself.
            return None
        case _:
            return message


def under(state: PartitionState, agent: str, contender: Contender) -> PartitionState:
    """Return the state with a contender in force, whatever the recording selected.

    Exploration is off, so that the run is the strategy's alone and repeatable. None leaves
    the agent its own strategy.
    """
    wanted = variant_of(contender)
    strategy = wanted.strategy
    shared, own = state.shared, state.agents.get(agent, AgentState())
    if shared.settings is not None:
        changes: dict[str, object] = {"exploration": None}
        if strategy is not None:
            changes["strategy"] = strategy
            # The recorded settings list the modules admitted then; the person who names
            # this strategy admits its module now.
            module = strategy.name.partition(":")[0]
            changes["strategy_modules"] = (*shared.settings.strategy_modules, module)
        if wanted.personality is not None:
            changes["personality"] = wanted.personality
        executive = shared.settings.executive
        if wanted.template is not None and executive is not None:
            named = {"template": wanted.template}
            changes["executive"] = executive.model_copy(update=named)
            own = _unselected(own)
        settings = shared.settings.model_copy(update=changes)
        shared = replace(shared, settings=settings)
    if strategy is not None:
        # A running experiment would draw a variant, and its strategy would act instead.
        own = replace(own, strategy=strategy, experiment=None)
    agents = state.agents.set(agent, own)
    return replace(state, shared=shared, agents=agents)


def _unselected(own: AgentState) -> AgentState:
    """Return the agent's state without a personality that somebody selected."""
    personality = replace(own.executive.personality, template=None)
    executive = replace(own.executive, personality=personality)
    return replace(own, executive=executive)


def is_of_experiment(message: Message) -> bool:
    """Tell whether an input starts or stops an experiment, which would set the strategy."""
    return isinstance(message, ExperimentStarted | ExperimentStopped)


def without_fire(state: PartitionState, agent: str, fire_id: str) -> PartitionState:
    """Return the state without a fire, so that neither an outcome nor an undo credits it."""
    own = state.agents[agent]
    own = replace(
        own,
        fires=tuple(each for each in own.fires if each.fire_id != fire_id),
        shown=tuple(each for each in own.shown if each.fire_id != fire_id),
        timers=timers.without(own.timers, fire_id),
    )
    return replace(state, agents=state.agents.set(agent, own))


def _vote(given: FeedbackGiven, past: History, own: History) -> FeedbackGiven | None:
    recorded = past.decision(given.decision_id or "")
    # On a decision from before the run, or on a heuristic itself: both runs share it.
    if recorded is None:
        return given
    mine = own.like(recorded)
    if mine is None or not mine.is_same_arm(recorded):
        return None
    # `about` describes the recorded run's decision, not this run's.
    return replace(given, decision_id=mine.id, about=None)


def _report(event: Sensed, past: History, own: History) -> Sensed:
    """Return the event, without its outcome if that is about words that were not said here.

    The event itself happened in either case.
    """
    target = event.in_reply_to
    if isinstance(target, EventRef):
        recorded = past.on(target.source, target.event_id)
    else:
        recorded = past.decision(target or "")
    if recorded is None:
        return event
    mine = own.like(recorded)
    changes: dict[str, object] = {}
    if isinstance(target, str) and mine is not None:
        changes["in_reply_to"] = mine.id
    if mine is None or not mine.is_same_arm(recorded):
        changes["outcome"] = None
    return replace(event, **changes)


def _delivery(result: _Spoken, past: History, own: History) -> _Spoken | None:
    delivery = past.deliveries.get(result.ask_id)
    # Of an ask from before the run, which both runs have in common.
    if delivery is None:
        return result
    recorded = past.decision(delivery.decision_id)
    mine = own.like(recorded) if recorded else None
    if mine is None or not mine.is_same_arm(recorded):
        return None
    ask_id = own.ask_of(mine.id, delivery.ordinal)
    return replace(result, ask_id=ask_id) if ask_id else None
