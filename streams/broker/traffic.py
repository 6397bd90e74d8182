"""How many bytes each sensor has sent, as the embedded broker counts them by account."""

import json
from typing import Any, Self

import nats.errors

from streams.jetstream.accounts import SENSORS, Credentials
from streams.jetstream.connection import ATTEMPT_S, connect
from streams.jetstream.hardened_client import BrokerClient

_ASKED = "$SYS.REQ.ACCOUNT.PING.STATZ"
_EVERY = b'{"include_unused": true}'


class Traffic:
    """What sensors have sent since they were last asked about."""

    def __init__(self, system: Credentials) -> None:
        """Ask with the credentials of the broker's own account; `async with` connects."""
        self._system = system
        self._client: BrokerClient | None = None
        self._server = ""
        self._counted: dict[str, int] = {}

    async def __aenter__(self) -> Self:
        self._client = await connect(self._system, "echoic traffic")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.close()

    async def since(self) -> dict[str, int]:
        """Return the bytes that each sensor has sent since the last call, or the start.

        Headers and bodies count, also of what the broker refused.

        Raises:
            nats.errors.Error: the broker does not answer.
        """
        if self._client is None:
            raise nats.errors.ConnectionClosedError
        reply = await self._client.request(_ASKED, _EVERY, timeout=ATTEMPT_S)
        answer = json.loads(reply.data)
        # One that was started again counts from zero.
        server, before = str(answer["server"]["id"]), self._counted
        if server != self._server:
            before = {}
        self._server, self._counted = server, received(answer)
        return {
            sensor: count - before.get(sensor, 0)
            for sensor, count in self._counted.items()
        }


def received(answer: dict[str, Any]) -> dict[str, int]:
    """Return the bytes that the broker has had of each sensor since its start."""
    every = answer["data"]["account_statz"]
    return {
        each["acc"].removeprefix(SENSORS): each["received"]["bytes"]
        for each in every
        if each["acc"].startswith(SENSORS)
    }
