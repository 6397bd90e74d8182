"""The services at the broker, by the standard protocol for NATS services.

Whoever may call can also discover them, with what they take and how they fare: on
`$SRV.PING`, `$SRV.INFO` and `$SRV.STATS`, as `nats service list` does.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Any, cast

import msgspec
import nats.errors
from nats import micro
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.micro.request import Request
from nats.micro.service import EndpointConfig, ServiceConfig

from echoic.doors.calls import CALLS, Service
from echoic.doors.replies import Refused
from echoic.doors.services import Reply, Services
from handlers.broker import settle
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import connected

NAME = "echoic"
"""The name by which the services are discovered."""

# A queue group: of several instances on one broker only one gets each call.
_QUEUE = "echoic-services"

_AT_ONCE = 16
"""Callers of one service that may wait at once, as each may wait for a model."""

_STATUS = {"log_unavailable": "503", "undecided": "504"}
"""HTTP's code for a reason; a request that is refused for any other is at fault: 400."""

_log = logging.getLogger(__name__)
_Handler = Callable[[Msg], Awaitable[None]]


@asynccontextmanager
async def serving(credentials: Credentials, services: Services) -> AsyncIterator[None]:
    """Answer calls over a connection of their own for the length of the block."""
    async with connected(credentials, "echoic services") as client:
        apart = _Apart(client)
        found = await micro.add_service(
            cast(Client, apart),
            ServiceConfig(
                name=NAME,
                version=version("echoic"),
                description="An event-sourced decision engine.",
                queue_group=_QUEUE,
            ),
        )
        for service in CALLS:
            await found.add_endpoint(_endpoint(service, services))
        # From here on the server knows of all of them.
        await settle(client)
        try:
            yield
        finally:
            await apart.end()


def _endpoint(service: Service, services: Services) -> EndpointConfig:
    return EndpointConfig(
        # A name of an endpoint has no dots.
        name=service.name.replace(".", "_"),
        subject=service.subject,
        handler=partial(_answer, service, services),
        metadata={
            "meaning": service.meaning,
            "request": service.request.__name__ if service.request else "Control",
            "reply": service.reply.__name__,
            "command": service.command,
        },
    )


async def _answer(service: Service, services: Services, request: Request) -> None:
    reply = await services.reply(service, request)
    body = _encoded(service, reply)
    error = reply.get("error")
    if error is None:
        await request.respond(body)
        return
    # In the headers as well, where tools that know only the protocol look.
    code = _STATUS.get(error["reason"], "400")
    said = " ".join(error["detail"].split()).encode("ascii", "replace").decode()
    await request.respond_error(code, f"{error['reason']}: {said[:200]}", body)


def _encoded(service: Service, reply: Reply) -> bytes:
    """Return a reply as JSON.

    Raises:
        msgspec.ValidationError: it is not of the service's type.
    """
    kind: type[msgspec.Struct] = Refused if "error" in reply else service.reply
    return msgspec.json.encode(msgspec.convert(reply, kind))


class _Apart:
    """A connection whose subscribers work on several messages at once.

    The library's own work on one at a time, and a call may wait for a model.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._working: set[asyncio.Task[None]] = set()

    def __getattr__(self, name: str) -> Any:
        """Everything else is the connection's own."""
        return getattr(self._client, name)

    async def subscribe(
        self, subject: str, queue: str = "", cb: _Handler | None = None
    ) -> Subscription:
        """Subscribe, and call `cb` for each message in a task of its own."""
        assert cb is not None, "services answer by callbacks"
        free = asyncio.Semaphore(_AT_ONCE)

        async def work(message: Msg) -> None:
            try:
                await cb(message)
            # ValueError: nobody waits for a reply.
            except (nats.errors.Error, OSError, ValueError) as error:
                _log.warning("no reply on %s: %r", message.subject, error)
            finally:
                free.release()

        async def begin(message: Msg) -> None:
            await free.acquire()
            task = asyncio.create_task(work(message))
            self._working.add(task)
            task.add_done_callback(self._working.discard)

        return await self._client.subscribe(subject, queue=queue, cb=begin)

    async def end(self) -> None:
        """Cancel what is under way, and wait for its end."""
        for task in self._working:
            task.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)
