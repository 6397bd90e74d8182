"""What people call: feedback, controls and a look at the state, by request and reply.

A call is checked, appended as an input like any other, and answered when the mind has
answered it. `svc.<agent>.feedback`, `.control`, `.state`, `.heuristics` and `.process`; the
agent `_` stands for what every agent of the log shares.
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
from schemas.values.reasons import InputKind
from schemas.values.record import Record
from streams.errors import StreamsError, Unanswered

Reply = dict[str, Any]
StateView = Callable[[str], Awaitable[Mapping[str, Any] | None]]
"""What is known of an agent, as JSON; None if nothing is known here."""
Call = Callable[[str, Mapping[str, Any]], Awaitable[Reply]]
"""What an agent and the fields of a call come to."""

QUEUE = "echoic-services"
ANSWER_S = 5.0
"""How long a caller waits for the mind; what was appended is answered in any case."""

PROCESSED_AT_ONCE = 16
"""How many callers may wait for decisions; others wait for their turn."""

_SOURCE = "/echoic/services"
_log = logging.getLogger(__name__)


class _RefusedError(Exception):
    """Carries the reason why a call was not appended."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Services:
    """What calls are served with."""

    log: TalkingLog
    state: StateView
    heuristics: Call
    process: Call
    answer_s: float = ANSWER_S

    async def submit(self, message: NatsMessage, kind: InputKind) -> Reply:
        """Append a call's body as an input of `kind`, and reply what it came to."""
        try:
            replies = [await self._submit(each) for each in _inputs(message, kind)]
        except _RefusedError as refused:
            return refusal(refused.reason, str(refused))
        except StreamsError as error:
            return _unavailable(message, error)
        # One control for every partition: a refusal anywhere is what to hear of.
        return next((each for each in replies if _is_refusal(each)), replies[-1])

    async def look(self, message: NatsMessage) -> Reply:
        """Reply what is known of the agent."""
        agent = _agent(message)
        try:
            seen = await self.state(agent)
        except StreamsError as error:
            return _unavailable(message, error)
        if seen is None:
            return refusal("unknown_agent", f"nothing is known of {agent!r} here")
        return {"accepted": True, "state": dict(seen)}

    async def call(self, message: NatsMessage, work: Call) -> Reply:
        """Reply what `work` makes of the agent and the fields of a call."""
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
            return {"accepted": True, "sequence": error.sequence, "note": str(error)}
        sequence = outputs[0].mark.cause_sequence
        return {"accepted": True, "sequence": sequence, "answer": _answer(outputs)}


def subscribe(broker: NatsBroker, services: Services) -> None:
    """Serve calls that come in through `broker`."""

    @broker.subscriber(
        "svc.*.feedback",
        queue=QUEUE,
        title="feedback",
        description="Judge a decision or a heuristic: the fields of FeedbackGiven.",
    )
    async def on_feedback(message: NatsMessage) -> Reply:
        return await services.submit(message, "feedback")

    @broker.subscriber(
        "svc.*.control",
        queue=QUEUE,
        title="control",
        description="Change how the mind behaves: `control` names it, then its fields.",
    )
    async def on_control(message: NatsMessage) -> Reply:
        return await services.submit(message, "control")

    @broker.subscriber(
        "svc.*.state",
        queue=QUEUE,
        title="state",
        description="Look at what is known of an agent.",
    )
    async def on_state(message: NatsMessage) -> Reply:
        return await services.look(message)

    @broker.subscriber(
        "svc.*.heuristics",
        queue=QUEUE,
        title="heuristics",
        description="The heuristics of an agent: all, one by id, or those like an event.",
    )
    async def on_heuristics(message: NatsMessage) -> Reply:
        return await services.call(message, services.heuristics)

    @broker.subscriber(
        "svc.*.process",
        queue=QUEUE,
        max_workers=PROCESSED_AT_ONCE,
        title="process",
        description="Decide on an event, and reply the decision once it is final.",
    )
    async def on_process(message: NatsMessage) -> Reply:
        return await services.call(message, services.process)


def _inputs(message: NatsMessage, kind: InputKind) -> list[Input]:
    """Return the call as the inputs it is to become; one for each partition if it is shared.

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
    id_ = message.headers.get("ce-id") or str(uuid4())
    return [
        _readable(subjects.input_subject(each, agent, kind, detail), id_, message.body)
        for each in partitions
    ]


def _readable(subject: str, id_: str, body: bytes) -> Input:
    headers = {"ce-id": id_, "content-type": "application/json"}
    given = read_input(Record(subject, headers, body, 0, 0))
    match given.message:
        case Unreadable(reason=reason, detail=detail):
            raise _RefusedError(reason, detail)
        case NotBuilt(control=control):
            raise _RefusedError("not_built", f"{control!r} is not built yet")
        case FeedbackGiven() as vote:
            # What the log knows of a decision is not the caller's to say.
            return structs.replace(
                given, message=vote.model_copy(update={"about": None})
            )
        case MindStarted():
            raise _RefusedError("reserved", "only a worker says that a mind started")
        case _:
            return given


def _fields(body: bytes) -> Mapping[str, Any]:
    """Return what a call asks for; nothing in particular if its body is empty.

    Raises:
        _RefusedError: it is no JSON object.
    """
    try:
        fields = orjson.loads(body) if body.strip() else {}
    except orjson.JSONDecodeError as error:
        raise _RefusedError("not_json", str(error)) from error
    if not isinstance(fields, dict | None):
        raise _RefusedError("not_an_object", "the body must be a JSON object")
    return fields or {}


def _control(body: bytes) -> str:
    """Return which control a body names; a body that cannot be read is refused later."""
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    return str(fields.get("control", "")) if isinstance(fields, dict) else ""


def _agent(message: NatsMessage) -> str:
    return message.raw_message.subject.split(".")[1]


def _answer(outputs: Sequence[Output]) -> Reply:
    """Return the output that answers the call itself, timers of its group left out."""
    for output in outputs:
        token = subjects.parse(output.record.subject).detail
        if token in _ANSWERS:
            return {"type": token, **orjson.loads(output.record.body)}
    raise AssertionError("a call is answered by its kind's own answers alone")


def _unavailable(message: NatsMessage, error: StreamsError) -> Reply:
    _log.warning("a call on %s failed: %s", message.raw_message.subject, error)
    return refusal("log_unavailable", str(error))


def refusal(reason: str, detail: str) -> Reply:
    """Return the reply to a call that comes to nothing."""
    return {"accepted": False, "error": {"reason": reason, "detail": detail}}


def _is_refusal(reply: Reply) -> bool:
    return reply.get("answer", {}).get("type") in _REFUSALS


_REFUSALS = (FeedbackRefused.token, ControlRefused.token, Quarantined.token)
_ANSWERS = (FeedbackApplied.token, ControlApplied.token, *_REFUSALS)
