"""Devices whose topics NATS cannot carry: nothing behind them starves."""

import threading

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from tests.devices import end
from tests.echoic.cli.conftest import Program
from tests.echoic.cli.listeners.conftest import access, port_of
from tests.patience import PATIENCE_S

# It waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

ODD = [
    "in/attic/lamp/Living Room",
    "in/attic/lamp/a.b",
    "in/attic/lamp/",
    "in/attic/lamp/x/y",
]


def test_a_topic_that_nats_cannot_carry_starves_nobody(house: Program) -> None:
    """With a session that is kept, each is acknowledged once, and so is the alarm behind it."""
    own = access(house, "attic", "lamp")
    client = paho.Client(
        CallbackAPIVersion.VERSION2,
        "lamp-1",
        protocol=paho.MQTTv311,
        clean_session=False,
    )
    client.username_pw_set(own["user"], own["password"])
    gone: list[object] = []
    connected = threading.Event()
    client.on_connect = lambda *_: connected.set()
    client.on_disconnect = lambda *_: gone.append(1)
    client.connect("127.0.0.1", port_of(house, "mqtt"))
    client.loop_start()
    try:
        assert connected.wait(PATIENCE_S)
        sent = [client.publish(topic, b"it is odd", qos=1) for topic in ODD]
        sent += [
            client.publish("in/attic/lamp/alarm", b"smoke", qos=1) for _ in range(3)
        ]
        for each in sent:
            each.wait_for_publish(PATIENCE_S)
            assert each.is_published()
        assert not gone
    finally:
        end(client)

    # In the order of the log: when this is answered, so is all that came before.
    last = house.here("pub", "done", "--agent", "attic", "--source", "lamp", "--wait")
    tail = house.here("log", "tail", "--agent", "attic", "--kind", "sensor", "--json")
    checks = {
        each["name"]: each for each in house.here("doctor", "--json").json["checks"]
    }
    top = house.here("top", "--once", "--json").json

    assert last.code == 0, last.err
    assert tail.out.count("lamp.alarm") == 3
    assert "lamp.Living_x0020_Room" in tail.out
    for topic in ODD:
        assert f"{topic!r} 1" in checks["topics"]["found"]
    assert top["mapped_topics"] >= len(ODD)
