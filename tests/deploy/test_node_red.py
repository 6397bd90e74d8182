"""The flow for Node-RED: whole, and with no more rights than its account has."""

import fnmatch
import json
from typing import Any

import pytest

from schemas.codec.decode import read_input
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.sensing import Sensed
from streams.jetstream.accounts import SensorAccess
from tests.deploy.cluster import DEPLOY
from tests.factories import record

NODES: list[dict[str, Any]] = json.loads(
    (DEPLOY / "node-red" / "flow.json").read_text(encoding="utf-8")
)
ACCOUNT = SensorAccess("ada", "home", "x", grants=("feedback",))


def of(type_: str) -> list[dict[str, Any]]:
    """The nodes of a type."""
    return [each for each in NODES if each["type"] == type_]


def may(right: str, subject: str) -> bool:
    """Whether the account may publish or subscribe to a subject."""
    rules: Any = ACCOUNT.permissions()[right]

    def fits(patterns: list[str]) -> bool:
        return any(
            fnmatch.fnmatchcase(subject, each.replace(">", "*")) for each in patterns
        )

    return fits(rules["allow"]) and not fits(rules.get("deny", []))


def test_every_wire_leads_to_a_node() -> None:
    """No id twice, no node that nothing reaches, and no password in the file."""
    ids = [each["id"] for each in NODES]
    wired = {end for each in NODES for out in each.get("wires", ()) for end in out}
    begins = {each["id"] for each in [*of("inject"), *of("mqtt in")]}
    kept = {each["id"] for each in [*of("tab"), *of("mqtt-broker")]}

    assert len(set(ids)) == len(ids)
    assert wired | begins | kept == set(ids)
    (broker,) = of("mqtt-broker")
    assert "credentials" not in broker
    # MQTT 3.1.1: the broker speaks no other.
    assert broker["protocolVersion"] == "4"
    for each in [*of("mqtt in"), *of("mqtt out")]:
        assert each["broker"] == broker["id"]


def test_topics_are_within_the_rights_of_its_account() -> None:
    """What it publishes and hears is allowed; without the grant its vote is not."""
    for each in of("mqtt out"):
        assert may("publish", each["topic"].replace("/", ".")), each["topic"]
        assert each["retain"] == "false"
    for each in of("mqtt in"):
        assert may("subscribe", each["topic"].replace("/", ".").replace("#", ">"))
    ungranted = SensorAccess("ada", "home", "x").permissions()
    assert "in.ada.home.feedback" in str(ungranted["publish"])
    assert not may("publish", "in.ada.home.control")
    assert not may("publish", "in.ben.home.doorbell")


@pytest.mark.parametrize(
    ("detail", "body", "kind"),
    [
        ("home.doorbell", of("inject")[0]["payload"], Sensed),
        ("home.feedback", '{"decision_id": "d", "rating": "positive"}', FeedbackGiven),
    ],
)
def test_what_it_sends_is_read(detail: str, body: str, kind: type) -> None:
    """As an event, and as a vote, with the fields that its functions fill in."""
    message = read_input(record(f"ev.11.in.ada.sensor.{detail}", body.encode())).message

    assert isinstance(message, kind)
    if isinstance(message, FeedbackGiven):
        assert message.actor == "home"
        (make,) = (each for each in of("function") if each["id"] == "vote-make")
        assert "decision_id: decision, rating: msg.payload" in make["func"]
