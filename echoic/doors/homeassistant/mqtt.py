"""A connection to an MQTT broker: it comes back by itself, and tells when it is there."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import orjson
import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode

from echoic.errors import NotRunningError

_QOS = 1
_WAITING = 100
"""Commands that wait at most; what comes beyond is dropped, and MQTT has said so already."""

_COMMAND_BYTES = 4_096
_ANSWER_S = 10.0
_GOODBYE_S = 2.0


@dataclass(frozen=True, slots=True)
class MqttBroker:
    """Where a broker is, and as whom to connect."""

    host: str
    port: int
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    is_encrypted: bool = False


@dataclass(slots=True)
class Mqtt:
    """An open connection."""

    client: paho.Client
    commands: "asyncio.Queue[tuple[str, bytes]]"
    here: asyncio.Event
    """Set each time that the connection is there again."""
    refused: str | None = None
    """Why the broker did not let us in."""

    def check(self) -> None:
        """Check that the broker lets us in.

        Raises:
            NotRunningError: it does not.
        """
        if self.refused is not None:
            raise NotRunningError(
                f"the MQTT broker does not let us in: {self.refused}",
                next_step="echoic sensor access home --grant homeassistant",
            )

    def publish(self, topic: str, body: object, *, retain: bool) -> None:
        """Publish a text as it is, anything else as JSON."""
        text = body if isinstance(body, str) else orjson.dumps(body)
        self.client.publish(topic, text, _QOS, retain)


@asynccontextmanager
async def mqtt(
    broker: MqttBroker, name: str, available: str, topics: Sequence[str]
) -> AsyncIterator[Mqtt]:
    """Connect and subscribe to topics; `available` says `online` while it lasts.

    Raises:
        NotRunningError: nothing answers there, or it does not let us in.
    """
    loop = asyncio.get_running_loop()
    client = paho.Client(
        CallbackAPIVersion.VERSION2, client_id=name, protocol=paho.MQTTv311
    )
    made = Mqtt(client, asyncio.Queue(_WAITING), asyncio.Event())
    client.username_pw_set(broker.user, broker.password)
    if broker.is_encrypted:
        client.tls_set()
    # Told by the broker when we are gone without a word.
    client.will_set(available, "offline", _QOS, retain=True)

    # Both are called by the library's thread.
    def connected(
        _: paho.Client, __: object, ___: object, code: ReasonCode, ____: object
    ) -> None:
        loop.call_soon_threadsafe(_arrived, made, code, topics)

    def told(_: paho.Client, __: object, message: paho.MQTTMessage) -> None:
        loop.call_soon_threadsafe(_take, made, message)

    client.on_connect, client.on_message = connected, told
    try:
        await asyncio.to_thread(client.connect, broker.host, broker.port)
    except OSError as error:
        raise NotRunningError(
            f"no MQTT broker answers at {broker.host}:{broker.port}: {error}",
            next_step="echoic doctor, and see nats.mqtt",
        ) from error
    client.loop_start()
    try:
        await _let_in(made)
        yield made
    finally:
        last = client.publish(available, "offline", _QOS, retain=True)
        # If the broker is gone, it says so itself once it is back.
        with suppress(RuntimeError, ValueError):
            await asyncio.to_thread(last.wait_for_publish, _GOODBYE_S)
        client.disconnect()
        await asyncio.to_thread(client.loop_stop)


async def _let_in(made: Mqtt) -> None:
    try:
        await asyncio.wait_for(made.here.wait(), _ANSWER_S)
    except TimeoutError:
        made.refused = "it does not answer"
    made.check()


def _arrived(made: Mqtt, code: ReasonCode, topics: Sequence[str]) -> None:
    """Subscribe anew, as sessions are not kept, and say that the connection is there."""
    made.refused = str(code) if code.is_failure else None
    if made.refused is None:
        made.client.subscribe([(each, _QOS) for each in topics])
    made.here.set()


def _take(made: Mqtt, message: paho.MQTTMessage) -> None:
    # A command that was retained is an old one: whoever sent it may not mean it any more.
    is_meant = not message.retain and len(message.payload) <= _COMMAND_BYTES
    if is_meant and not made.commands.full():
        made.commands.put_nowait((message.topic, bytes(message.payload)))
