"""Bodies of requests: read within limits, and understood as events, plain or CloudEvents."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import NAMESPACE_URL, uuid5

import orjson
from fastapi import Header, Request
from starlette.requests import ClientDisconnect

from echoic.doors.http.problems import ProblemError
from echoic.doors.http.tokens import AccessToken
from schemas.codec.decode import NESTING_LIMIT, depth

BODY_BYTES = 1_048_576
SMALL_BYTES = 65_536
"""Of a body that is no list of events; a message to the broker has no more."""
BODY_S = 10.0
"""Seconds that a client may take to send a body."""

MOST_EVENTS = 500
"""Events in one request."""

Key = Annotated[
    str | None, Header(alias="Idempotency-Key", min_length=1, max_length=255)
]
"""A client's own name of a request, by which a repeated one counts once."""

PLAIN = "application/json"
CLOUD = "application/cloudevents+json"
CLOUD_BATCH = "application/cloudevents-batch+json"

Fields = Mapping[str, Any]

_CLOSE = {"Connection": "close"}
"""What is left of a body is not waited for."""


async def read(
    request: Request, *accepted: str, most_bytes: int = BODY_BYTES
) -> tuple[str, Any]:
    """Return a body's media type, without parameters, and what its JSON says.

    Raises:
        ProblemError: it is of another type, too large, too slow or no JSON.
    """
    kind = request.headers.get("content-type", PLAIN).partition(";")[0].strip().lower()
    if kind not in accepted:
        raise ProblemError(
            415, "media_type", f"{kind!r} is not read here: {', '.join(accepted)}"
        )
    try:
        async with asyncio.timeout(BODY_S):
            body = await _limited(request, most_bytes)
    except TimeoutError:
        late = f"the body did not come within {BODY_S:g} s"
        raise ProblemError(408, "too_slow", late, headers=_CLOSE) from None
    except ClientDisconnect:
        # Nobody hears it; raised on, it would be in the log with all that led to it.
        raise ProblemError(400, "incomplete", "the body has no end") from None
    try:
        told = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ProblemError(400, "not_json", f"the body is no JSON: {error}") from error
    # As the mind would, counted at once for all events of a list.
    brackets = body.count(b"[") + body.count(b"{")
    if brackets > NESTING_LIMIT and depth(told) > NESTING_LIMIT:
        detail = f"nested deeper than {NESTING_LIMIT} levels"
        raise ProblemError(400, "too_deep", detail)
    return kind, told


async def read_object(request: Request) -> Fields:
    """Return the fields of a body that is one JSON object.

    Raises:
        ProblemError: as `read`, or it is something else.
    """
    _, body = await read(request, PLAIN, most_bytes=SMALL_BYTES)
    if not isinstance(body, dict):
        raise ProblemError(400, "not_an_object", "the body must be a JSON object")
    return body


async def read_events(request: Request) -> Sequence[object]:
    """Return the events of a body, each in the fields of a plain one.

    Raises:
        ProblemError: as `read`, or there are none, or too many.
    """
    kind, body = await read(request, PLAIN, CLOUD, CLOUD_BATCH)
    is_batch = isinstance(body, list)
    if kind != PLAIN and is_batch != (kind == CLOUD_BATCH):
        raise ProblemError(
            400, "not_a_batch", f"{CLOUD} is one event, {CLOUD_BATCH} a list of them"
        )
    events: list[object] = body if is_batch else [body]
    if not 1 <= len(events) <= MOST_EVENTS:
        raise ProblemError(
            413 if events else 400,
            "too_large" if events else "empty",
            f"a request has 1 to {MOST_EVENTS} events, not {len(events)}",
        )
    if kind == PLAIN:
        return events
    return [_of_cloud(each) if isinstance(each, dict) else each for each in events]


def own_id(token: AccessToken, key: str | None, place: int = 0) -> str | None:
    """Return the id that an `Idempotency-Key` gives an input of that place; None without.

    The same key of a token makes the same ids, and the mind takes no id twice.
    """
    return key and str(uuid5(NAMESPACE_URL, f"{token.name}/{place}/{key}"))


async def _limited(request: Request, most_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > most_bytes:
            detail = f"such a body has at most {most_bytes:,} bytes"
            raise ProblemError(413, "too_large", detail, headers=_CLOSE)
        parts.append(part)
    return b"".join(parts)


def _of_cloud(event: Fields) -> Fields:
    """Return a CloudEvent's fields as those of a plain event.

    `source` is a reference of which the last segment counts, and of a `type` in reversed
    domain order the last name; `data` is the text, or an event's fields.
    """
    told = event.get("data")
    fields = dict(told) if isinstance(told, dict) else {"text": told}
    read_as = {
        "event_id": event.get("id"),
        "agent": event.get("subject"),
        "source": _last(event.get("source"), "/"),
        "type": _last(event.get("type"), "."),
        "occurred_at": event.get("time"),
    }
    return fields | {
        name: value for name, value in read_as.items() if value is not None
    }


def _last(told: object, separator: str) -> object:
    return told.rpartition(separator)[2] if isinstance(told, str) else told
