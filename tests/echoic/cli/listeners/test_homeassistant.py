"""`echoic homeassistant` beside an instance, with Paho's client in Home Assistant's place."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from tests.devices import end
from tests.echoic.cli.acting import thirsty
from tests.echoic.cli.conftest import Program
from tests.echoic.cli.listeners.conftest import AGENT, account, port_of
from tests.patience import PATIENCE_S

# Each waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

CONFIG = f"homeassistant/device/echoic_{AGENT}/config"


class HomeAssistant:
    """Hears all that it may, as Home Assistant does."""

    def __init__(self, program: Program, *, says_so: bool) -> None:
        """Connect, subscribe, and say that it has started, as it does by default."""
        own = account(program, AGENT, "home")
        self.heard: list[tuple[str, bytes, bool]] = []
        self._more = threading.Condition()
        self.client = paho.Client(
            CallbackAPIVersion.VERSION2, f"hass-{says_so}", protocol=paho.MQTTv311
        )
        self.client.username_pw_set(own["user"], own["password"])
        self.client.on_message = self._take
        self.client.on_connect = self._subscribe
        if says_so:
            self.client.on_subscribe = self._say_so
        port = port_of(program, "mqtt")
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()

    def _subscribe(self, *_: object) -> None:
        self.client.subscribe([("homeassistant/#", 1), (f"echoic/{AGENT}/#", 1)])

    def _say_so(self, *_: object) -> None:
        self.client.publish("homeassistant/status", "online")

    def _take(self, _: object, __: object, message: paho.MQTTMessage) -> None:
        with self._more:
            told = (message.topic, bytes(message.payload), message.retain)
            self.heard.append(told)
            self._more.notify_all()

    def until(self, topic: str, fits: Callable[[Any], bool] = bool) -> Any:
        """The first state on a topic that fits."""
        with self._more:
            self._more.wait_for(lambda: self.known(topic, fits) is not None, PATIENCE_S)
            state = self.known(topic, fits)
        assert state is not None, self.heard
        return state

    def known(
        self,
        topic: str,
        fits: Callable[[Any], bool] = bool,
        *,
        retained: Sequence[bool] = (False, True),
    ) -> Any:
        """The first state on a topic that fits, of those heard so far; None if none does."""
        for where, body, is_retained in self.heard:
            if where != topic or is_retained not in retained:
                continue
            state = body.decode()
            value = json.loads(state) if state.startswith("{") else state
            if fits(value):
                return value
        return None

    def send(self, topic: str, body: str) -> None:
        """Publish, and wait for the acknowledgement."""
        self.client.publish(topic, body, 1).wait_for_publish(PATIENCE_S)


@contextmanager
def hass(program: Program, *, says_so: bool = True) -> Iterator[HomeAssistant]:
    """A client that has just been started."""
    made = HomeAssistant(program, says_so=says_so)
    try:
        yield made
    finally:
        end(made.client)


@contextmanager
def bridge(house: Program, *options: str) -> Iterator[Any]:
    """The bridge, once the device is there."""
    own = ("--agent", AGENT, "--person", "mia")
    with house.start("homeassistant", *own, *options) as process:
        try:
            assert process.stderr is not None
            assert "is a device of Home Assistant" in process.stderr.readline()
            yield process
        finally:
            process.kill()


def what_is_kept(house: Program, *topics: str) -> dict[str, Any]:
    """What one that comes late is told by the broker alone, all of these topics included.

    The broker hands a state on before whoever comes then is told of it (nats-server 2.15.1).
    """
    kept: dict[str, Any] = {}
    for _ in range(20):
        with hass(house, says_so=False) as late:
            late.until(CONFIG)
            time.sleep(1)
            told = {each: late.known(each, retained=[True]) for each, *_ in late.heard}
        kept = {topic: state for topic, state in told.items() if state is not None}
        if kept.keys() >= {*topics}:
            break
    return kept


def inputs(house: Program, kind: str, agent: str = AGENT) -> list[dict[str, Any]]:
    """The messages of a kind in the log."""
    ran = house.here("log", "tail", "--kind", kind, "--agent", agent, "--json")
    return [json.loads(line)["body"] for line in ran.out.splitlines()]


def test_the_device_lives(house: Program) -> None:
    """It is announced, shows what is said, takes votes, and is away once nobody keeps it."""
    with bridge(house) as process, hass(house) as early:
        early.until(f"echoic/{AGENT}/available", "online".__eq__)
        spoke = thirsty(house, AGENT, 3, "Your drink is low: 3 of 9.")
        id_ = spoke["response_id"]

        event = early.until(f"echoic/{AGENT}/decision")
        assert (event["event_type"], event["decision_id"]) == ("spoke", id_)
        # What the event triggers finds the state as it is now.
        assert early.known(
            f"echoic/{AGENT}/said", lambda each: each["decision_id"] == id_
        )
        kept = what_is_kept(house, CONFIG, f"echoic/{AGENT}/said")
        config, said = kept[CONFIG], kept[f"echoic/{AGENT}/said"]
        assert f"echoic/{AGENT}/decision" not in kept
        assert config["components"]["said"]["state_topic"] == f"echoic/{AGENT}/said"
        assert "mute" not in config["components"]
        assert (said["text"], said["decision_id"]) == (spoke["response_text"], id_)

        vote = config["components"]["up"]["command_topic"]
        early.send(vote, json.dumps({"rating": "positive", "decision_id": id_}))
        rapport = early.until(f"echoic/{AGENT}/rapport", lambda each: "mia" in each)
        assert rapport["mia"] > 0.5
        # Without a decision: on what is shown.
        early.send(vote, '{"rating": "negative", "decision_id": ""}')
        early.until(
            f"echoic/{AGENT}/rapport", lambda each: each.get("mia", 1) < rapport["mia"]
        )

        process.kill()
        early.until(f"echoic/{AGENT}/available", "offline".__eq__)
    given = inputs(house, "feedback")
    assert [each["rating"] for each in given] == ["positive", "negative"]
    assert {(each["decision_id"], each["actor"]) for each in given} == {(id_, "mia")}


def test_what_nobody_allowed_does_nothing(house: Program) -> None:
    """No mute without --control, no vote that is none, nothing of another agent's."""
    controls = inputs(house, "control")
    votes = inputs(house, "feedback")
    thirsty(house, "ben", 3, "Your drink is low: 3 of 9.")
    with bridge(house), hass(house) as hub:
        hub.until(f"echoic/{AGENT}/available", "online".__eq__)
        hub.send(f"echoic/{AGENT}/mute/set", "ON")
        for topic in (
            "echoic/ben/vote",
            f"in/{AGENT}/home/feedback",
            f"in/{AGENT}/home/control",
            "in/ben/home/doorbell",
        ):
            hub.send(topic, '{"rating": "positive", "decision_id": "x"}')
        for body in ("garbage", "[]", '{"rating": "scaled"}', "x" * 50_000, "{}" * 99):
            hub.send(f"echoic/{AGENT}/vote", body)
        # After all of it, what is allowed is still heard.
        hub.send(f"in/{AGENT}/home/doorbell", '{"text": "the doorbell rings"}')
        hub.until(f"echoic/{AGENT}/decision", lambda each: each["type"] == "doorbell")
        # A restart of Home Assistant: all is told again.
        before = len([each for each in hub.heard if each[0] == CONFIG])
        hub.send("homeassistant/status", "online")
        hub.until(
            CONFIG,
            lambda _: len([each for each in hub.heard if each[0] == CONFIG]) > before,
        )

    assert inputs(house, "control") == controls
    assert inputs(house, "feedback") == votes
    assert not inputs(house, "feedback", "ben")


def test_with_control_it_can_be_muted(house: Program) -> None:
    """The switch is there, shows what is so, and is obeyed."""
    with bridge(house, "--control"), hass(house) as hub:
        config = hub.until(CONFIG, lambda each: "mute" in each["components"])
        switch = config["components"]["mute"]
        hub.until(switch["state_topic"], "OFF".__eq__)
        hub.send(switch["command_topic"], "MAYBE")
        hub.send(switch["command_topic"], "ON")
        hub.until(switch["state_topic"], "ON".__eq__)
        assert inputs(house, "control")[-1]["by"] == "homeassistant"
        del hub.heard[:]
        assert house.here("mute", "off", "--agent", AGENT).code == 0
        hub.until(switch["state_topic"], "OFF".__eq__)


def test_what_is_missing_is_named(house: Program, echoic: Program) -> None:
    """The listener, the account, the broker: each error has the next command."""
    nobody = house.here("homeassistant", "--agent", "nobody")
    nowhere = house.here("homeassistant", "--broker", "mqtt://127.0.0.1:1")
    secret = house.here("homeassistant", "--broker", "mqtt://me:secret@hub")
    deaf = echoic.here("homeassistant")

    assert nobody.code == nowhere.code - 1 == 2
    assert "--grant homeassistant" in nobody.err
    assert "no MQTT broker answers" in nowhere.err
    assert "secret" not in secret.err.replace("--password", "")
    assert "nats.mqtt" in deaf.err
