"""The mind: one pure function from what is known and one input to what is answered.

`handle` orders the stages; each input gets exactly one group of outputs. It does no I/O,
reads no clock and draws nothing of its own: models, delivery and time are asked for as
outputs and come back as later inputs.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, get_args
from uuid import UUID

from msgspec import Struct

from handlers.mind.characters import asking, dispatch
from handlers.mind.context import TurnContext
from handlers.mind.flows import (
    conclude,
    consult,
    decide,
    form,
    initiate,
    noticing,
    output,
    propose,
    recollect,
    reflect,
    silence,
    soured,
    told,
    trust,
    unasked,
    waiting,
)
from handlers.mind.flows.infer import checked
from handlers.mind.reply import reading
from handlers.mind.stages import completion, feedback, intake, outcomes
from projections.folds import agent as agent_fold
from projections.folds import clock, declared, rate_limits, timers
from projections.folds.characters.body import mind_of
from projections.folds.executive import grants, reminders
from projections.folds.executive import waiting as waiting_fold
from projections.folds.learning.heuristics import content_in_force
from schemas.codec.catalogue import ControlMessage, OutputMessage
from schemas.codec.envelope import Input, Unreadable
from schemas.messages import controls, executive, results
from schemas.messages.characters import AimsSet, PlanSet, ReflectionRequested
from schemas.messages.decisions import Dropped
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied
from schemas.messages.notes import ControlApplied, Handled, Quarantined, TimerFailed
from schemas.messages.sensing import Sensed
from schemas.ports import aids as aiding
from schemas.ports import faults
from schemas.ports.aids import Aids
from schemas.ports.probe import Probe, unprobed
from schemas.state.agent import STRANGER, AgentState, PartitionState, Timer
from schemas.values.settings import UNSTARTED

TIMERS_AT_ONCE = 200
"""How many timers run in one group, so that it stays below the broker's 1,000 messages;
what is left runs with the next input."""


class Outputs(Struct, frozen=True):
    """The group that answers an input."""

    at: datetime
    """The agent's time when it was made."""
    outputs: tuple[OutputMessage, ...]
    """One or more; all concern the input's agent."""
    agent: AgentState
    """The agent's state after them; its chain is still the one before, for that covers the
    bytes of the outputs, which are made later."""


def handle(
    state: PartitionState,
    input_: Input,
    aids: Aids,
    epoch: UUID,
    *,
    timers_at_once: int = TIMERS_AT_ONCE,
    probe: Probe = unprobed,
) -> Outputs:
    """Return the group of outputs that answers `input_`; `state` is before it.

    `probe` is told which stage of a decision begins; nothing depends on it.

    Raises:
        MissingPackError: a pack in force is not among the aids.
    """
    # First of all, so that an input which is shed costs nothing but its count.
    agent = _admitted(state, input_)
    if isinstance(agent, Outputs):
        return agent
    settings = state.shared.settings or UNSTARTED
    claimed = grants.claimed(agent.executive, input_.message)
    input_ = grants.believed(agent.executive, input_)
    refused = intake.refusal(agent, input_, settings)
    refused = refused or intake.too_much(input_)
    if isinstance(refused, Quarantined):
        return Outputs(agent.now or input_.at, (refused,), agent)
    try:
        at_input, now = agent_fold.begin(agent, input_)
    except clock.ClockFaultError as fault:
        # The clock's fold refuses an implausible time; the state stays as before the input.
        # An event that was seen before is a repeat, and naturally late.
        refused = refused or intake.quarantined(input_, Unreadable("clock", str(fault)))
        return Outputs(agent.now or input_.at, (refused,), agent)
    # As the fold of the log does, too.
    input_, aids = declared.read(
        input_, aids, partial(aiding.in_force, state.shared, at_input, aids)
    )
    turn = TurnContext(at_input, state.shared, input_, aids, now, epoch, probe=probe)
    turn.claimed = claimed
    # Timers first: what was due before the input must not see it. They run even if the
    # input is refused, for its time has passed all the same.
    ran = _run_timers(turn, timers_at_once)
    if refused is not None:
        turn.emit(refused)
    else:
        _answer(turn, ran)
    trust.noted(turn, at_input)
    return Outputs(now, turn.outputs, turn.state)


def kept_apart(state: PartitionState, input_: Input, detail: str) -> Outputs:
    """Return the answer to an input that could not be answered, on the state before it."""
    agent = _admitted_or_charged(state, input_)
    if isinstance(agent, Outputs):
        return agent
    note = intake.quarantined(input_, Unreadable("error", detail))
    return Outputs(agent.now or input_.at, (note,), agent)


def _admitted(state: PartitionState, input_: Input) -> AgentState | Outputs:
    """Return the agent, its source's allowance charged; the answer, if that is used up."""
    agent, settings = state.agents.get(input_.agent, STRANGER), state.shared.settings
    admitted = rate_limits.unless_excess(agent, settings, input_)
    if admitted is not None:
        return admitted
    shed = rate_limits.shed(agent, input_)
    return Outputs(agent.now or input_.at, (intake.too_many(input_),), shed)


def _admitted_or_charged(state: PartitionState, input_: Input) -> AgentState | Outputs:
    """Return the same; if admitting is itself what raised, only charge the source."""
    try:
        return _admitted(state, input_)
    except faults.OF_THE_SHELL:
        raise
    except faults.OF_AN_INPUT:
        agent = state.agents.get(input_.agent, STRANGER)
        return rate_limits.charged(agent, state.shared.settings, input_)


def _run_timers(turn: TurnContext, at_once: int) -> int:
    """Run the timers that are due, soonest first, at most `at_once`; return how many."""
    due = _due(turn)[:at_once]
    for timer in due:
        # One that ran before it may have ended what this one was to end.
        if timer in _due(turn):
            _run_apart(turn, timer)
    return len(due)


def _due(turn: TurnContext) -> tuple[Timer, ...]:
    """Return the timers due by the clock in force, then those of reminders of the other."""
    due = timers.due(turn.state.timers, turn.now)
    if not turn.state.executive.reminders.awaited:
        return due
    return due + reminders.due_elsewhere(turn.state, turn.input.at)


def _run_apart(turn: TurnContext, timer: Timer) -> None:
    """Run a timer; end one that raises, or it would fail each later input as well."""
    said, before = len(turn.outputs), turn.state
    try:
        TIMERS[timer.purpose].run(turn, timer)
        # Checked here, where it can be blamed on one timer and undone.
        bodies = [each.to_bytes() for each in turn.outputs[said:]]
        faults.check_size(bodies)
        for each, body in zip(turn.outputs[said:], bodies, strict=True):
            type(each).from_bytes(body)
    except faults.OF_THE_SHELL:
        raise
    except faults.OF_AN_INPUT as error:
        turn.unsay(said, before)
        _end_timer(turn, timer, faults.named(error))


def _end_timer(turn: TurnContext, timer: Timer, detail: str) -> None:
    # Before the failure is folded, which forgets what the timer was about.
    end = TIMERS[timer.purpose].broken(turn, timer.id, detail)
    pending = turn.state.pending.get(timer.id)
    turn.emit(TimerFailed(timer_id=timer.id, purpose=timer.purpose, detail=detail))
    if end is None:
        return
    said, ended = len(turn.outputs), turn.state
    try:
        turn.emit(end)
        if pending is not None:
            output.take_back(turn, pending)
    except faults.OF_THE_SHELL:
        raise
    except faults.OF_AN_INPUT:
        # That it ended so is announced; nothing waits for it in any case.
        turn.unsay(said, ended)


def _unanswered(turn: TurnContext, timer: Timer) -> None:
    """End the wait for a model: its strategy answers without it, or the decision ends."""
    pending = turn.state.pending[timer.id]
    otherwise = completion.given_up(pending)
    strategy = consult.strategy_that_asked(turn, pending)
    conclude.end_without_model(turn, strategy, pending, otherwise)


def _expire(turn: TurnContext, timer: Timer) -> None:
    """Expire an open fire; several ignored in a row may count against its heuristic."""
    end = outcomes.expired(turn.state.fires, timer.id)
    turn.emit(end)
    after = turn.learning.ignored_after
    if after:
        belief = turn.belief(end.heuristic_id, end.content_hash)
        ignored = outcomes.ignored(belief, end, after)
        if ignored is not None:
            turn.credit(ignored)


def _answer(turn: TurnContext, ran: int) -> None:
    """Dispatch the input to the flow or stage that answers its kind."""
    message = turn.input.message
    if isinstance(message, results.ClockTicked):
        turn.emit(Handled(reason="recorded" if ran else "nothing_due"))
        return
    ANSWERS[type(message)](turn, message)


def _decide(turn: TurnContext, event: Sensed) -> None:
    mind = mind_of(turn.packs)
    if mind is not None:
        dispatch.on_event(turn, event, mind)
        return
    at_break_of = noticing.noticed(turn, event)
    for message in decide.decide(turn, event):
        turn.emit(message)
    if turn.state.executive.initiative.counters:
        noticing.noted(turn, event)
    conclude.make_room(turn)
    if turn.state.executive.waiting:
        waiting.lapse(turn, event)
        waiting.make_room(turn)
        waiting.release(turn, at_break_of=at_break_of or told.break_of(turn))
    # Who says a word answers what was said unasked, which moves the chance of more.
    is_answer = event.is_persons and bool(turn.state.executive.initiative.unasked)
    unasked.consider(turn, is_changed=is_answer)


def _hear(
    turn: TurnContext, received: results.ModelAnswered | results.ModelFailed
) -> None:
    # Here, for whatever it was asked: what is no content is a failure, and teaches nothing.
    asked = turn.state.pending.get(received.ask_id)
    result = reading.understood(received, acts=asked is not None and asked.acts)
    # One ask id tells whose answer it is: a sleep's, a rule's, or a decision's.
    asleep = turn.state.sleeping
    if asleep is not None and result.ask_id == asleep.ask_id:
        reflect.heard(turn, result)
        return
    made = turn.state.forming.get(result.ask_id)
    if made is not None:
        form.heard(turn, made, result)
        return
    if turn.state.character.asked and dispatch.heard(turn, result):
        return
    if asked is not None and asked.recalling is not None:
        # It is the memory that was asked, no model.
        turn.emit(Handled(reason="unknown", detail=result.ask_id))
        return
    # The variant may have changed since the model was asked; the answer is the asker's.
    strategy = consult.strategy_that_asked(turn, asked)
    conclude.heard(turn, strategy, result)


def _take(turn: TurnContext, result: results.Result) -> None:
    """Take the result of an ask that is of no model, nor of the memory."""
    turn.emit(completion.refusal(turn.state, result) or Handled(reason="recorded"))


def _learn(turn: TurnContext, given: FeedbackGiven) -> None:
    shares = turn.settings.executive.shares_votes
    learnt = feedback.credit_of_vote(turn.state, turn.packs, given, shares=shares)
    if isinstance(learnt, FeedbackApplied):
        for each in (learnt, *feedback.passed_on(turn.state, learnt)):
            turn.credit(each)
        silence.judged(turn, given, learnt)
        soured.by_vote(turn, learnt)
        form.ask(turn, learnt)
    else:
        turn.emit(learnt)


def _freeze(turn: TurnContext, control: controls.HeuristicFrozen) -> None:
    """Freeze or release a heuristic: it changes a lifecycle, announced as evidence is."""
    id_, answer = control.heuristic_id, checked(turn, control)
    content_hash = content_in_force(turn.state, turn.packs, id_)
    if content_hash is not None:
        turn.watch(id_, content_hash, answer)
    else:
        turn.emit(answer)


def _control(turn: TurnContext, control: ControlMessage) -> None:
    answer = checked(turn, control)
    turn.emit(answer)
    if isinstance(answer, ControlApplied):
        then = _THEN.get(type(control))
        if then is not None:
            then(turn, control)
        if turn.state.executive.waiting:
            waiting.heed(turn, control)
    if isinstance(control, executive.OfPerson):
        unasked.consider(turn, is_changed=True)


_THEN: Mapping[type, Callable[[TurnContext, Any], None]] = {
    executive.UserStateChanged: soured.by_state,
    executive.Muted: output.stop,
    executive.OutputInterrupted: output.stop,
    executive.OutputRequested: initiate.requested,
    AimsSet: dispatch.changed,
    PlanSet: dispatch.changed,
}
"""What some controls do once they are applied."""

ANSWERS: Mapping[type, Callable[[TurnContext, Any], None]] = {
    Sensed: _decide,
    FeedbackGiven: _learn,
    **dict.fromkeys(get_args(ControlMessage), _control),
    controls.HeuristicFrozen: _freeze,
    **dict.fromkeys(
        (
            controls.ProposalSubmitted,
            controls.ProposalApplied,
            controls.ProposalReverted,
        ),
        propose.answer,
    ),
    controls.SleepRequested: reflect.requested,
    ReflectionRequested: dispatch.look_back,
    **dict.fromkeys((results.ModelAnswered, results.ModelFailed), _hear),
    **dict.fromkeys((results.Recalled, results.RecallFailed), recollect.heard),
    **dict.fromkeys((results.TurnGranted, results.TurnFailed), dispatch.granted),
    **dict.fromkeys(
        (
            results.Delivered,
            results.DeliveryFailed,
            results.DeliveryInterrupted,
            results.DeliveryBegun,
        ),
        _take,
    ),
}
"""What answers each kind of input but the clock's."""


class _Purpose(NamedTuple):
    """What a timer is for."""

    run: Callable[[TurnContext, Timer], None]
    broken: Callable[[TurnContext, str, str], Dropped | None] = lambda *_: None
    """The end of the decision that waits by it, should it fail; None if none does."""


def _pending(turn: TurnContext, ask_id: str, detail: str) -> Dropped | None:
    pending = turn.state.pending.get(ask_id)
    return completion.broken(pending, detail) if pending is not None else None


def _layer(turn: TurnContext, ask_id: str, detail: str) -> Dropped | None:
    asked = asking.waiting(turn, ask_id)
    return asking.broken(asked, detail) if asked is not None else None


def _held(turn: TurnContext, decision_id: str, detail: str) -> Dropped | None:
    held = waiting_fold.find(turn.state, decision_id)
    return waiting.broken(held, detail) if held is not None else None


TIMERS: Mapping[str, _Purpose] = {
    "outcome": _Purpose(_expire),
    **dict.fromkeys(("model", "race", "prediction"), _Purpose(_unanswered, _pending)),
    "recall": _Purpose(recollect.give_up, _pending),
    "formation": _Purpose(form.give_up),
    "reflection": _Purpose(reflect.give_up),
    "sleep": _Purpose(reflect.idle),
    "held": _Purpose(waiting.run, _held),
    "reminder": _Purpose(initiate.remind),
    "opportunity": _Purpose(unasked.run),
    "think": _Purpose(dispatch.run),
    "layer": _Purpose(dispatch.run, _layer),
}
"""What is done when a timer of each purpose is due."""
