"""The mind: one pure function from what is known and one input to what is answered.

`handle` orders the stages; each input gets exactly one group of outputs. It does no I/O,
reads no clock and draws nothing of its own: models, delivery and time are asked for as
outputs and come back as later inputs.
"""

from datetime import datetime
from functools import partial
from uuid import UUID

from msgspec import Struct

from handlers.mind.context import Group
from handlers.mind.flows import (
    conclude,
    consult,
    decide,
    form,
    propose,
    reflect,
    silence,
)
from handlers.mind.stages import (
    completion,
    controls,
    feedback,
    intake,
    outcomes,
)
from handlers.mind.strategies import registry
from projections.folds import agent as agent_fold
from projections.folds import clock, rate_limits, timers
from projections.folds.controls import content_in_force
from schemas.codec.catalogue import ControlMessage, OutputMessage
from schemas.codec.envelope import Input, NotBuilt, Unreadable
from schemas.messages.controls import (
    HeuristicFrozen,
    MindStarted,
    ProposalApplied,
    ProposalReverted,
    ProposalSubmitted,
    SleepRequested,
)
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied
from schemas.messages.notes import Handled, Quarantined, TimerFailed
from schemas.messages.results import (
    ClockTicked,
    Delivered,
    DeliveryFailed,
    ModelAnswered,
    ModelFailed,
)
from schemas.messages.sensing import Sensed
from schemas.ports import faults
from schemas.ports.aids import Aids
from schemas.state.agent import STRANGER, AgentState, PartitionState, Timer
from schemas.values.settings import UNSTARTED

TIMERS_AT_ONCE = 200
"""How many timers run in one group; what is left runs with the next input."""


class Answer(Struct, frozen=True):
    """The group that answers an input."""

    at: datetime
    """The agent's time when it was made."""
    outputs: tuple[OutputMessage, ...]
    """One or more; all concern the input's agent."""
    agent: AgentState
    """The agent's state after them; its chain is still the one before."""


def handle(
    state: PartitionState,
    taken: Input,
    aids: Aids,
    epoch: UUID,
    *,
    timers_at_once: int = TIMERS_AT_ONCE,
) -> Answer:
    """The group of outputs that answers `taken`; `state` is before it.

    Raises:
        MissingPackError: a pack in force is not among the aids.
    """
    agent = _admitted(state, taken)
    if isinstance(agent, Answer):
        return agent
    edition = (state.shared.settings or UNSTARTED).edition
    refused = intake.refusal(agent, taken) or intake.too_much(taken, edition)
    if isinstance(refused, Quarantined):
        return Answer(agent.now or taken.at, (refused,), agent)
    try:
        at_input, now = agent_fold.begin(agent, taken, state.shared.settings)
    except clock.ClockFaultError as fault:
        # An event that was seen before is a repeat, and naturally late.
        refused = refused or intake.quarantined(taken, Unreadable("clock", str(fault)))
        return Answer(agent.now or taken.at, (refused,), agent)
    group = Group(at_input, state.shared, taken, aids, now, epoch)
    ran = _run_timers(group, timers_at_once)
    if refused is not None:
        group.say(refused)
    else:
        _answer(group, ran)
    return Answer(now, group.outputs, group.state)


def kept_apart(state: PartitionState, taken: Input, detail: str) -> Answer:
    """The answer to an input that could not be answered, on the state before it."""
    agent = _admitted_or_charged(state, taken)
    if isinstance(agent, Answer):
        return agent
    note = intake.quarantined(taken, Unreadable("error", detail))
    return Answer(agent.now or taken.at, (note,), agent)


def _admitted(state: PartitionState, taken: Input) -> AgentState | Answer:
    """The agent to whom an input may come; the answer, if its source sent too many."""
    agent, settings = state.agents.get(taken.agent, STRANGER), state.shared.settings
    if not rate_limits.is_excess(agent, settings, taken):
        return rate_limits.admitted(agent, settings, taken)
    shed = rate_limits.shed(agent, taken)
    return Answer(agent.now or taken.at, (intake.too_many(taken),), shed)


def _admitted_or_charged(state: PartitionState, taken: Input) -> AgentState | Answer:
    """The same where admitting may be what raised."""
    try:
        return _admitted(state, taken)
    except faults.OF_THE_SHELL:
        raise
    except faults.OF_AN_INPUT:
        agent = state.agents.get(taken.agent, STRANGER)
        return rate_limits.charged(agent, state.shared.settings, taken)


def _run_timers(group: Group, at_once: int) -> int:
    """Do what is due by now, soonest first; return how much that was."""
    due = timers.due(group.state.timers, group.now)[:at_once]
    for timer in due:
        # One that ran before it may have ended what this one was to end.
        if timer in group.state.timers:
            _run_apart(group, timer)
    return len(due)


def _run_apart(group: Group, timer: Timer) -> None:
    """Run a timer; one that cannot be run is ended, so that it holds up nothing else."""
    said, before = group.settle(), group.state
    try:
        _run_timer(group, timer)
        faults.check_size([each.to_bytes() for each in group.outputs[said:]])
        group.settle()
    except faults.OF_THE_SHELL:
        raise
    except faults.OF_AN_INPUT as error:
        group.unsay(said, before)
        _end_timer(group, timer, faults.named(error))


def _end_timer(group: Group, timer: Timer, detail: str) -> None:
    pending = group.state.pending.get(timer.id)
    group.say(TimerFailed(timer_id=timer.id, purpose=timer.purpose, detail=detail))
    if pending is None:
        return
    said, ended = group.settle(), group.state
    try:
        group.say(completion.broken(pending, detail))
        group.settle()
    except faults.OF_THE_SHELL:
        raise
    except faults.OF_AN_INPUT:
        # That it ended so is announced; nothing waits for it in any case.
        group.unsay(said, ended)


def _run_timer(group: Group, timer: Timer) -> None:
    if timer.purpose == "outcome":
        _expire(group, timer.id)
    elif timer.purpose == "formation":
        form.give_up(group, group.state.forming[timer.id])
    elif timer.purpose == "sleep":
        reflect.idle(group)
    elif timer.purpose == "reflection":
        reflect.give_up(group)
    else:
        pending = group.state.pending[timer.id]
        otherwise = completion.given_up(pending)
        strategy = consult.strategy_that_asked(group, pending)
        conclude.without_model(group, strategy, pending, otherwise)


def _expire(group: Group, fire_id: str) -> None:
    """Wait no longer for what comes of a fire; several such in a row may tell something."""
    end = outcomes.expired(group.state.fires, fire_id)
    group.say(end)
    after = group.learning.ignored_after
    if after:
        belief = group.belief(end.heuristic_id, end.content_hash)
        ignored = outcomes.ignored(belief, end, after)
        if ignored is not None:
            group.credit(ignored)


def _answer(group: Group, ran: int) -> None:
    """Answer the input by the stages that its kind is for."""
    match group.taken.message:
        case Sensed() as event:
            decide.decide(group, event)
        case FeedbackGiven() as given:
            _learn(group, given)
        case ClockTicked():
            group.say(Handled(reason="recorded" if ran else "nothing_due"))
        case ModelAnswered() | ModelFailed() as result:
            _hear(group, result)
        case Delivered() | DeliveryFailed() as result:
            group.say(
                completion.refusal(group.state, result) or Handled(reason="recorded")
            )
        case Unreadable() | NotBuilt():
            raise AssertionError("intake refuses what cannot be read")
        case ProposalSubmitted() | ProposalApplied() | ProposalReverted() as control:
            propose.answer(group, control)
        case SleepRequested() as control:
            reflect.requested(group, control)
        case control:
            _control(group, control)


def _hear(group: Group, result: ModelAnswered | ModelFailed) -> None:
    asleep = group.state.sleeping
    if asleep is not None and result.ask_id == asleep.ask_id:
        reflect.heard(group, result)
        return
    made = group.state.forming.get(result.ask_id)
    if made is not None:
        form.heard(group, made, result)
        return
    asked = group.state.pending.get(result.ask_id)
    strategy = consult.strategy_that_asked(group, asked)
    conclude.heard(group, strategy, result)


def _learn(group: Group, given: FeedbackGiven) -> None:
    learnt = feedback.feedback(group.state, group.packs, given, group.settings.edition)
    if isinstance(learnt, FeedbackApplied):
        group.credit(learnt)
        silence.judged(group, given, learnt)
        form.ask(group, learnt)
    else:
        group.say(learnt)


def _control(group: Group, control: ControlMessage) -> None:
    # The start of a mind admits strategies by the settings that it brings itself.
    settings = control.settings if isinstance(control, MindStarted) else group.settings
    problem = partial(registry.problem, settings=settings)
    answer = controls.answer(
        group.state,
        group.packs,
        group.taken.agent,
        control,
        group.aids,
        problem,
        edition=group.settings.edition,
    )
    if isinstance(control, HeuristicFrozen):
        id_ = control.heuristic_id
        content_hash = content_in_force(group.state, group.packs, id_)
        if content_hash is not None:
            group.watch(id_, content_hash, answer)
            return
    group.say(answer)
