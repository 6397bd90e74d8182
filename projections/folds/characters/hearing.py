"""Fold what a character hears in conversations that a place owns."""

from datetime import datetime, timedelta

from schemas.messages.conversations import Line
from schemas.messages.sensing import Fields, Sensed
from schemas.packs.layers import Talker
from schemas.state import limits
from schemas.state.character import Heard
from schemas.values.subjects import AGENT_SOURCE

HEARD, OVER = "heard", "over"
"""The types of what a place tells."""

_LINES = 20
"""How many lines of before are kept, at most."""


def sensed(
    before: Heard | None, talker: Talker, event: Sensed, now: datetime
) -> Heard | None:
    """Return what the character heard last, once an event came; only its place tells it."""
    is_places = event.fields.get("agent") == talker.place
    if talker.place is None or event.source != AGENT_SOURCE or not is_places:
        return before
    if event.type == OVER:
        is_this = before and before.conversation == event.fields.get("conversation")
        return None if is_this else before
    return _heard(event, talker, now) or before if event.type == HEARD else before


def _heard(event: Sensed, talker: Talker, now: datetime) -> Heard | None:
    told = event.fields
    conversation, turn = told.get("conversation"), told.get("turn")
    speaker, distance = told.get("speaker"), told.get("distance")
    if not isinstance(conversation, str) or not isinstance(speaker, str):
        return None
    if not isinstance(turn, int) or not isinstance(distance, int | float):
        return None
    return Heard(
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


def _lines(told: Fields) -> tuple[Line, ...]:
    lines = told.get("lines")
    found = []
    for each in lines if isinstance(lines, list) else ():
        if isinstance(each, list) and len(each) == 2:
            speaker, text = str(each[0]), str(each[1])
            found.append(Line(speaker=speaker, text=text[: limits.UTTERANCE]))
    return tuple(found[-_LINES:])
