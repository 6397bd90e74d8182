"""Problems: what a client is told that asks for something that it cannot have (RFC 9457)."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

_MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """The body of an answer that is an error."""

    title: str
    status: int
    reason: str
    """For programs."""
    detail: str
    fields: list[dict[str, str]] = []
    """Each wrong field of the request, with what is wrong about it."""


class ProblemError(Exception):
    """A request is answered by a problem."""

    def __init__(
        self,
        status: int,
        reason: str,
        detail: str,
        *,
        fields: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.headers = headers
        self.problem = Problem(
            title=HTTPStatus(status).phrase,
            status=status,
            reason=reason,
            detail=detail,
            fields=[dict(each) for each in fields],
        )


STATUS: Mapping[str, int] = {
    "log_unavailable": 503,
    "log_full": 507,
    "undecided": 504,
    "unknown_agent": 404,
    "too_large": 413,
    "not_allowed": 403,
    "over_day": 429,
}
"""HTTP's code for a reason; a request that is refused for any other is at fault: 400."""


def of_refusal(error: Mapping[str, Any]) -> ProblemError:
    """Return the problem that a service's refusal is."""
    reason = str(error["reason"])
    return ProblemError(
        STATUS.get(reason, 400),
        reason,
        str(error["detail"]),
        fields=error.get("fields", ()),
        headers={"Retry-After": str(wait)} if (wait := error.get("wait_s")) else None,
    )


async def answer(request: Request, error: Exception) -> JSONResponse:
    """Answer a request by a problem."""
    assert isinstance(error, ProblemError), "it is registered for these alone"
    return response(error)


def response(error: ProblemError) -> JSONResponse:
    """Return what is answered."""
    return JSONResponse(
        error.problem.model_dump(exclude_defaults=True),
        error.problem.status,
        headers=error.headers,
        media_type=_MEDIA_TYPE,
    )


_BODY = {_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}

RESPONSES: dict[int | str, dict[str, Any]] = {
    code: {"content": _BODY, "description": HTTPStatus(code).phrase}
    for code in (400, 401, 403, 404, 408, 413, 415, 429, 431, 503, 504, 507)
}
"""What any route may answer besides, for the description of the door."""
