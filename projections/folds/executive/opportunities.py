"""Fold draws of opportunities: when the companion may next speak of its own accord."""

from datetime import datetime

from msgspec.structs import replace

from projections.folds import timers
from projections.folds.executive import remembering, reminders
from projections.folds.fold_context import FoldContext
from schemas.messages.arms import CHECK_IN
from schemas.messages.decisions import Decided
from schemas.messages.notes import OpportunityDrawn
from schemas.state import limits
from schemas.state.agent import AgentState, Timer, within
from schemas.state.executive import Executive, Opportunity, Unasked
from schemas.values import ids, unicode_text


def drawn(state: AgentState, message: OpportunityDrawn) -> AgentState:
    """Return the state after the next time of an opportunity was drawn, or none is."""
    before = find(state.executive, message.purpose)
    own = Opportunity(
        purpose=message.purpose,
        count=message.count,
        due=message.due_at,
        chance=message.chance,
        about=message.about or "",
        taken_at=before.taken_at if before is not None else None,
    )
    others = _others(state.executive, message.purpose)
    id_ = _timer_id(message.purpose)
    left = timers.without(state.timers, id_)
    if message.due_at is not None:
        timer = Timer(due=message.due_at, id=id_, purpose="opportunity")
        left = timers.added(left, timer)
    executive = within(state.executive, "initiative", opportunities=(*others, own))
    return replace(state, executive=executive, timers=left)


def _taken(state: AgentState, timer: str, now: datetime) -> AgentState:
    """Return the state after an opportunity about something was taken, said or not."""
    purpose = purpose_of(timer)
    held = find(state.executive, purpose) if purpose is not None else None
    # Whether anybody was asked how things are is told by what was said.
    if held is None or held.purpose == CHECK_IN:
        return state
    others = _others(state.executive, held.purpose)
    own = replace(held, taken_at=now)
    executive = within(state.executive, "initiative", opportunities=(*others, own))
    return replace(state, executive=executive)


def _others(executive: Executive, purpose: str) -> tuple[Opportunity, ...]:
    return tuple(
        each for each in executive.initiative.opportunities if each.purpose != purpose
    )


def find(executive: Executive, purpose: str) -> Opportunity | None:
    """Return what is known of an opportunity; None if it was never drawn."""
    held = executive.initiative.opportunities
    return next((each for each in held if each.purpose == purpose), None)


def _timer_id(purpose: str) -> str:
    """Return the id of an opportunity's timer."""
    return timers.OPPORTUNITY + purpose


def purpose_of(timer: str) -> str | None:
    """Return the purpose of an opportunity's timer; None if it is another's."""
    is_ours = timer.startswith(timers.OPPORTUNITY)
    return timer.removeprefix(timers.OPPORTUNITY) if is_ours else None


def decided(state: AgentState, context: FoldContext, message: Decided) -> AgentState:
    """Return the state after a decision that was made on no event."""
    if message.timer is None:
        return state
    reminder = reminders.of_timer(state.executive, message.timer)
    if reminder is not None:
        state = reminders.rung(
            state, context, reminder, was_said=message.silence is None
        )
    if purpose_of(message.timer) is not None and message.silence is None:
        state = _remarked(state, context.output_id, message, context.now)
    state = _taken(state, message.timer, context.now)
    return remembering.decided(state, context, message, None)


def _remarked(
    state: AgentState, id_: str, message: Decided, now: datetime
) -> AgentState:
    """Return the state that knows what was said unasked, by the words before any style."""
    text = message.text or ""
    if message.wording is not None:
        text = message.wording.intent
    new = Unasked(decision_id=id_, at=now, words=digest_of(text))
    kept = (*state.executive.initiative.unasked, new)[-limits.UNASKED :]
    return within(state, "executive", "initiative", unasked=kept)


def unsaid(state: AgentState, decision_id: str) -> AgentState:
    """Return the state after a remark was dropped that waited: nobody heard it."""
    known = state.executive.initiative.unasked
    kept = tuple(each for each in known if each.decision_id != decision_id)
    if len(kept) == len(known):
        return state
    return within(state, "executive", "initiative", unasked=kept)


def digest_of(text: str) -> str:
    """Return by what words are known again, whichever numbers they tell."""
    known = (each for each in unicode_text.words(text) if not each.isdigit())
    return ids.digest(" ".join(known).encode())


def unanswered(executive: Executive) -> int:
    """Return how many remarks were made since a person last said anything."""
    heard = executive.presence.heard_at
    since = (e for e in executive.initiative.unasked if heard is None or e.at >= heard)
    return len(tuple(since))
