"""The door itself: what its routes share, and who may use them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from echoic.client.connection import Connection
from echoic.doors.http.limits import Limits
from echoic.doors.http.problems import ProblemError
from echoic.doors.http.tokens import AccessToken, Scope, TokenFile

_bearer = HTTPBearer(
    auto_error=False, description="Of `echoic http token NAME`, one for each client."
)


@dataclass(frozen=True, slots=True)
class Door:
    """What the routes of a running door share."""

    connection: Connection
    tokens: TokenFile
    limits: Limits = field(default_factory=Limits)


def door_of(request: Request) -> Door:
    """Return the door that a request came through."""
    door: Door = request.app.state.door
    return door


def allowed(scope: Scope) -> Callable[..., AccessToken]:
    """Return a dependency: the request's token, if it has that scope and room is left."""

    def check(
        door: Annotated[Door, Depends(door_of)],
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    ) -> AccessToken:
        token = door.tokens.find(given.credentials) if given is not None else None
        if token is None:
            raise ProblemError(
                401,
                "no_token",
                "Authorization: Bearer <token> is needed, of `echoic http token`",
                headers={"WWW-Authenticate": "Bearer"},
            )
        if scope not in token.scopes:
            raise ProblemError(
                403, "not_allowed", f"the token {token.name!r} has no scope {scope!r}"
            )
        door.limits.take(token)
        return token

    return check


def own_agent(token: AccessToken, agent: str) -> str:
    """Return an agent that a token is for.

    Raises:
        ProblemError: it is for another.
    """
    if agent != token.agent:
        # The same whether there is such an agent or not.
        raise ProblemError(
            403, "not_allowed", f"the token {token.name!r} is for another agent"
        )
    return agent


def readable(
    agent: str, token: Annotated[AccessToken, Depends(allowed("read"))]
) -> str:
    """Return the agent of a path, if the token may read what it decides.

    Raises:
        ProblemError: it may not.
    """
    return own_agent(token, agent)
