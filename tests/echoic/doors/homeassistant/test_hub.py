"""What the device shows follows the log, though the state comes behind it."""

import asyncio
import json
from typing import Any, cast

import pytest
from nats.aio.msg import Msg

from echoic.client.connection import Connection
from echoic.doors.homeassistant.discovery import Topics
from echoic.doors.homeassistant.hub import Hub, Wanted
from echoic.doors.homeassistant.mqtt import Mqtt
from tests.patience import PATIENCE_S
from tests.servers import Broker

pytestmark = pytest.mark.services


class Shown:
    """What was published to Home Assistant."""

    def __init__(self) -> None:
        self.rapport: list[Any] = []

    def publish(self, topic: str, body: Any, *, retain: bool) -> None:
        """Keep it."""
        assert (topic, retain) == ("echoic/ada/rapport", True)
        self.rapport.append(body)


class Asking:
    """A connection whose instance is asked for the state."""

    def __init__(self, broker: Broker) -> None:
        self.client = broker.client


async def test_a_vote_is_shown_once_the_state_has_it(broker: Broker) -> None:
    """An instance that does not answer, or not with it yet, is asked again."""
    shown, answers = Shown(), iter([None, (6, 0.5), (7, 0.6)])

    async def state(message: Msg) -> None:
        if (known := next(answers)) is not None:
            position, rapport = known
            told = {"position": position, "rapport": {"mia": rapport}}
            await message.respond(
                json.dumps({"accepted": True, "state": told}).encode()
            )

    await broker.client.subscribe("svc.ada.state", cb=state)
    hub = Hub(
        cast(Connection, Asking(broker)),
        cast(Mqtt, shown),
        Wanted(("mia",), may_control=False),
        print,
        Topics("ada"),
    )

    async with asyncio.timeout(PATIENCE_S):
        await hub.refresh_with(7)

    assert shown.rapport == [{"mia": 0.5}, {"mia": 0.6}]
    assert next(answers, None) is None
