"""`echoic homeassistant`: an agent as a device of Home Assistant."""

import asyncio
import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from echoic.cli.options import TextCall, new_app
from echoic.client.connection import connect_when_up
from echoic.client.persons import named
from echoic.client.sensor_access import access_file
from echoic.config.load import Settings
from echoic.config.option import address_of
from echoic.errors import EchoicError
from echoic.packs import bundled
from echoic.terminal.output import note

if TYPE_CHECKING:
    from echoic.doors.homeassistant.mqtt import MqttBroker

app = new_app("homeassistant", "Be a device of Home Assistant, by MQTT discovery.")

_PORTS = {"mqtt": 1883, "mqtts": 8883}


@app.command()
def homeassistant(
    call: TextCall,
    source: str = "home",
    person: list[str] | None = None,
    control: bool = False,
    broker: str | None = None,
    user: str | None = None,
    password_file: Path | None = None,
    prefix: str = "homeassistant",
) -> None:
    """Be a device of Home Assistant until Ctrl-C: its last words, rapport, decisions, votes.

    docs/home-assistant.md has the whole recipe.

    Examples: `echoic homeassistant --agent ada`, `echoic homeassistant --broker
    mqtts://hub.example --user echoic --password-file hub.password`.

    Args:
        source: Whose account the embedded broker's MQTT listener is used with: that of
            Home Assistant, of `echoic sensor access SOURCE --grant homeassistant`.
        person: Whose rapport is shown, `user` unless given; may be given again. The
            first is who votes.
        control: Let Home Assistant have the agent mute, too.
        broker: Another MQTT broker, which Home Assistant uses: mqtt://HOST or mqtts://HOST.
        user: Our user there.
        password_file: The file with our password there.
        prefix: Home Assistant's prefix of discovery.
    """
    if find_spec("paho") is None:
        raise EchoicError(
            "paho-mqtt is not installed", next_step=bundled.extra("homeassistant")
        )
    # An extra, which no other command needs.
    from echoic.doors.homeassistant.hub import Wanted, serve

    settings = call.settings
    persons = tuple(dict.fromkeys(person or ("user",)))
    for each in persons:
        named(each)
    there = (
        _own(settings, source)
        if broker is None
        else _other(broker, user, password_file)
    )

    async def run() -> None:
        async with connect_when_up(settings, note) as connection:
            await serve(connection, there, Wanted(persons, control, prefix), note)

    asyncio.run(run())


def _own(settings: Settings, source: str) -> "MqttBroker":
    """Return the embedded broker's listener, with Home Assistant's account.

    Raises:
        EchoicError: it does not listen, or there is no such account.
    """
    from echoic.doors.homeassistant.mqtt import MqttBroker

    if settings.nats_mqtt is None:
        raise EchoicError(
            "the embedded broker does not listen for MQTT",
            next_step="set nats.mqtt, such as 127.0.0.1:1883, and start the instance again;"
            " or name Home Assistant's broker with --broker",
        )
    file = access_file(settings.data, settings.agent, source)
    if not file.exists():
        raise EchoicError(
            f"{settings.agent!r} has no account {source!r}",
            next_step=f"echoic sensor access {source} --agent {settings.agent}"
            " --grant homeassistant",
        )
    access = json.loads(file.read_text())
    host, port = address_of(settings.nats_mqtt)
    return MqttBroker(host, port, access["user"], access["password"])


def _other(broker: str, user: str | None, password_file: Path | None) -> "MqttBroker":
    from echoic.doors.homeassistant.mqtt import MqttBroker

    parts = urlsplit(broker)
    if parts.scheme not in _PORTS or not parts.hostname or parts.password:
        raise EchoicError(
            f"--broker {parts.hostname or broker!r}: name it as mqtt://HOST or mqtts://HOST,"
            " its password in --password-file"
        )
    password = password_file.read_text().strip() if password_file else None
    return MqttBroker(
        parts.hostname,
        parts.port or _PORTS[parts.scheme],
        user,
        password,
        parts.scheme == "mqtts",
    )
