"""The desk that hands out credentials to sensors, beside the embedded broker.

Its rule: only our own account can ask here; a sensor gets rights for one source of one
agent and nothing else.
"""

import json
from dataclasses import asdict
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import NoRespondersError

from echoic.errors import EchoicError, NotRunningError
from schemas.subjects import SubjectError
from streams.accounts import Credentials
from streams.server import EmbeddedServer

SUBJECT = "svc._.sensor"


class SensorDesk:
    """Answers requests for a sensor's credentials."""

    def __init__(self, server: EmbeddedServer) -> None:
        """Hand out rights on this server."""
        self._server = server

    async def serve(self, client: Client) -> None:
        """Answer for as long as the connection is open."""
        await client.subscribe(SUBJECT, cb=self._answer)

    async def _answer(self, message: Msg) -> None:
        await message.respond(json.dumps(await self._granted(message.data)).encode())

    async def _granted(self, data: bytes) -> dict[str, Any]:
        try:
            asked = json.loads(data)
            credentials = await self._server.add_sensor(
                str(asked["agent"]), str(asked["source"]), tuple(asked["grants"])
            )
        except (ValueError, KeyError, TypeError, SubjectError) as error:
            return {"error": str(error)}
        return asdict(credentials)


async def ask_for_access(
    client: Client, agent: str, source: str, grants: tuple[str, ...] = ()
) -> Credentials:
    """Credentials for a sensor of a running instance.

    Raises:
        NotRunningError: the broker is not one of ours, which could hand them out.
        EchoicError: the rights cannot be given.
    """
    asked = json.dumps({"agent": agent, "source": source, "grants": grants}).encode()
    try:
        reply = await client.request(SUBJECT, asked, timeout=10)
    except (NoRespondersError, TimeoutError) as error:
        raise NotRunningError(
            "nobody hands out sensors' credentials here: the broker is not ours",
            next_step="make a user for the sensor and name its file with --credentials",
        ) from error
    found: dict[str, Any] = json.loads(reply.data)
    if "error" in found:
        raise EchoicError(str(found["error"]))
    return Credentials(**found)
