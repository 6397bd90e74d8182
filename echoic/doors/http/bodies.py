"""Bodies of requests: read within limits, and understood as events, plain or CloudEvents."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import NAMESPACE_URL, uuid5

import orjson
from fastapi import Header, Request
from starlette.requests import ClientDisconnect

from echoic.doors.http import cloud_events
from echoic.doors.http.problems import ProblemError
from echoic.doors.http.tokens import AccessToken
from schemas.codec.decode import NESTING_LIMIT, depth

BODY_BYTES = 1_048_576
_SMALL_BYTES = 65_536
"""Of a body that is no list of events; a message to the broker has no more."""
_BODY_S = 10.0
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

_Fields = Mapping[str, Any]

_CLOSE = {"Connection": "close"}
"""What is left of a body is not waited for."""


async def read(
    request: Request, *accepted: str, most_bytes: int = BODY_BYTES
) -> tuple[str, Any]:
    """Return a body's media type, without parameters, and what its JSON says.

    Raises:
        ProblemError: it is of another type, too large, too slow or no JSON.
    """
    kind = _media_type(request)
    if kind not in accepted:
        raise ProblemError(
            415, "media_type", f"{kind!r} is not read here: {', '.join(accepted)}"
        )
    return kind, _parsed(await _read_bytes(request, most_bytes))


def _media_type(request: Request) -> str:
    """Return the media type of a body, without parameters; JSON if none is named."""
    named = request.headers.get("content-type", PLAIN)
    return named.partition(";")[0].strip().lower()


async def _read_bytes(request: Request, most_bytes: int = BODY_BYTES) -> bytes:
    """Return a body.

    Raises:
        ProblemError: it is too large or too slow.
    """
    try:
        async with asyncio.timeout(_BODY_S):
            return await _limited(request, most_bytes)
    except TimeoutError:
        late = f"the body did not come within {_BODY_S:g} s"
        raise ProblemError(408, "too_slow", late, headers=_CLOSE) from None
    except ClientDisconnect:
        # Nobody hears it; raised on, it would be in the log with all that led to it.
        raise ProblemError(400, "incomplete", "the body has no end") from None


def _parsed(body: bytes) -> Any:
    """Return what the JSON of a body says.

    Raises:
        ProblemError: it is no JSON, or nests too deep.
    """
    try:
        told = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ProblemError(400, "not_json", f"the body is no JSON: {error}") from error
    # As the mind would, counted at once for all events of a list.
    brackets = body.count(b"[") + body.count(b"{")
    if brackets > NESTING_LIMIT and depth(told) > NESTING_LIMIT:
        detail = f"nested deeper than {NESTING_LIMIT} levels"
        raise ProblemError(400, "too_deep", detail)
    return told


async def read_object(request: Request) -> _Fields:
    """Return the fields of a body that is one JSON object.

    Raises:
        ProblemError: as `read`, or it is something else.
    """
    _, body = await read(request, PLAIN, most_bytes=_SMALL_BYTES)
    if not isinstance(body, dict):
        raise ProblemError(400, "not_an_object", "the body must be a JSON object")
    return body


async def read_events(request: Request) -> Sequence[object]:
    """Return the events of a body, each in the fields of a plain one.

    Raises:
        ProblemError: as `read`, or there are none, or too many.
    """
    # By the binding the media type decides, also where headers are there as well.
    is_structured = _media_type(request) in (CLOUD, CLOUD_BATCH)
    if cloud_events.is_binary(request.headers) and not is_structured:
        return [await _binary(request)]
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
    return [
        cloud_events.plain(each) if isinstance(each, dict) else each for each in events
    ]


async def _binary(request: Request) -> _Fields:
    """Return the event of a request whose headers say what it is, and whose body is its data.

    Raises:
        ProblemError: its data is neither JSON nor text, or as `_read_bytes`.
    """
    kind, body = _media_type(request), await _read_bytes(request, _SMALL_BYTES)
    data: object = None
    if kind == PLAIN or kind.endswith("+json"):
        data = _parsed(body) if body.strip() else None
    elif kind.startswith("text/"):
        data = cloud_events.text_of(body)
    else:
        detail = f"{kind!r} is no data of an event: JSON, or text of UTF-8"
        raise ProblemError(415, "media_type", detail)
    return cloud_events.plain(
        {**cloud_events.attributes(request.headers), "data": data}
    )


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
