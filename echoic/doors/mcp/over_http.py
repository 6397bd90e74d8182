"""The server over HTTP: whoever calls is known by a token of `echoic http token`."""

from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from echoic.config.load import Settings
from echoic.doors.http.limits import Limits
from echoic.doors.http.problems import ProblemError
from echoic.doors.http.tokens import TokenFile
from echoic.doors.mcp.reach import Reach
from echoic.doors.mcp.reading import Looks
from echoic.doors.mcp.rights import Rights
from echoic.doors.mcp.server import mcp_server

_REQUEST_BYTES = 100_000


class _Verifier:
    """Checks tokens by the file of the data folder, which is read again once it changed."""

    def __init__(self, tokens: TokenFile) -> None:
        self._tokens = tokens

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what the library keeps of a token; None if nothing knows it."""
        found = self._tokens.find(token)
        if found is None:
            return None
        return AccessToken(token=token, client_id=found.name, scopes=list(found.scopes))


def mcp_app(
    settings: Settings, tokens: TokenFile, looks: Looks, host: str
) -> Starlette:
    """Return the server as an ASGI application at `/mcp`.

    It keeps no session, so that each request stands for itself and a revoked token ends at
    once. From another machine it is reached through a proxy, which sets the name of this host.
    """
    limits = Limits()

    async def limited(context: Any, call_next: Any) -> Any:
        given = get_access_token()
        token = tokens.find(given.token) if given is not None else None
        if token is not None:
            try:
                limits.take(token)
            except ProblemError as error:
                raise MCPError(INVALID_REQUEST, str(error)) from error
        return await call_next(context)

    def rights() -> Rights:
        given = get_access_token()
        token = tokens.find(given.token) if given is not None else None
        if token is None:
            raise ToolError("no token, or one that was revoked")
        may_vote = "feedback" in token.scopes
        return Rights(
            agent=token.agent,
            actor=(token.person or token.name) if may_vote else None,
            may_read="read" in token.scopes,
        )

    server = mcp_server(
        Reach(settings, rights),
        looks,
        middleware=[limited],
        token_verifier=_Verifier(tokens),
        # Of OAuth there is nothing here: tokens are made by a command.
        auth=AuthSettings(
            issuer_url=AnyHttpUrl("http://localhost"), resource_server_url=None
        ),
    )
    app: Any = server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        max_request_body_size=_REQUEST_BYTES,
        host=host,
    )
    assert isinstance(app, Starlette)
    return app
