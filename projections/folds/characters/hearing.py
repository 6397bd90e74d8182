"""Fold what a character hears: in conversations that a place owns, or said to itself."""

from datetime import datetime, timedelta

from schemas.messages.conversations import SpokenLine
from schemas.messages.sensing import Fields, Sensed
from schemas.packs.layers import Talker
from schemas.state import limits
from schemas.state.character import LastHeard
from schemas.values.subjects import AGENT_SOURCE

_HEARD, _OVER = "heard", "over"
"""The types of what a place tells."""

_LINES = 20
"""How many lines of before are kept, at most."""


def sensed(
    before: LastHeard | None,
    talker: Talker,
    event: Sensed,
    now: datetime,
    means: str | None,
) -> LastHeard | None:
    """Return what the character heard last, once an event came.

    One with a place is told by that alone; another by events of the type that
    `means: heard`.
    """
    if talker.place is None:
        return _spoken_to(before, talker, event, now) if means == _HEARD else before
    is_places = event.fields.get("agent") == talker.place
    if event.source != AGENT_SOURCE or not is_places:
        return before
    if event.type == _OVER:
        is_this = before and before.conversation == event.fields.get("conversation")
        return None if is_this else before
    return _heard(event, talker, now) or before if event.type == _HEARD else before


def _spoken_to(
    before: LastHeard | None, talker: Talker, event: Sensed, now: datetime
) -> LastHeard:
    """Return what somebody said to it, which goes on what was said until it lapsed."""
    told = event.fields
    named, distance = told.get("speaker"), told.get("distance")
    speaker = named if isinstance(named, str) and named else event.person
    with_whom = f"{event.source}/{speaker or event.source}"[: limits.UTTERANCE]
    goes_on = before is not None and before.conversation == with_whom
    return LastHeard(
        conversation=with_whom,
        turn=before.turn + 1 if before is not None and goes_on else 1,
        speaker=speaker or event.source,
        text=event.text[: limits.SPEECH],
        distance=float(distance) if isinstance(distance, int | float) else 0.0,
        is_asked=True,
        at=now,
        until=now + timedelta(seconds=talker.lapses_s),
    )


def _heard(event: Sensed, talker: Talker, now: datetime) -> LastHeard | None:
    told = event.fields
    conversation, turn = told.get("conversation"), told.get("turn")
    speaker, distance = told.get("speaker"), told.get("distance")
    if not isinstance(conversation, str) or not isinstance(speaker, str):
        return None
    if not isinstance(turn, int) or not isinstance(distance, int | float):
        return None
    return LastHeard(
        conversation=conversation,
        turn=turn,
        speaker=speaker,
        text=event.text[: limits.SPEECH],
        distance=float(distance),
        lines=_lines(told),
        is_asked=told.get("ask") is True,
        is_last=told.get("goodbye") is True,
        at=now,
        until=now + timedelta(seconds=talker.lapses_s),
    )


def _lines(told: Fields) -> tuple[SpokenLine, ...]:
    lines = told.get("lines")
    found = []
    for each in lines if isinstance(lines, list) else ():
        if isinstance(each, list) and len(each) == 2:
            speaker, text = str(each[0]), str(each[1])
            found.append(SpokenLine(speaker=speaker, text=text[: limits.UTTERANCE]))
    return tuple(found[-_LINES:])
