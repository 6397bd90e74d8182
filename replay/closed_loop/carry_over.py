"""Transfer: what of a recorded input still makes sense to a life that chose otherwise.

A vote, a report or a delivery is about words that somebody heard. It counts for another
life only where that took the same arm, and then by the ids of that life's own decision.
"""

from msgspec.structs import replace as replace_state

from projections.folds import timers
from replay.closed_loop.history import History, RecordedChoice
from replay.recording.standing import Contender, variant_of
from schemas.codec.catalogue import InputMessage
from schemas.codec.envelope import NotBuilt, Unreadable
from schemas.messages.controls import ExperimentStarted, ExperimentStopped
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.results import (
    ClockTicked,
    Delivered,
    DeliveryFailed,
    ModelAnswered,
    ModelFailed,
)
from schemas.messages.sensing import EventRef, Sensed
from schemas.state.agent import AgentState, PartitionState

Message = InputMessage | Unreadable | NotBuilt


def same_arm(past: RecordedChoice | None, own: RecordedChoice | None) -> bool:
    """Tell whether two lives did the same at a decision, as far as a person could tell."""
    if past is None or own is None:
        return False
    return (past.arm, past.winner) == (own.arm, own.winner)


def carried_over(message: Message, past: History, own: History) -> Message | None:
    """Return the input as the other life gets it; None if it does not."""
    match message:
        case FeedbackGiven():
            return _vote(message, past, own)
        case Sensed(in_reply_to=str() | EventRef()):
            return _report(message, past, own)
        case Delivered() | DeliveryFailed():
            return _delivery(message, past, own)
        case ModelAnswered() | ModelFailed():
            # The cassette answers what was asked within the recording.
            return None if message.ask_id in past.asks else message
        case ClockTicked():
            return None
        case _:
            return message


def under(state: PartitionState, agent: str, contender: Contender) -> PartitionState:
    """Return the state with a contender in force, whatever the recording selected.

    Nothing is explored. None leaves the agent its own strategy.
    """
    wanted = variant_of(contender)
    strategy = wanted.strategy
    shared, own = state.shared, state.agents.get(agent, AgentState())
    if shared.settings is not None:
        changes: dict[str, object] = {"exploration": None}
        if strategy is not None:
            changes["strategy"] = strategy
            # Whoever asks for a comparison admits its module, whatever the log says.
            module = strategy.name.partition(":")[0]
            changes["strategy_modules"] = (*shared.settings.strategy_modules, module)
        if wanted.personality is not None:
            changes["personality"] = wanted.personality
        settings = shared.settings.model_copy(update=changes)
        shared = replace_state(shared, settings=settings)
    if strategy is not None:
        own = replace_state(own, strategy=strategy, experiment=None)
    agents = state.agents.set(agent, own)
    return replace_state(state, shared=shared, agents=agents)


def is_of_experiment(message: Message) -> bool:
    """Tell whether an input begins or ends an experiment, which knows strategies of its own."""
    return isinstance(message, ExperimentStarted | ExperimentStopped)


def without_fire(state: PartitionState, agent: str, fire_id: str) -> PartitionState:
    """Return the state in which nobody waits for what a fire comes to, or takes it back."""
    own = state.agents[agent]
    own = replace_state(
        own,
        fires=tuple(each for each in own.fires if each.fire_id != fire_id),
        shown=tuple(each for each in own.shown if each.fire_id != fire_id),
        timers=timers.without(own.timers, fire_id),
    )
    return replace_state(state, agents=state.agents.set(agent, own))


def _vote(given: FeedbackGiven, past: History, own: History) -> FeedbackGiven | None:
    chosen = past.decision(given.decision_id or "")
    if chosen is None:
        return given
    mine = own.at(chosen.sequence)
    if mine is None or not same_arm(chosen, mine):
        return None
    # What the log knows of the recorded life's decision says nothing of the own one.
    return given.model_copy(update={"decision_id": mine.decision_id, "about": None})


def _report(event: Sensed, past: History, own: History) -> Sensed:
    """Return the event itself happened; only what it reports may be of another's words."""
    target = event.in_reply_to
    if isinstance(target, EventRef):
        chosen = past.on(target.source, target.event_id)
    else:
        chosen = past.decision(target or "")
    if chosen is None:
        return event
    mine = own.at(chosen.sequence)
    changes: dict[str, object] = {}
    if isinstance(target, str) and mine is not None:
        changes["in_reply_to"] = mine.decision_id
    if not same_arm(chosen, mine):
        changes["outcome"] = None
    return event.model_copy(update=changes)


def _delivery(
    result: Delivered | DeliveryFailed, past: History, own: History
) -> Delivered | DeliveryFailed | None:
    delivery = past.deliveries.get(result.ask_id)
    if delivery is None:
        return result
    chosen = past.decision(delivery.decision_id)
    mine = own.at(chosen.sequence) if chosen else None
    if mine is None or not same_arm(chosen, mine):
        return None
    ask_id = own.ask_of(mine.decision_id, delivery.ordinal)
    return result.model_copy(update={"ask_id": ask_id}) if ask_id else None
