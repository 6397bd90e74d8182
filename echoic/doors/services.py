"""The NATS services of an instance: what is called by request and reply, and its answer.

Feedback and controls are checked, appended as inputs like any other, and replied to when
the mind has answered. `calls.py` lists the subjects; the agent `_` stands for all agents
of the log.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any
from uuid import uuid4

import orjson
from msgspec import structs
from msgspec.structs import replace
from nats.micro.request import Request
from pydantic import ValidationError

from echoic.client.admission import OverDayError
from echoic.client.publish import TalkingLog, submit
from echoic.doors.calls import Service
from echoic.doors.requests import (
    InvalidRequestError,
    Nothing,
    check_meant,
    faults_of,
    read,
)
from handlers.mind.flows.initiate import REQUEST
from schemas.codec.catalogue import message_type
from schemas.codec.decode import read_input
from schemas.codec.envelope import Input, Output, Unreadable
from schemas.messages.controls import Control, MindStarted
from schemas.messages.decisions import Decided
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied, FeedbackRefused
from schemas.messages.notes import ControlApplied, ControlRefused, Quarantined
from schemas.values import subjects
from schemas.values.record import Record
from schemas.values.struct_models import model_of, validated
from streams.errors import StreamsError, Unanswered

Reply = dict[str, Any]
_StateView = Callable[[str], Awaitable[Mapping[str, Any] | None]]
"""Returns an agent's state as fields for JSON; None if it is not known here."""
Call = Callable[[str, Mapping[str, Any]], Awaitable[Reply]]
"""Returns the reply to a call, from its agent and fields."""

_ANSWER_S = 5.0
"""Seconds that a caller waits for the mind; an appended input is answered in any case."""

_SOURCE = "/echoic/services"
_log = logging.getLogger(__name__)


class _RefusedError(Exception):
    """A call is refused before it is appended; `reply` says why."""

    def __init__(self, reason: str, detail: str, reply: Reply | None = None) -> None:
        super().__init__(detail)
        self.reply = reply or refusal(reason, detail)


@dataclass(frozen=True, slots=True)
class Services:
    """The handlers of calls."""

    log: TalkingLog
    state: _StateView
    calls: Mapping[str, Call]
    """Those that do not become inputs at once, by the names of their services."""
    answer_s: float = _ANSWER_S

    async def reply(self, service: Service, request: Request) -> Reply:
        """Return the reply to a call of a service."""
        agent = request.subject.split(".")[1]
        try:
            if service.name == "state":
                return await self._state(agent, _fields(request.data))
            call = self.calls.get(service.name)
            if call is not None:
                return await call(agent, _identified(service, request))
            inputs = _inputs(service, agent, request)
            replies = [await self._submit(each) for each in inputs]
        except _RefusedError as refused:
            return refused.reply
        except InvalidRequestError as error:
            return invalid(error)
        except OverDayError as over:
            return over_day(over)
        except StreamsError as error:
            _log.warning("a call on %s failed: %s", request.subject, error)
            return refusal("log_unavailable", str(error))
        # A shared control goes to every partition; a refusal by any of them is the reply.
        return next((each for each in replies if not each["accepted"]), replies[-1])

    async def _state(self, agent: str, body: Mapping[str, Any]) -> Reply:
        read(Nothing, body)
        seen = await self.state(agent)
        if seen is None:
            return refusal("unknown_agent", f"nothing is known of {agent!r} here")
        return {"accepted": True, "state": dict(seen)}

    async def _submit(self, given: Input) -> Reply:
        assert not isinstance(given.message, Unreadable)
        try:
            outputs = await submit(
                self.log,
                given.agent,
                given.message,
                partition=given.partition,
                id_=given.id,
                source=_SOURCE,
                timeout_s=self.answer_s,
            )
        except Unanswered as error:
            # It is in the log and will be answered, so the caller must not send it again.
            return {"accepted": True, "sequence": error.sequence, "note": str(error)}
        return _answered(outputs)


def _inputs(service: Service, agent: str, request: Request) -> list[Input]:
    """Return the inputs that a call becomes: one, or one for each partition if shared.

    Raises:
        _RefusedError: it has no meaning.
    """
    body, is_shared = request.data, agent == subjects.SHARED_AGENT
    if not subjects.is_token(agent):
        raise _RefusedError("bad_subject", f"{agent!r} cannot name an agent")
    partitions = (
        range(subjects.PARTITIONS) if is_shared else (subjects.partition_of(agent),)
    )
    is_vote = service.request is FeedbackGiven
    kind = "feedback" if is_vote else "control"
    token = FeedbackGiven.token if is_vote else service.control or _control(body)
    # The caller's id makes a repeated call a duplicate, which the log drops.
    id_ = (request.headers or {}).get("ce-id") or str(uuid4())
    return [
        _readable(subjects.input_subject(each, agent, kind, token), id_, body)
        for each in partitions
    ]


def _readable(subject: str, id_: str, body: bytes) -> Input:
    headers = {"ce-id": id_, "content-type": "application/json"}
    # Read as the worker will read it, so a faulty call is refused before it is in the log.
    given = read_input(Record(subject, headers, body, 0, 0))
    match given.message:
        case Unreadable(reason=reason, detail=detail):
            raise _RefusedError(reason, detail, _wrong_fields(subject, body))
        case MindStarted():
            raise _RefusedError("reserved", "only a worker says that a mind started")
        case Control() | FeedbackGiven() as meant:
            said = orjson.loads(body)
            # It named the control to the service of that name.
            said.pop("control", None)
            check_meant(said, meant)
        case _:
            raise AssertionError("the subject is that of a control or of a vote")
    if not isinstance(meant, FeedbackGiven):
        return given
    # `about` is filled from the log alone; a caller must not make it up.
    return structs.replace(given, message=replace(meant, about=None))


def _wrong_fields(subject: str, body: bytes) -> Reply | None:
    """Return the refusal that names every wrong field of a body; None if none is."""
    *_, kind, token = subject.split(".")
    model = message_type(kind, token)
    try:
        fields = orjson.loads(body)
        if model is not None and isinstance(fields, dict):
            validated(model, fields)
    except orjson.JSONDecodeError:
        return None
    except ValidationError as error:
        return invalid(InvalidRequestError(faults_of(error)))
    return None


def _fields(body: bytes) -> Mapping[str, Any]:
    """Return the fields of a call's body; an empty body has none.

    Raises:
        _RefusedError: it is no JSON object.
    """
    try:
        fields = orjson.loads(body) if body.strip() else {}
    except orjson.JSONDecodeError as error:
        raise _RefusedError("not_json", str(error)) from error
    # `null` counts as an empty body.
    if not isinstance(fields, dict | None):
        raise _RefusedError("not_an_object", "the body must be a JSON object")
    return fields or {}


def _identified(service: Service, request: Request) -> Mapping[str, Any]:
    """Return a call's fields, with the caller's id of an event if only a header has it."""
    fields, id_ = _fields(request.data), (request.headers or {}).get("ce-id")
    is_event = service.request and "event_id" in model_of(service.request).model_fields
    return {"event_id": id_, **fields} if is_event and id_ else fields


def _control(body: bytes) -> str:
    """Return the control that a body names; "" if it is unreadable, refused later.

    Raises:
        _RefusedError: it names none.
    """
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    if not isinstance(fields, dict):
        return ""
    if not (control := fields.get("control")):
        raise _RefusedError(
            "unknown_type",
            'the body names no control: add one, as "control": "goals_set"',
        )
    return str(control)


def _answered(outputs: Sequence[Output]) -> Reply:
    """Return the reply to an input that the mind answered by a group."""
    answer = _answer(outputs)
    reply: Reply = {"sequence": outputs[0].mark.cause_sequence, "answer": answer}
    if answer.get("reason") == "duplicate":
        # It was applied when it came first: a call may be sent again until it is answered.
        return reply | {"accepted": True, "note": answer["detail"]}
    if answer["type"] in _REFUSALS:
        return reply | refusal(answer["reason"], answer["detail"])
    return reply | {"accepted": True} | _said(outputs)


def _said(outputs: Sequence[Output]) -> Reply:
    """Return what became of words that the call wanted said; nothing of other calls."""
    for output in outputs:
        made = output.message
        if isinstance(made, Decided) and made.type == REQUEST:
            told = {"path": made.path, "final": made.final, "silence": made.silence}
            return {"decision": {"response_id": output.id, **told}}
    return {}


def _answer(outputs: Sequence[Output]) -> Reply:
    """Return the output that answers the call, skipping timers in the same group."""
    for output in outputs:
        token = subjects.parse(output.record.subject).detail
        if token in _ANSWERS:
            return {"type": token, **orjson.loads(output.record.body)}
    raise AssertionError("a call is answered by its kind's own answers alone")


def refusal(reason: str, detail: str) -> Reply:
    """Make the reply to a refused call."""
    return {"accepted": False, "error": {"reason": reason, "detail": detail}}


def over_day(over: OverDayError) -> Reply:
    """Make the reply to a call whose sender has used up its bytes of the day."""
    reply = refusal("over_day", over.what)
    reply["error"]["wait_s"] = ceil(over.wait_s)
    return reply


def invalid(error: InvalidRequestError) -> Reply:
    """Make the reply to a call with wrong fields, each of which it names."""
    reply = refusal("invalid", str(error))
    reply["error"]["fields"] = error.fields
    return reply


_REFUSALS = (FeedbackRefused.token, ControlRefused.token, Quarantined.token)
_ANSWERS = (FeedbackApplied.token, ControlApplied.token, *_REFUSALS)
