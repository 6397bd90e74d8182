"""The door as an ASGI application."""

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse

from echoic.doors.http import problems, reading, stream, writing
from echoic.doors.http.description import described
from echoic.doors.http.door import Door
from echoic.doors.http.problems import ProblemError

_ABOUT = """Events, votes and outcomes come in; decisions and why they came out so go out.

Each request needs `Authorization: Bearer <token>`; `echoic http token` makes one. What is sent
with an `Idempotency-Key` may be sent again: it counts once."""


def http_app(door: Door, origins: Sequence[str] = ()) -> FastAPI:
    """Return the application; pages of `origins` may call it from a browser."""
    app = FastAPI(
        title="Echoic",
        version=version("echoic"),
        description=_ABOUT,
        openapi_url="/v1/openapi.json",
        # They would load scripts from a network that need not be there.
        docs_url=None,
        redoc_url=None,
        responses=problems.RESPONSES,
    )
    app.state.door = door
    for each in (writing.router, reading.router, stream.router):
        app.include_router(each)
    app.add_api_route("/healthz", _health, include_in_schema=False)
    app.add_exception_handler(ProblemError, problems.answer)
    app.add_exception_handler(RequestValidationError, _invalid)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST"],
            allow_headers=[
                "Authorization",
                "Content-Type",
                "Idempotency-Key",
                "Last-Event-ID",
            ],
            expose_headers=["Retry-After"],
        )
    app.openapi = partial(described, app)  # type: ignore[method-assign]
    return app


async def _health(request: Request) -> JSONResponse:
    """Say whether the door reaches the broker."""
    door: Door = request.app.state.door
    is_up = door.connection.client.is_connected
    return JSONResponse({"broker": is_up}, 200 if is_up else 503)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError), "it is registered for these alone"
    fields = [
        {"field": ".".join(map(str, each["loc"])), "problem": each["msg"]}
        for each in error.errors()
    ]
    first = f"{fields[0]['field']}: {fields[0]['problem']}" if fields else "invalid"
    problem = ProblemError(400, "invalid", first, fields=fields)
    return await problems.answer(request, problem)
