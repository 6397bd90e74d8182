"""The door's server: uvicorn, with a guard before it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import uvicorn
from anyio import BrokenResourceError
from starlette.types import ASGIApp, Receive, Scope, Send

from echoic.doors.http.bodies import BODY_BYTES
from echoic.doors.http.guard import Guard, GuardedProtocol
from echoic.doors.http.problems import ProblemError, response

_GOODBYE_S = 5
_LOOK_S = 0.05


async def serve(
    app: ASGIApp,
    listen: tuple[str, int],
    guard: Guard,
    *,
    proxies: Sequence[str] = (),
    has_lifespan: bool = False,
    begun: Callable[[str], object],
) -> None:
    """Serve until interrupted or cancelled; `begun` is called with the address once it listens.

    Args:
        app: What answers.
        listen: Host and port; the port may be 0 for a free one.
        guard: What its connections may take, and the context of https.
        proxies: Addresses whose word counts on whom they bring.
        has_lifespan: Whether the application is told of its beginning and its end.
        begun: Takes the address as a URL.
    """
    config = uvicorn.Config(
        _Heads(Hangups(app)),
        *listen,
        http=partial(GuardedProtocol, guard),  # type: ignore[arg-type]
        # Besides: each would be a door of its own, without a guard.
        ws="none",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        # A client's faults are no news: it could fill the disk with them.
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GOODBYE_S,
        lifespan="on" if has_lifespan else "off",
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    # It tells nobody when it has begun to listen.
    while not server.started and not serving.done():  # noqa: ASYNC110
        await asyncio.sleep(_LOOK_S)
    if server.started:
        scheme = "http" if guard.context is None else "https"
        begun(f"{scheme}://{_bound(server)}")
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        # So that its sockets are closed.
        server.should_exit = True
        await serving
        raise


def _bound(server: uvicorn.Server) -> str:
    """Return the address that a server listens on; its port may have been left open."""
    bound = server.servers[0].sockets[0].getsockname()
    host = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
    return f"{host}:{bound[1]}"


class Hangups:
    """Ends a stream quietly whose reader is gone.

    FastAPI 0.165 raises if the next event waits at that moment, and uvicorn would write two
    pages about it: https://github.com/fastapi/fastapi/discussions/15725.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stand before an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on, and all errors but those of a stream without a reader."""
        try:
            await self._app(scope, receive, send)
        except* BrokenResourceError:
            pass


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


class _Heads:
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
