"""From bytes to messages: the one place where a record gets its meaning.

Reading an input never fails: one that cannot be read becomes `Unreadable` with a reason,
for the mind to answer. Reading an output raises: we wrote it, so the log is damaged.
"""

import re
from datetime import datetime
from functools import lru_cache
from typing import Any, cast

import orjson
from pydantic import ValidationError

from schemas.codec import payload
from schemas.codec.catalogue import (
    EXECUTIVE_TOKENS,
    InputMessage,
    OutputMessage,
    message_type,
)
from schemas.codec.envelope import Input, Mark, Output, Unreadable
from schemas.codec.upcasts import NewerVersionError, upcast
from schemas.messages import controls
from schemas.ports import faults
from schemas.values import ids, subjects
from schemas.values.base import Message, first_fault
from schemas.values.reasons import Quarantine
from schemas.values.record import Record
from schemas.values.text_form import all_normalized, normalized
from schemas.values.unicode_text import quoted

BODY_LIMIT = 512 * 1024
"""How many bytes an input may have; a larger one is kept and quarantined.

The settings that a mind starts with are the largest: they hold the phrases."""

NESTING_LIMIT = 100
"""How deep the JSON of an input may go; deeper, it could not be written again."""

# Without control characters: the id becomes a header of each output (`ce-causeid`), and a
# line break there would end the header. The length is `NAME_LIMIT`.
_ID = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,200}")
_START = (controls.MindStarted.kind, controls.MindStarted.token)
_VERSION = re.compile(r"[1-9][0-9]{0,5}")


class UnreadableOutputError(ValueError):
    """An output of the log cannot be read: the log is damaged or newer than the program."""


class _RefusedError(Exception):
    """Carries an `Unreadable` out of a reading step."""

    def __init__(self, reason: Quarantine, detail: str) -> None:
        super().__init__(detail)
        self.unreadable = Unreadable(reason, detail[:2_000])


def read_input(record: Record) -> Input:
    """Read an input; whatever it holds, the result can be answered.

    Raises:
        SubjectError: the record's subject is not the log's, so it is no input of ours.
        OSError, MemoryError: a fault of this machine, for which no input is to blame.
    """
    place = subjects.parse(record.subject)
    agent, id_ = place.agent, record.headers.get("ce-id", "")
    is_usable = _ID.fullmatch(id_) is not None
    message: InputMessage | Unreadable
    try:
        _check_agent(record, place)
        if id_ and not is_usable:
            raise _RefusedError(
                "invalid",
                f"ce-id {quoted(id_[:50])} is not 1 to 200 characters without control"
                " characters",
            )
        message = _input_message(record, place)
    except _RefusedError as refused:
        message = refused.unreadable
        # What names no possible agent is answered under the agent of the partition.
        agent = agent if subjects.is_agent(agent) else subjects.SHARED_AGENT
    # Before the next clause, which would catch these, too: quarantine is recorded for good,
    # and a machine short of memory may read the same input a moment later.
    except faults.OF_THE_SHELL:
        raise
    # Whatever else a body provokes is an answer like any other: one input must not stop
    # the partition (docs/adr/0012).
    except faults.OF_AN_INPUT as error:
        message = Unreadable("error", faults.named(error))
        agent = agent if subjects.is_agent(agent) else subjects.SHARED_AGENT
    return Input(
        record=record,
        partition=place.partition,
        agent=agent,
        id=id_ if is_usable else ids.filled_event_id(record.time_ns, record.sequence),
        at=record.recorded_at,
        message=message,
    )


def read_output(record: Record) -> Output:
    """Read an output, which this program or an older one wrote.

    Raises:
        UnreadableOutputError: its subject, group mark or body is not what we write.
    """
    try:
        place = subjects.parse(record.subject)
        return Output(
            record=record,
            partition=place.partition,
            agent=place.agent,
            id=record.headers["ce-id"],
            at=datetime.fromisoformat(record.headers["ce-time"]),
            mark=read_mark(record),
            message=_output_message(record, place),
        )
    except (ValueError, KeyError, _RefusedError) as error:
        why = quoted(error)
        if isinstance(error, _RefusedError):
            why = error.unreadable.detail
        raise UnreadableOutputError(
            f"output {record.sequence} on {quoted(record.subject)} cannot be read: {why}"
        ) from error


def read_mark(record: Record) -> Mark:
    """Return the group mark of an output.

    Raises:
        KeyError, ValueError: it has none, or one that is no number.
    """
    headers = record.headers
    return Mark(
        cause_sequence=int(headers["ce-causeseq"]),
        cause_id=headers["ce-causeid"],
        index=int(headers["ce-index"]),
        count=int(headers["ce-count"]),
    )


def _output_message(record: Record, place: subjects.LogSubject) -> OutputMessage:
    """Read the body of an output.

    One of the present version is decoded in one step; an older one needs its raw
    fields for the upcasts.
    """
    model, version = message_type(place.kind, place.detail), _version(record)
    if model and version == model.version:
        return cast(OutputMessage, model.from_bytes(record.body))
    fields = orjson.loads(record.body)
    return cast(OutputMessage, _decode(place.kind, place.detail, fields, version))


def _check_agent(record: Record, place: subjects.LogSubject) -> None:
    if place.kind == subjects.STRAY:
        raise _RefusedError(
            "bad_subject",
            "a sensor publishes to in.<agent>.<source>.<type>, not"
            f" {quoted(record.headers.get(subjects.STRAYED_TO))}",
        )
    if place.kind == "sensor" and place.agent == subjects.SHARED_AGENT:
        # What was published outside the grammar is filed under `_`, but in the partition of
        # its first token: that tells `in.ana.game` from `in._.game.hit`.
        own = place.partition == subjects.partition_of(subjects.SHARED_AGENT)
        if own and place.detail.count(".") == 1:
            raise _RefusedError(
                "reserved_agent", "the agent '_' is not a sensor's to use"
            )
        raise _RefusedError(
            "bad_subject",
            f"a sensor publishes to in.<agent>.<source>.<type>, not {quoted(place.detail)}",
        )
    if not subjects.is_token(place.agent):
        raise _RefusedError(
            "bad_subject",
            f"agent {quoted(place.agent)} is not 1 to 64 of A-Z a-z 0-9 _ -",
        )


def _input_message(record: Record, place: subjects.LogSubject) -> InputMessage:
    """Read the body; feedback and controls published like events are read as such."""
    if place.kind != "sensor":
        fields = _fields(record)
        if (place.kind, place.detail) == _START:
            return _started(orjson.dumps(fields), _version(record))
        return _message(record, place.kind, place.detail, fields)
    source, _, type_ = place.detail.partition(".")
    _check_tokens(source, type_)
    fields = _fields(record)
    if type_ == subjects.PUBLISHED_FEEDBACK:
        # Both are ours to fill in: a sensor votes under its own name alone, and what the
        # log knows of a decision is looked up, not believed.
        fields |= {"actor": source, "about": None}
        return _message(record, "feedback", "feedback_given", fields)
    if type_ == subjects.PUBLISHED_CONTROL:
        token = str(fields.pop("control", ""))
        # Who asked for it decides who may be answered, so nobody can ask for another.
        if token in EXECUTIVE_TOKENS:
            fields["by"] = source
        return _message(record, "control", token, fields)
    if payload.is_payload(fields):
        fields = payload.of_object(source, type_, fields)
    elif fields.keys() == {"text"} and _is_bare(record):
        fields = payload.of_text(source, type_, fields["text"])
    fields["source"], fields["type"] = source, type_
    return _message(record, "sensor", "sensed", fields)


# All partitions are told the same at a start. As one object it lets whatever is worked out
# of settings, and kept by their identity, serve all of them.
@lru_cache(maxsize=8)
def _started(fields: bytes, version: int) -> InputMessage:
    return cast(InputMessage, _decode(*_START, orjson.loads(fields), version))


def _message(
    record: Record, kind: str, token: str, fields: dict[str, Any]
) -> InputMessage:
    if kind not in subjects.INPUT_KINDS:
        raise _RefusedError(
            "unknown_type", f"there are no inputs of the kind {quoted(kind)}"
        )
    return cast(InputMessage, _decode(kind, token, fields, _version(record)))


def _check_tokens(source: str, type_: str) -> None:
    for what, token in (("source", source), ("type", type_)):
        if not subjects.is_token(token):
            raise _RefusedError(
                "bad_subject",
                f"{what} {quoted(token)} is not 1 to 64 of A-Z a-z 0-9 _ -",
            )


def _fields(record: Record) -> dict[str, Any]:
    """Return the fields of an input's body; bare text counts as an event's text."""
    body = record.body
    if len(body) > BODY_LIMIT:
        raise _RefusedError(
            "too_large", f"{len(body)} bytes, the limit is {BODY_LIMIT}"
        )
    # The size is checked first: a body that is too large is never decoded.
    text = _utf8(body).strip()
    if not text:
        raise _RefusedError("empty", "the message has no body")
    # A sensor that declares JSON hears of a mistake in it; any other may send bare text.
    is_text = not text.startswith("{")
    if is_text and "json" not in record.headers.get("content-type", ""):
        return {"text": normalized(text)}
    try:
        fields = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        fields = payload.without_numbers(text)
        if fields is None:
            raise _RefusedError("not_json", f"the body is no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise _RefusedError(
            "not_an_object", f"the body is a JSON {type(fields).__name__}, no object"
        )
    # There are at least as many brackets as levels: counting them is cheap and spares all
    # but a few bodies the walk.
    brackets = text.count("[") + text.count("{")
    if brackets > NESTING_LIMIT and depth(fields) > NESTING_LIMIT:
        raise _RefusedError("invalid", f"nested deeper than {NESTING_LIMIT} levels")
    # Whatever is compared later is compared in one form. ASCII, escapes apart, has it.
    is_plain = text.isascii() and "\\u" not in text
    return fields if is_plain else cast(dict[str, Any], all_normalized(fields))


def _is_bare(record: Record) -> bool:
    """Tell whether a body that was read is text and no object."""
    return not record.body.lstrip().startswith(b"{")


def depth(value: object) -> int:
    """Return how deep objects and lists are nested in a JSON value.

    Level by level and not recursively: a body could exhaust the stack.
    """
    levels, level = 0, [value]
    while level:
        nested = [each for each in level if isinstance(each, dict | list)]
        levels += bool(nested)
        level = [
            inner
            for each in nested
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return levels


def _utf8(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise _RefusedError("not_utf8", f"the body is no UTF-8: {error}") from error


def _version(record: Record) -> int:
    return _version_of(record.headers.get("ce-schemaversion", "1"))


# A log has one or two versions. What raises is not kept.
@lru_cache(maxsize=64)
def _version_of(text: str) -> int:
    if not _VERSION.fullmatch(text):
        raise _RefusedError(
            "invalid", f"ce-schemaversion {quoted(text[:50])} is no version"
        )
    return int(text)


def _decode(kind: str, token: str, fields: dict[str, Any], version: int) -> Message:
    model = message_type(kind, token)
    if model is None:
        raise _RefusedError(
            "unknown_type", f"there is no {kind} message {quoted(token)}"
        )
    try:
        return model.from_fields(upcast(token, fields, version, model.version))
    except NewerVersionError as error:
        raise _RefusedError("unknown_type", str(error)) from error
    except ValidationError as error:
        more = f" (and {rest} more)" if (rest := error.error_count() - 1) else ""
        detail = first_fault(error, "the message") + more
        raise _RefusedError("invalid", detail) from error
