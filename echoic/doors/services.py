"""The NATS services of an instance: feedback, controls and queries, by request and reply.

Feedback and controls are checked, appended as inputs like any other, and replied to when
the mind has answered. The subjects are `svc.<agent>.feedback`, `.control`, `.state`,
`.personality`, `.output`, `.heuristics` and `.process`; the agent `_` stands for all agents
of the log.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import orjson
from faststream.nats import NatsBroker, NatsMessage
from msgspec import structs

from echoic.client.publish import TalkingLog, submit
from schemas.codec.decode import read_input
from schemas.codec.envelope import Input, NotBuilt, Output, Unreadable
from schemas.messages.controls import MindStarted
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied, FeedbackRefused
from schemas.messages.notes import ControlApplied, ControlRefused, Quarantined
from schemas.values import subjects
from schemas.values.base import InputKind
from schemas.values.record import Record
from streams.errors import StreamsError, Unanswered

Reply = dict[str, Any]
StateView = Callable[[str], Awaitable[Mapping[str, Any] | None]]
"""Returns an agent's state as fields for JSON; None if it is not known here."""
Call = Callable[[str, Mapping[str, Any]], Awaitable[Reply]]
"""Returns the reply to a call, from its agent and fields."""
Handler = Callable[[NatsMessage], Awaitable[Reply]]

# A queue group: of several instances on one broker only one gets each call.
QUEUE = "echoic-services"
ANSWER_S = 5.0
"""Seconds that a caller waits for the mind; an appended input is answered in any case."""

PROCESSED_AT_ONCE = 16
"""Callers that may wait for decisions at once, as each may wait for a model."""

_SOURCE = "/echoic/services"
_log = logging.getLogger(__name__)


class _RefusedError(Exception):
    """A call is refused before it is appended; `reason` is for programs."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Services:
    """The handlers of calls."""

    log: TalkingLog
    state: StateView
    heuristics: Call
    process: Call
    personality: Call
    output: Call
    answer_s: float = ANSWER_S

    async def submit(self, message: NatsMessage, kind: InputKind) -> Reply:
        """Append a call's body as an input of `kind`; return the mind's answer."""
        try:
            replies = [await self._submit(each) for each in _inputs(message, kind)]
        except _RefusedError as refused:
            return refusal(refused.reason, str(refused))
        except StreamsError as error:
            return _unavailable(message, error)
        # A shared control goes to every partition; a refusal by any of them is the reply.
        return next((each for each in replies if _is_refusal(each)), replies[-1])

    async def look(self, message: NatsMessage) -> Reply:
        """Return the agent's state."""
        agent = _agent(message)
        try:
            seen = await self.state(agent)
        except StreamsError as error:
            return _unavailable(message, error)
        if seen is None:
            return refusal("unknown_agent", f"nothing is known of {agent!r} here")
        return {"accepted": True, "state": dict(seen)}

    async def call(self, message: NatsMessage, work: Call) -> Reply:
        """Return the reply that `work` makes from the agent and the fields of a call."""
        try:
            return await work(_agent(message), _fields(message.body))
        except _RefusedError as refused:
            return refusal(refused.reason, str(refused))
        except StreamsError as error:
            return _unavailable(message, error)

    async def _submit(self, given: Input) -> Reply:
        assert not isinstance(given.message, Unreadable | NotBuilt)
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
        sequence = outputs[0].mark.cause_sequence
        return {"accepted": True, "sequence": sequence, "answer": _answer(outputs)}


def subscribe(broker: NatsBroker, services: Services) -> None:
    """Subscribe the services to their subjects on `broker`."""

    def serve(
        name: str, meaning: str, reply: Handler, at_once: int | None = None
    ) -> None:
        @broker.subscriber(
            f"svc.*.{name}",
            queue=QUEUE,
            max_workers=at_once,
            title=name,
            description=meaning,
        )
        async def on_call(message: NatsMessage) -> Reply:
            return await reply(message)

    serve(
        "feedback",
        "Judge a decision or a heuristic: the fields of FeedbackGiven.",
        lambda message: services.submit(message, "feedback"),
    )
    serve(
        "control",
        "Change how the mind behaves: `control` names it, then its fields.",
        lambda message: services.submit(message, "control"),
    )
    serve("state", "Look at what is known of an agent.", services.look)
    serve(
        "heuristics",
        "The heuristics of an agent: all, one by id, or those like an event.",
        lambda message: services.call(message, services.heuristics),
    )
    serve(
        "personality",
        "The traits in force, and what moves them.",
        lambda message: services.call(message, services.personality),
    )
    serve(
        "output",
        "What is being spoken, what is to be, and what was cut off.",
        lambda message: services.call(message, services.output),
    )
    serve(
        "process",
        "Decide on an event, and reply the decision once it is final.",
        lambda message: services.call(message, services.process),
        PROCESSED_AT_ONCE,
    )


def _inputs(message: NatsMessage, kind: InputKind) -> list[Input]:
    """Return the inputs that a call becomes: one, or one for each partition if shared.

    Raises:
        _RefusedError: it has no meaning.
    """
    agent = _agent(message)
    is_shared = agent == subjects.SHARED_AGENT
    if not subjects.is_token(agent):
        raise _RefusedError("bad_subject", f"{agent!r} cannot name an agent")
    partitions = (
        range(subjects.PARTITIONS) if is_shared else (subjects.partition_of(agent),)
    )
    detail = "feedback_given" if kind == "feedback" else _control(message.body)
    # The caller's id makes a repeated call a duplicate, which the log drops.
    id_ = message.headers.get("ce-id") or str(uuid4())
    return [
        _readable(subjects.input_subject(each, agent, kind, detail), id_, message.body)
        for each in partitions
    ]


def _readable(subject: str, id_: str, body: bytes) -> Input:
    headers = {"ce-id": id_, "content-type": "application/json"}
    # Read as the worker will read it, so a faulty call is refused before it is in the log.
    given = read_input(Record(subject, headers, body, 0, 0))
    match given.message:
        case Unreadable(reason=reason, detail=detail):
            raise _RefusedError(reason, detail)
        case NotBuilt(control=control):
            raise _RefusedError("not_built", f"{control!r} is not built yet")
        case FeedbackGiven() as vote:
            # `about` is filled from the log alone; a caller must not make it up.
            return structs.replace(
                given, message=vote.model_copy(update={"about": None})
            )
        case MindStarted():
            raise _RefusedError("reserved", "only a worker says that a mind started")
        case _:
            return given


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


def _agent(message: NatsMessage) -> str:
    return message.raw_message.subject.split(".")[1]


def _answer(outputs: Sequence[Output]) -> Reply:
    """Return the output that answers the call, skipping timers in the same group."""
    for output in outputs:
        token = subjects.parse(output.record.subject).detail
        if token in _ANSWERS:
            return {"type": token, **orjson.loads(output.record.body)}
    raise AssertionError("a call is answered by its kind's own answers alone")


def _unavailable(message: NatsMessage, error: StreamsError) -> Reply:
    _log.warning("a call on %s failed: %s", message.raw_message.subject, error)
    return refusal("log_unavailable", str(error))


def refusal(reason: str, detail: str) -> Reply:
    """Make the reply to a refused call."""
    return {"accepted": False, "error": {"reason": reason, "detail": detail}}


def _is_refusal(reply: Reply) -> bool:
    return reply.get("answer", {}).get("type") in _REFUSALS


_REFUSALS = (FeedbackRefused.token, ControlRefused.token, Quarantined.token)
_ANSWERS = (FeedbackApplied.token, ControlApplied.token, *_REFUSALS)
