"""Remember what was said lately, for cooldowns and for what was said already."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter

from msgspec.structs import replace

from schemas.messages.decisions import Completed, Decided
from schemas.messages.sensing import Sensed
from schemas.state import limits
from schemas.state.agent import AgentState, Pending
from schemas.state.executive import Aloud, Saying
from schemas.values.by_identity import by_identity
from schemas.values.vectors import Vector

OWN_ECHO = "own_echo"
"""The gate that closes to its own voice."""
DOUBTFUL = 0.6
"""From here on words may be its own voice, garbled; a clear turn of a person's is below."""
_AT = attrgetter("at")


def of_decided(
    decision_id: str, message: Decided, at: datetime, vector: Vector
) -> Saying | None:
    """Return what a decision said at once; None if it did not."""
    if not message.final or message.text is None or message.response_type is None:
        return None
    return Saying(
        decision_id=decision_id,
        at=at,
        response_type=message.response_type,
        domain=message.domain,
        heuristic_id=message.matched_heuristic_id,
        person=message.person,
        vector=vector,
        sort=f"{message.source}.{message.type}",
        cools=message.path != "acknowledged" and message.response_type != "check_in",
    )


def of_completed(message: Completed, pending: Pending | None, at: datetime) -> Saying:
    """Return what was said once it was known."""
    by_heuristic = message.path == "heuristic"
    lesson = pending.lesson if pending is not None else None
    return Saying(
        decision_id=message.decision_id,
        at=at,
        response_type=message.response_type,
        domain=(lesson.domain if lesson else None) or "",
        heuristic_id=message.matched_heuristic_id if by_heuristic else None,
        vector=lesson.vector if lesson else b"",
        sort=f"{lesson.source}.{lesson.type}" if lesson else "",
        cools=message.response_type != "check_in",
    )


def remembered(state: AgentState, saying: Saying) -> AgentState:
    """Return the state with one more response in memory."""
    said = (*state.executive.said, saying)[-limits.SAYINGS :]
    return replace(state, executive=replace(state.executive, said=said))


def between(
    said: tuple[Saying, ...], since: datetime, until: datetime
) -> Sequence[Saying]:
    """Return the responses of a span of time, both ends included, in order of time."""
    ordered = _in_order(said)
    begin = bisect_left(ordered, since, key=_AT)
    return ordered[begin : bisect_right(ordered, until, begin, key=_AT)]


# They are looked through at each event, and another comes at few of them.
@by_identity(64)
def _in_order(said: tuple[Saying, ...]) -> list[Saying]:
    # Nearly always in order already, but a clock may be set back.
    return sorted(said, key=_AT)


def aloud(state: AgentState, text: str, at: datetime) -> AgentState:
    """Return the state that knows the words again which are said now."""
    if not text:
        return state
    said = Aloud(at=at, text=text[: limits.ALOUD_TEXT])
    kept = (*state.executive.aloud, said)[-limits.ALOUD :]
    return replace(state, executive=replace(state.executive, aloud=kept))


def listened(state: AgentState, message: Decided) -> AgentState:
    """Return the state that counts words which may have been its own voice."""
    gate = next((each for each in message.gates if each.name == OWN_ECHO), None)
    if gate is None or gate.value is None:
        return state
    is_doubtful = gate.value >= DOUBTFUL
    doubts = state.executive.doubtful + 1 if is_doubtful else 0
    return replace(state, executive=replace(state.executive, doubtful=doubts))


def heard(state: AgentState, event: Sensed, at: datetime) -> AgentState:
    """Return the state that knows when a person last said something."""
    if not event.is_persons:
        return state
    return replace(state, executive=replace(state.executive, heard_at=at))
