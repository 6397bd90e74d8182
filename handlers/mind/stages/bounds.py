"""Bounds: what is too much to be remembered, shown to a model or written again.

From the second edition of the rules on. A number or a control character may be longer in
the JSON that is written than in the one that was sent, so what is written counts.
"""

import orjson

from schemas.codec.envelope import Input
from schemas.messages.controls import Control, GoalsSet, MindStarted
from schemas.messages.notes import ControlRefused, Quarantined
from schemas.messages.sensing import Sensed

SINCE = 2
"""The first edition of the rules that has these bounds."""

WRITTEN_BYTES = 32_000
"""How long a control or an event's fields may be as JSON: two personalities of 4,000
characters in any script, with room to spare."""

VALUES = 256
"""How many values these may hold, one inside another or not."""

NESTING = 16
"""How deep these may be nested."""

GOAL_LENGTH = 500
"""How many characters a goal may have."""


def refusal(taken: Input, edition: int) -> ControlRefused | Quarantined | None:
    """What refuses an input that is too much; None if nothing does."""
    message = taken.message
    if edition < SINCE:
        return None
    if isinstance(message, Sensed):
        fault = _fault(orjson.dumps(message.fields), message.fields)
        where, detail = taken.record.subject, f"fields: {fault}"
        note = Quarantined(reason="too_large", detail=detail, subject=where)
        return note if fault else None
    if not isinstance(message, Control) or isinstance(message, MindStarted):
        return None
    fault = _of_control(message)
    if fault is None:
        return None
    return ControlRefused(control=message.token, reason="invalid", detail=fault)


def _of_control(message: Control) -> str | None:
    if isinstance(message, GoalsSet):
        longest = max(map(len, message.goals), default=0)
        if longest > GOAL_LENGTH:
            return f"a goal of {longest} characters, the limit is {GOAL_LENGTH}"
    written = message.to_bytes()
    return _fault(written, orjson.loads(written))


def _fault(written: bytes, value: object) -> str | None:
    """What is too much of a value that is written so; None if nothing is."""
    if len(written) > WRITTEN_BYTES:
        return f"{len(written)} bytes once written, the limit is {WRITTEN_BYTES}"
    level, count, depth = [value], 0, 0
    while level := [inner for each in level for inner in _inside(each)]:
        count, depth = count + len(level), depth + 1
        if count > VALUES:
            return f"more than {VALUES} values"
        if depth > NESTING:
            return f"nested deeper than {NESTING} levels"
    return None


def _inside(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
