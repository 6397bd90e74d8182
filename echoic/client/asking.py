"""Calls of an instance's services, by request and reply."""

from collections.abc import Mapping
from typing import Any

import orjson
from nats.aio.client import Client

from echoic.errors import EchoicError
from streams.jetstream.connection import request


async def ask(
    client: Client, agent: str, service: str, body: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the instance replies to a call of an agent's service.

    Raises:
        EchoicError: it refuses.
        StreamsError: nothing answers.
    """
    replied = await request(client, f"svc.{agent}.{service}", orjson.dumps(body))
    reply: dict[str, Any] = orjson.loads(replied.data)
    if "error" in reply:
        error = reply["error"]
        raise EchoicError(f"refused ({error['reason']}): {error['detail']}")
    return reply
