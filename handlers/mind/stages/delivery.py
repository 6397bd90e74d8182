"""Delivery: when what is to be said is served, and what became of it."""

from schemas.messages.decisions import Salience
from schemas.messages.notes import Handled
from schemas.messages.results import Result
from schemas.state.agent import AgentState

_ABOVE_ALL = 1.0
"""Added to a threat's priority, so that it is served before whatever is none; by itself
that of a person's words."""


def priority(salience: Salience, is_threat: bool, is_addressed: bool) -> float:
    """What asks are served by: the effective salience, but threats, then people first."""
    if not is_threat:
        return _ABOVE_ALL if is_addressed else salience.effective
    return _ABOVE_ALL + salience.dimensions.get("threat", 0.0)


def refusal(state: AgentState, result: Result) -> Handled | None:
    """Why a result comes to nothing: the first answer to an ask wins."""
    match state.asks.get(result.ask_id):
        case "open":
            return None
        case "answered":
            return Handled(reason="second", detail=result.ask_id)
        case "late":
            return Handled(reason="late", detail=result.ask_id)
        case _:
            return Handled(reason="unknown", detail=result.ask_id)
