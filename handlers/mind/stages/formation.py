"""Formation: turn a model's answer that a person liked into a rule for like situations.

The model is asked to extract the rule; what it sends must be one that could help: a
situation and a message of 10 to 50 words each, and a `when` that holds on the very event
that it was taken from. Whatever falls short is refused with the reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import orjson
from msgspec import Struct, structs

from handlers.mind.reply import reading
from schemas.messages.repertoire import Formed
from schemas.packs import conditions
from schemas.packs.conditions import ConditionError
from schemas.state.lessons import Lesson
from schemas.values import ids, unicode_text
from schemas.values.base import NAME_LIMIT
from schemas.values.prompt_fencing import RULE, fenced
from schemas.values.reasons import NotFormed, ResponseType
from schemas.values.unicode_text import quoted

_CONFIDENCE = 0.3
"""The confidence of a new rule: well below the threshold of 0.7, so that it must earn trust
before it answers by itself."""

WORDS = (10, 50)
"""Fewest and most words of a condition or message, both ends included."""

_TEXT_CAP = 1_000
"""How many characters of each text go into the question."""

_TYPES: Mapping[str, ResponseType] = {
    "suggest": "suggestion",
    "remind": "observation",
    "warn": "alert",
}
"""What a rule may do, by the model's word for it, and the response type that it has."""

_SYSTEM = (
    "You turn one good answer into a rule for the future. You are told what happened and"
    " what was said about it, and that the person liked it. Describe the situation in"
    " general, so that it fits the next one like it, and say what to say then.\n\n"
    'Reply with one JSON object: {"condition": the situation, 10 to 50 words, "type":'
    ' "suggest", "remind" or "warn", "message": what to say, 10 to 50 words, "when": a'
    ' test of the event\'s fields or null, "time": when a reminder is due or null}.\n\n'
    "A test tells apart what words do not, such as a low value from a high one. It"
    " compares fields with =, !=, <, <=, > or >=, or with `in` and a list, and joins"
    ' comparisons with and, or, not: health <= 3 and place in ["cave", "mine"].'
)
_QUESTION = (
    "It happened, from {source} ({type}): {text}\n"
    "The event's fields: {fields}\n\n"
    "It was said: {said}\n\n"
    "What is the rule?"
)


class Rule(Struct, frozen=True, kw_only=True):
    """A rule that a model made of a lesson."""

    condition: str
    when: str | None
    response_type: ResponseType
    text: str
    when_left_out: str | None
    """Why the proposed `when` was left out; None if it was not."""
    due: str | None


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a model's text is not taken as a rule."""

    reason: NotFormed
    detail: str


def question(lesson: Lesson) -> tuple[str, str]:
    """Return the system prompt and the prompt that ask for a rule."""
    # What sensors and models wrote is data: fenced, it cannot pose as our instructions.
    asked = _QUESTION.format(
        source=lesson.source,
        type=lesson.type,
        text=fenced(lesson.text, _TEXT_CAP),
        fields=fenced(lesson.fields, _TEXT_CAP),
        said=fenced(lesson.said, _TEXT_CAP),
    )
    return f"{_SYSTEM}\n\n{RULE}", asked


def read(text: str, lesson: Lesson) -> Rule | Fault:
    """Parse and check the rule in a model's text; return what is wrong with it if
    anything.
    """
    fields = reading.object_or_none(text, reading.RULE[0])
    if fields is None:
        return Fault("unreadable", "the model sent no JSON object with a rule")
    condition, message = (reading.field(fields, name) for name in reading.RULE)
    # A rule is said again and again, long after anybody looked at the reply.
    for part, told in zip(reading.RULE, (condition, message), strict=True):
        if (why := reading.fault(told)) is not None:
            return Fault("unreadable", f"its {part} cannot be said: {why}")
    response_type = _TYPES.get(reading.field(fields, "type"))
    if response_type is None:
        known = ", ".join(_TYPES)
        found = reading.field(fields, "type")[:NAME_LIMIT]
        return Fault("type", f"its type is {quoted(found)}, not one of {known}")
    if fault := _length("condition_length", "condition", condition):
        return fault
    if fault := _length("message_length", "message", message):
        return fault
    when, left_out = _test(fields.get("when"), lesson)
    # One that is false of its own event contradicts its case, and is refused (ADR 0010).
    if when is not None and (false := _failure(when, lesson)):
        return Fault("when_false", f"its own event does not meet its test: {false}")
    return Rule(
        condition=condition,
        when=when,
        response_type=response_type,
        text=message,
        when_left_out=left_out,
        due=_due(fields, response_type),
    )


def formed(rule: Rule, of: str, decision_id: str) -> Formed:
    """Return the heuristic of a rule, with an id that is derived from `of`."""
    id_ = ids.learnt_heuristic_id(of)
    return Formed(
        **structs.asdict(rule),
        heuristic_id=id_,
        name=_name(rule.condition, id_),
        confidence=_CONFIDENCE,
        decision_id=decision_id,
    )


def _name(condition: str, heuristic_id: str) -> str:
    """Return a readable name: the condition's first words and four characters of the id."""
    beginning = "_".join(unicode_text.words(condition)[:6]) or "rule"
    return f"{beginning[: NAME_LIMIT - 5]}_{heuristic_id[:4]}"


def _length(reason: NotFormed, part: str, text: str) -> Fault | None:
    count = len(text.split())
    low, high = WORDS
    # Words may be of any length, and what a heuristic holds may not.
    if low <= count <= high and len(text) <= _TEXT_CAP:
        return None
    return Fault(
        reason,
        f"its {part} has {count} words and {len(text)} characters: {low} to {high}"
        f" words in at most {_TEXT_CAP} characters are needed",
    )


def _test(proposed: object, lesson: Lesson) -> tuple[str | None, str | None]:
    """Return the `when` if it can be used, else why it is left out.

    A test that cannot be read, or is of other fields, says nothing against the rule: it
    is only more general without it.
    """
    if not proposed:
        return None, None
    if not isinstance(proposed, str):
        return None, "it is no text"
    text = proposed.strip()
    try:
        when = conditions.parse(text)
    except ConditionError as error:
        return None, f"it cannot be read: {error}"
    fields = orjson.loads(lesson.fields)
    for field in conditions.fields_named(when):
        if not conditions.field_value(field, fields)[0]:
            return None, f"the event has no field {quoted(field)}"
    return text, None


def _failure(when: str, lesson: Lesson) -> str:
    fields = orjson.loads(lesson.fields)
    return conditions.explain_failure(
        conditions.parse(when), lesson.type, lesson.source, fields
    )


def _due(fields: Mapping[str, object], response_type: ResponseType) -> str | None:
    is_reminder = response_type == _TYPES["remind"]
    return reading.field(fields, "time")[:NAME_LIMIT] or None if is_reminder else None
