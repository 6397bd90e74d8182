"""The door itself: what its routes share, and who may use them."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from echoic.client.connection import Connection
from echoic.doors.http.limits import Limits, neighbourhood
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


# All of these are coroutines: FastAPI runs any other in a thread, where what is counted could
# be counted wrong.
async def door_of(request: Request) -> Door:
    """Return the door that a request came through."""
    door: Door = request.app.state.door
    return door


def allowed(scope: Scope) -> Callable[..., AsyncIterator[AccessToken]]:
    """Return a dependency: the request's token, if it has that scope and room is left."""

    async def check(
        request: Request,
        door: Annotated[Door, Depends(door_of)],
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    ) -> AsyncIterator[AccessToken]:
        token = door.tokens.find(given.credentials) if given is not None else None
        if token is None:
            if given is not None and request.client is not None:
                door.limits.guess(neighbourhood(request.client.host))
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
        with door.limits.request(token):
            yield token

    return check


may_read = allowed("read")
"""The same for all, so that a request is counted once."""


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


async def readable(agent: str, token: Annotated[AccessToken, Depends(may_read)]) -> str:
    """Return the agent of a path, if the token may read what it decides.

    Raises:
        ProblemError: it may not.
    """
    return own_agent(token, agent)
