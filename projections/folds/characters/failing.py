"""Fold what fails time and again: what a reflex does, and a model that gives nothing."""

from datetime import datetime, timedelta

from immutables import Map
from msgspec.structs import replace

from schemas.messages.decisions import Completed, Dropped
from schemas.packs.characters import Backoff
from schemas.state import limits
from schemas.state.agent import AgentState
from schemas.state.character import Failing
from schemas.values.reasons import Drop, ReportedOutcome

_BY_A_MODEL: tuple[Drop, ...] = (
    "llm_no_response",
    "llm_timeout",
    "llm_declined",
    "llm_malformed",
    "stale",
)
"""What became of decisions whose model failed."""


def reported(
    failing: Map[str, Failing],
    backoff: Backoff,
    behaviour: str,
    outcome: ReportedOutcome,
    now: datetime,
) -> Map[str, Failing]:
    """Return what fails once the world told how a reflex's action ended.

    After n failures in a row it is held back for first_s * 2^(n-1) seconds, at most most_s.
    """
    known = failing.get(behaviour)
    if outcome == "succeeded":
        return failing if known is None else failing.delete(behaviour)
    if outcome != "failed":
        return failing
    count = 1 if known is None else known.count + 1
    # Bounded before it is raised: a number of thousands of digits helps nobody.
    wait_s = min(backoff.first_s * 2.0 ** min(count - 1, 60), backoff.most_s)
    if known is None and len(failing) >= limits.FAILING:
        soonest = min(sorted(failing), key=lambda each: failing[each].until)
        failing = failing.delete(soonest)
    until = now + timedelta(seconds=wait_s)
    return failing.set(behaviour, Failing(count=count, until=until))


def ended(state: AgentState, message: Completed | Dropped) -> AgentState:
    """Return the state in which it is known whether a layer's model gave anything."""
    asked, failed = state.character.asked, state.character.failed
    same = (each for each in sorted(asked) if _is_of(state, each, message))
    layer = next(same, None)
    if layer is None:
        return state
    if isinstance(message, Completed):
        after = failed.delete(layer) if layer in failed else failed
    elif message.reason in _BY_A_MODEL:
        after = failed.set(layer, message.reason)
    else:
        return state
    return replace(state, character=replace(state.character, failed=after))


def _is_of(state: AgentState, layer: str, message: Completed | Dropped) -> bool:
    is_its = state.character.asked[layer].decision_id == message.decision_id
    return is_its and layer in ("talker", "executor", "single")
