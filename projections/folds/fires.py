"""Fires and decisions, remembered for later feedback; which outcomes a fire waits for."""

import sys
from datetime import datetime, timedelta

from msgspec.structs import replace

from projections.folds import pending_answers, timers
from projections.folds.fold_context import FoldContext
from projections.folds.learning import confidence
from schemas.messages.decisions import Completed, Decided, Dropped, HeuristicFired
from schemas.messages.learning import AdviceIgnored, OutcomeExpired, OutcomeObserved
from schemas.messages.sensing import Sensed
from schemas.packs import word_patterns
from schemas.packs.compiled import CompiledPack
from schemas.state import limits
from schemas.state.agent import (
    AgentState,
    AskStatus,
    Batch,
    OpenFire,
    Remembered,
    ShownFire,
    Timer,
)
from schemas.state.evidence import Belief, belief_key
from schemas.state.triggers import Expectation, Trigger
from schemas.values.bounded_map import Bounded
from schemas.values.reasons import Outcome


def decided(
    state: AgentState, decision_id: str, message: Decided, now: datetime
) -> Bounded[str, Remembered]:
    """Return the decisions that are remembered after one more."""
    session_id = message.session_id
    remembered = Remembered(
        event_id=message.event_id,
        # One string shared by all decisions, where each message has its own: saves 1 MB.
        source=sys.intern(message.source),
        session_id=None if session_id is None else sys.intern(session_id),
        path=message.path,
        at=now,
    )
    return state.decisions.set(decision_id, remembered)


def completed(state: AgentState, message: Completed) -> AgentState:
    """Return the state after a pending decision was completed."""
    state = pending_answers.spoken(state, message.decision_id)
    remembered = state.decisions.get(message.decision_id)
    if remembered is None:
        return state
    spoke = replace(remembered, path=message.path)
    return replace(state, decisions=state.decisions.set(message.decision_id, spoke))


def batched(state: AgentState, message: Completed) -> AgentState:
    """Return the state in which votes on answers that were said as one are shared.

    To be folded before the others are dropped: which of them are a model's is known by
    their paths.
    """
    lead = state.decisions.get(message.decision_id)
    if lead is None or not message.also_answers:
        return state
    others = [(each, state.decisions.get(each)) for each in message.also_answers]
    fired = tuple(id_ for id_, known in others if known and known.fire_id is not None)
    # A heuristic without a fire was not heard; of a model's words nothing tells that.
    unknown = [
        k for _, k in others if k and k.fire_id is None and k.path != "heuristic"
    ]
    answers = 1 + len(fired) + len(unknown)
    # Words that a model leads earn nothing.
    shares = Batch(answers=answers, members=() if message.path == "llm" else fired)
    decisions = state.decisions.set(message.decision_id, replace(lead, batch=shares))
    for id_, known in others:
        if known is not None:
            own = replace(known, batch=Batch(answers=answers))
            decisions = decisions.set(id_, own)
    return replace(state, decisions=decisions)


def dropped(state: AgentState, message: Dropped) -> AgentState:
    """Return the state after a pending decision was dropped."""
    if message.ask_id is not None:
        status: AskStatus = "late" if message.reason == "llm_timeout" else "answered"
        state = pending_answers.over(state, message.ask_id, status)
    remembered = state.decisions.get(message.decision_id)
    if remembered is None:
        return state
    fell = replace(remembered, path="fallback")
    return replace(state, decisions=state.decisions.set(message.decision_id, fell))


def ask_is(state: AgentState, ask_id: str, status: AskStatus) -> AgentState:
    """Return the state with an ask in this status."""
    return replace(state, asks=state.asks.set(ask_id, status))


def armed(pack: CompiledPack, event: Sensed, now: datetime) -> tuple[Expectation, ...]:
    """Return an expectation for each outcome pattern that `event` triggers.

    Success and failure alike; each is due its own timeout after `now`.
    """
    known = pack.pack.executive.outcome_patterns
    if not known:
        return ()
    said = word_patterns.words_of(event)
    return tuple(
        Expectation(
            pattern=known[index].outcome_pattern,
            is_success=known[index].is_success,
            due=now + timedelta(seconds=known[index].timeout_sec),
        )
        for index in word_patterns.occurring(pack.triggers, said)
    )


def trigger(context: FoldContext, event: Sensed) -> Trigger:
    """Return what a fire on this event waits for: its pack's outcome patterns."""
    domain = context.appearance.domain
    expected: tuple[Expectation, ...] = ()
    if domain.pack:
        expected = armed(domain.pack, event, context.now)
    return Trigger(
        at=context.now,
        domain=domain.name,
        entities=event.entities,
        expectations=expected,
    )


def fired(
    state: AgentState, fire_id: str, message: HeuristicFired, trigger: Trigger
) -> AgentState:
    """Return the state with a shown fire, open if its pack expects an outcome."""
    remembered = state.decisions.get(message.decision_id)
    if remembered is None:
        return state
    known = replace(
        remembered,
        fire_id=fire_id,
        heuristic_id=message.heuristic_id,
        content_hash=message.content_hash,
    )
    state = replace(state, decisions=state.decisions.set(message.decision_id, known))
    if not trigger.expectations:
        return state
    fire = OpenFire(
        fire_id=fire_id,
        decision_id=message.decision_id,
        heuristic_id=message.heuristic_id,
        content_hash=message.content_hash,
        domain=trigger.domain,
        entities=trigger.entities,
        expectations=trigger.expectations,
    )
    return _waiting(state, fire)


def suggested(state: AgentState, message: HeuristicFired) -> AgentState:
    """Return the state whose decision remembers a heuristic suggested to the model."""
    remembered = state.decisions.get(message.decision_id)
    if remembered is None:
        return state
    shown = replace(remembered, suggested=(*remembered.suggested, message.heuristic_id))
    return replace(state, decisions=state.decisions.set(message.decision_id, shown))


def shown(
    state: AgentState,
    fire_id: str,
    message: HeuristicFired,
    trigger: Trigger,
    undo_s: float,
) -> AgentState:
    """Return the state with a fire that may be undone within `undo_s` seconds."""
    if not undo_s:
        return replace(state, shown=()) if state.shown else state
    fire = ShownFire(
        fire_id=fire_id,
        decision_id=message.decision_id,
        heuristic_id=message.heuristic_id,
        content_hash=message.content_hash,
        at=trigger.at,
        domain=trigger.domain,
        entities=trigger.entities,
    )
    # Cleaned here alone, where one is added: the tuple cannot grow in between.
    earliest = trigger.at - timedelta(seconds=undo_s)
    fresh = [each for each in state.shown if each.at >= earliest]
    return replace(state, shown=(*fresh, fire)[-limits.SHOWN_FIRES :])


def nothing_awaited(now: datetime) -> Trigger:
    """Return a trigger that expects no outcome."""
    return Trigger(at=now, domain="", entities=(), expectations=())


def counts_already(state: AgentState, message: OutcomeObserved) -> bool:
    """Tell whether the fire has an implicit signal that is settled."""
    remembered = state.decisions.get(message.decision_id)
    if remembered is None or not remembered.is_ignored:
        return False
    held = state.beliefs.get(belief_key(message.heuristic_id, message.content_hash))
    return held is None or confidence.find(held, message.fire_id, "ignored") is None


def is_voted(state: AgentState, message: OutcomeObserved, held: Belief) -> bool:
    """Tell whether people's votes on the fire are settled."""
    remembered = state.decisions.get(message.decision_id)
    if remembered is None or "pair" not in remembered.entries:
        return False
    return confidence.find(held, message.fire_id, "explicit") is None


def ignored(state: AgentState, message: AdviceIgnored) -> AgentState:
    """Return the state that marks the fire which stands for a run of ignored ones."""
    remembered = state.decisions.get(message.decision_id)
    if remembered is None:
        return state
    known = replace(remembered, is_ignored=True)
    return replace(state, decisions=state.decisions.set(message.decision_id, known))


def ended(
    state: AgentState, message: OutcomeObserved | OutcomeExpired, outcome: Outcome
) -> AgentState:
    """Return the state with a fire's outcome recorded, and the fire no longer open."""
    state = replace(
        state,
        fires=tuple(f for f in state.fires if f.fire_id != message.fire_id),
        timers=timers.without(state.timers, message.fire_id),
    )
    remembered = state.decisions.get(message.decision_id)
    if remembered is None:
        return state
    known = replace(remembered, outcome=outcome)
    return replace(state, decisions=state.decisions.set(message.decision_id, known))


def _waiting(state: AgentState, fire: OpenFire) -> AgentState:
    # The oldest go, with their timers; they keep the outcome `unknown`.
    given_up = state.fires[: max(0, len(state.fires) + 1 - limits.OPEN_FIRES)]
    pending = state.timers
    for old in given_up:
        pending = timers.without(pending, old.fire_id)
    # One timer for the whole fire: it expires when the last expectation does.
    due = max(expectation.due for expectation in fire.expectations)
    timer = Timer(due=due, id=fire.fire_id, purpose="outcome")
    return replace(
        state,
        fires=(*state.fires[len(given_up) :], fire),
        timers=timers.added(pending, timer),
    )
