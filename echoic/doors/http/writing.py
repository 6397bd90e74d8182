"""What clients send: events, votes and outcomes. Each counts once, however often it is sent."""

from collections.abc import Mapping
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

from echoic.client import publish
from echoic.client.admission import EVENT_BYTES, OverDayError
from echoic.doors.events import UnfitError, event_of
from echoic.doors.http import bodies, description
from echoic.doors.http.door import Door, allowed, door_of, own_agent
from echoic.doors.http.problems import STATUS, ProblemError, of_refusal
from echoic.doors.http.tokens import AccessToken
from echoic.doors.requests import EventToSense
from echoic.doors.services import over_day, refusal
from schemas.messages.sensing import Sensed
from schemas.values.persons import token_of
from schemas.values.reasons import reported
from streams.errors import LogFull, StreamsError
from streams.jetstream.connection import request as asked

_TRACE_BYTES = 513
"""A trace's header has fewer; a larger one could make the event too large for the broker."""

router = APIRouter(prefix="/v1", tags=["writing"])

Fields = dict[str, Any]
_Here = Annotated[Door, Depends(door_of)]


class Kept(BaseModel):
    """What became of one event."""

    accepted: bool
    event_id: str | None = None
    sequence: int | None = None
    """In the stream that takes events in."""
    error: Fields | None = None
    """Why it is refused: `reason`, `detail`, and wrong `fields`."""


class KeptEvents(BaseModel):
    """What became of each event of a request, in its order."""

    accepted: int
    refused: int
    events: list[Kept]


class Answered(BaseModel):
    """A vote is in the log, and counted or refused by the mind."""

    accepted: bool
    sequence: int | None = None
    answer: Fields | None = None
    note: str | None = None
    """Why there is no answer yet."""


@router.post(
    "/events",
    status_code=202,
    openapi_extra=description.EVENTS,
    responses={207: {"model": KeptEvents, "description": "Some are refused"}},
)
async def post_events(
    request: Request,
    response: Response,
    token: Annotated[AccessToken, Depends(allowed("events"))],
    door: _Here,
    key: bodies.Key = None,
) -> KeptEvents:
    """Publish one event or a batch; each is acknowledged once its intake stream has it.

    A wrong event is refused by name and stops no other. With an `Idempotency-Key` a request
    may be sent again until it is acknowledged: its events count once.
    """
    told = await bodies.read_events(request)
    door.limits.take(token, len(told) - 1)
    kept = []
    for place, each in enumerate(told):
        own = bodies.own_id(token, key, place)
        kept.append(await _publish(door, token, each, own, request))
    refused = [each.error for each in kept if each.error is not None]
    if len(refused) == len(kept) == 1 or any(map(_is_ours, refused)):
        # What the log cannot take now may be sent again as it is.
        first = next(filter(_is_ours, refused), refused[0])
        raise of_refusal(first)
    if refused:
        response.status_code = 207
    return KeptEvents(
        accepted=len(kept) - len(refused), refused=len(refused), events=kept
    )


@router.post("/feedback", openapi_extra=description.VOTE)
async def post_feedback(
    request: Request,
    token: Annotated[AccessToken, Depends(allowed("feedback"))],
    door: _Here,
    key: bodies.Key = None,
) -> Answered:
    """Vote on a decision or a heuristic; the reply is what the mind makes of it."""
    body = dict(await bodies.read_object(request))
    agent = _agent(token, body.pop("agent", None))
    _claim(token, body, "actor")
    id_ = bodies.own_id(token, key) or publish.new_event_id()
    subject, own = f"svc.{agent}.feedback", {"ce-id": id_}
    try:
        reply = orjson.loads(
            (await asked(door.connection.client, subject, orjson.dumps(body), own)).data
        )
    except StreamsError as error:
        raise ProblemError(503, "log_unavailable", str(error)) from error
    if "error" in reply:
        raise of_refusal(reply["error"])
    return Answered.model_validate(reply)


@router.post("/outcomes", status_code=202, openapi_extra=description.OUTCOME)
async def post_outcome(
    request: Request,
    token: Annotated[AccessToken, Depends(allowed("outcomes"))],
    door: _Here,
    key: bodies.Key = None,
) -> Kept:
    """Report how it turned out what a decision advised."""
    body = dict(await bodies.read_object(request))
    decision, outcome = body.pop("decision_id", None), body.get("outcome")
    # With another type, or without an outcome, it would be an event, which is another scope.
    known = isinstance(decision, str) and isinstance(outcome, str)
    if not known or {"type", "in_reply_to"} & body.keys():
        raise ProblemError(
            400, "invalid", "an outcome has a decision_id and an outcome, and no type"
        )
    report = {
        "text": f"That {reported(outcome)}.",
        **body,
        "type": "outcome",
        "in_reply_to": decision,
    }
    own = bodies.own_id(token, key)
    kept = await _publish(door, token, report, own, request, is_report=True)
    if kept.error is not None:
        raise of_refusal(kept.error)
    return kept


async def _publish(
    door: Door,
    token: AccessToken,
    told: object,
    own_id: str | None,
    request: Request,
    *,
    is_report: bool = False,
) -> Kept:
    """Publish one event, and return what became of it."""
    try:
        agent, event_id, event = _event(token, told, is_report=is_report)
    except UnfitError as unfit:
        return Kept(accepted=False, error=unfit.reply["error"])
    except ProblemError as error:
        problem = error.problem
        why = {"reason": problem.reason, "detail": problem.detail}
        return Kept(accepted=False, error=why)
    id_ = event_id or own_id or publish.new_event_id()
    trace = {
        name: value
        for name in ("traceparent", "tracestate")
        if len(value := request.headers.get(name, "")) in range(1, _TRACE_BYTES)
    }
    client, sender = door.connection.client, f"token {token.name}"
    try:
        done = await publish.publish(
            client, agent, event, event_id=id_, headers=trace, sender=sender
        )
    except OverDayError as over:
        return Kept(accepted=False, event_id=id_, error=over_day(over)["error"])
    except StreamsError as error:
        reason = "log_full" if isinstance(error, LogFull) else "log_unavailable"
        error_ = refusal(reason, str(error))["error"]
        return Kept(accepted=False, event_id=id_, error=error_)
    return Kept(accepted=True, event_id=id_, sequence=done["seq"])


def _event(
    token: AccessToken, told: object, *, is_report: bool
) -> tuple[str, str | None, Sensed]:
    """Return whose event it is, the id that the client gave it, and the event.

    Raises:
        UnfitError: it is none, or too large.
        ProblemError: it is not one that the token may send.
    """
    if not isinstance(told, dict):
        raise UnfitError(refusal("not_an_object", "an event is a JSON object"))
    body = dict(told)
    agent = _agent(token, body.pop("agent", None))
    _claim(token, body, "person")
    _check_source(token, body, or_name=is_report)
    given = body.get("event_id")
    # Before it is read: a long list of faults is as costly as a long event.
    if (size := len(orjson.dumps(body))) > 2 * EVENT_BYTES:
        detail = f"an event has at most {EVENT_BYTES:,} bytes, not {size:,}"
        raise UnfitError(refusal("too_large", detail))
    _, event = event_of(agent, EventToSense, body)
    return agent, given, event


def _check_source(token: AccessToken, body: Fields, *, or_name: bool) -> None:
    """Fill in the source, and refuse one that is not the token's, or another's outcome.

    Raises:
        ProblemError: the token does not allow it.
    """
    sources = token.sources or ((token.name,) if or_name else ())
    if sources:
        body.setdefault("source", sources[0])
    if body.get("source") not in sources:
        known = ", ".join(sources) or "none"
        raise ProblemError(
            403, "not_allowed", f"the token {token.name!r} has the sources: {known}"
        )
    if body.get("outcome") is not None and "outcomes" not in token.scopes:
        raise ProblemError(
            403, "not_allowed", f"the token {token.name!r} has no scope 'outcomes'"
        )


def _agent(token: AccessToken, told: object) -> str:
    return own_agent(token, token.agent if told is None else str(told))


def _claim(token: AccessToken, body: Fields, name: str) -> None:
    """Have a body name the token's person.

    Raises:
        ProblemError: it names another.
    """
    if token.person is not None:
        body.setdefault(name, token.person)
    elif name == "actor":
        # A vote without a person is the token's, so that nobody votes as somebody else.
        body.setdefault(name, token.name)
    expected = token.person or (token.name if name == "actor" else None)
    if _named(body.get(name)) != _named(expected):
        raise ProblemError(
            403,
            "not_allowed",
            f"the token {token.name!r} may not speak as {name} {str(body[name])[:64]!r}",
        )


def _named(value: Any) -> Any:
    """Return whom a body names: a person of any script by the token."""
    try:
        return token_of(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _is_ours(error: Mapping[str, Any]) -> bool:
    """Say whether a refusal is no fault of the request."""
    return STATUS.get(error["reason"], 400) >= 500
