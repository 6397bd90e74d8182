"""Clients that are gone in the middle of a stream: no fault of the door."""

from anyio import BrokenResourceError
from starlette.types import ASGIApp, Receive, Scope, Send


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
