"""Heads of requests: refused if they are too large, or if two readers could differ on them."""

from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from echoic.doors.http.bodies import BODY_BYTES
from echoic.doors.http.problems import ProblemError, response

HEAD_BYTES = 16_384
HEADERS = 100

_ONCE = (
    b"authorization",
    b"content-length",
    b"content-type",
    b"host",
    b"idempotency-key",
    b"last-event-id",
    b"transfer-encoding",
)
"""What a proxy may read the last of, and we the first."""


class Heads:
    """Lets through what one head says in one way, and what is not too much."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a head that is refused, and pass on any other."""
        fault = _fault(scope) if scope["type"] == "http" else None
        if fault is None:
            await self._app(scope, receive, send)
        else:
            await response(fault)(scope, receive, send)


def _fault(scope: Scope) -> ProblemError | None:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    size = len(scope["raw_path"]) + len(scope["query_string"])
    size += sum(len(name) + len(value) for name, value in headers)
    if size > HEAD_BYTES or len(headers) > HEADERS:
        limit = f"a head has at most {HEAD_BYTES:,} bytes and {HEADERS} headers"
        return _refused(431, "too_large", limit)
    names = Counter(name for name, _ in headers)
    for name in _ONCE:
        if names[name] > 1:
            return _refused(400, "ambiguous", f"{name.decode()!r} is there twice")
    if names[b"content-length"] and names[b"transfer-encoding"]:
        return _refused(400, "ambiguous", "a body has one length: a sum or chunks")
    return _length_fault(headers)


def _length_fault(headers: list[tuple[bytes, bytes]]) -> ProblemError | None:
    length = next((value for name, value in headers if name == b"content-length"), b"")
    # h11 has checked that it is a number, of at most 20 digits.
    if length and int(length) > BODY_BYTES:
        limit = f"a body has at most {BODY_BYTES:,} bytes"
        return _refused(413, "too_large", limit)
    return None


def _refused(status: int, reason: str, detail: str) -> ProblemError:
    # What follows such a head is not read, so it must not be taken for another request.
    return ProblemError(status, reason, detail, headers={"Connection": "close"})
