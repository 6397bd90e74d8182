"""Fold draws of opportunities: when the companion may next speak of its own accord."""

from msgspec.structs import replace

from projections.folds import timers
from schemas.messages.notes import OpportunityDrawn
from schemas.state.agent import AgentState, Timer
from schemas.state.executive import Executive, Opportunity


def drawn(state: AgentState, message: OpportunityDrawn) -> AgentState:
    """Return the state after the next time of an opportunity was drawn, or none is."""
    held = state.executive.opportunities
    others = tuple(each for each in held if each.purpose != message.purpose)
    own = Opportunity(
        purpose=message.purpose,
        count=message.count,
        due=message.due_at,
        chance=message.chance,
    )
    id_ = timer_id(message.purpose)
    left = timers.without(state.timers, id_)
    if message.due_at is not None:
        timer = Timer(due=message.due_at, id=id_, purpose="opportunity")
        left = timers.added(left, timer)
    executive = replace(state.executive, opportunities=(*others, own))
    return replace(state, executive=executive, timers=left)


def find(executive: Executive, purpose: str) -> Opportunity | None:
    """Return what is known of an opportunity; None if it was never drawn."""
    held = executive.opportunities
    return next((each for each in held if each.purpose == purpose), None)


def timer_id(purpose: str) -> str:
    """Return the id of an opportunity's timer."""
    return timers.OPPORTUNITY + purpose
