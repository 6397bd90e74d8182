"""What the device's entities show, and what their commands mean."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from echoic.doors.homeassistant.discovery import EVENT_TYPES
from replay.recording.decisions import DecisionRecord
from schemas.messages.decisions import Dropped
from schemas.state.executive import EVERYBODY
from schemas.values.base import Part
from schemas.values.persons import token_of
from schemas.values.prompt_fencing import capped

_CHARACTERS = 2_000


class Vote(Part):
    """A vote by a button, or by an automation."""

    rating: Literal["positive", "negative"]
    decision_id: str = Field(default="", max_length=256)
    """Empty: on what was said last."""
    comment: str | None = Field(default=None, max_length=2_000)


def said(record: DecisionRecord) -> dict[str, Any]:
    """Return the state of what was said last: the words, and of which decision they are."""
    return {
        "text": capped(record.said or "", _CHARACTERS),
        "decision_id": record.id,
        "source": record.decided.source,
        "type": record.decided.type,
        "about": capped(record.text, _CHARACTERS),
        "at": record.at.isoformat(),
    }


def decision(record: DecisionRecord) -> dict[str, Any]:
    """Return a final decision as an event of Home Assistant's."""
    return {**said(record), "event_type": _came_to(record), "reason": record.silence}


def rapport(state: Mapping[str, Any], persons: Sequence[str]) -> dict[str, float]:
    """Return how well the agent gets on with these persons, 0 to 1, as far as it is known."""
    known = state["rapport"]
    tokens = map(token_of, persons)
    return {each: known[each] for each in tokens if each in known}


def is_mute(state: Mapping[str, Any]) -> bool:
    """Say whether the agent is mute towards everybody."""
    held = state["executive"]["restraints"]
    return any(each["mode"] == "mute" and each["person"] == EVERYBODY for each in held)


def _came_to(record: DecisionRecord) -> str:
    if record.said is not None:
        found = "spoke"
    elif isinstance(record.ending, Dropped):
        found = "dropped"
    else:
        found = "acted" if record.silence is None else "silent"
    assert found in EVENT_TYPES, "Home Assistant was told of these alone"
    return found
