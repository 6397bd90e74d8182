"""What Home Assistant is told, held against what it documents and does."""

import json
from itertools import pairwise
from typing import Any

import jinja2
import pytest
from ruamel.yaml import YAML

from echoic.doors.homeassistant.discovery import EVENT_TYPES, Topics, document
from echoic.doors.homeassistant.hub import Vote, rapport
from schemas.messages.sensing import Sensed
from schemas.values.persons import token_of
from tests.pythons import ROOT

TOPICS = Topics("ada")

COMMON = {
    "platform", "unique_id", "name", "icon", "qos", "json_attributes_topic", "value_template",
}  # fmt: skip
"""Keys of every platform; `platform` and, in a device's document, `unique_id` are required."""

REQUIRED = {
    "sensor": {"state_topic"},
    "event": {"state_topic", "event_types"},
    "button": {"command_topic"},
    "switch": {"command_topic"},
}
OPTIONAL = {
    "sensor": {"unit_of_measurement", "state_class"},
    "event": set(),
    "button": {"command_template"},
    "switch": {"state_topic"},
}
"""Of https://www.home-assistant.io/integrations/sensor.mqtt/ and its like, those used."""


@pytest.mark.parametrize("may_control", [False, True])
def test_the_document_is_as_documented(*, may_control: bool) -> None:
    """Device, origin and components, each with the keys that its platform requires."""
    told = document(TOPICS, ("mia", "ben"), may_control=may_control)

    assert told.keys() == {"device", "origin", "components", "availability_topic"}
    assert told["device"]["identifiers"]
    assert told["origin"]["name"]
    parts = told["components"]
    for each in parts.values():
        platform = each["platform"]
        assert each.keys() >= {"unique_id", "name"} | REQUIRED[platform]
        assert each.keys() <= COMMON | REQUIRED[platform] | OPTIONAL[platform]
        for topic in (each[key] for key in each if key.endswith("_topic")):
            assert topic.startswith("echoic/ada/")
            assert not set(topic) & set("#+ ")
    ids = [each["unique_id"] for each in parts.values()]
    assert len(set(ids)) == len(ids)
    assert ("mute" in parts) is may_control
    assert parts["decision"]["event_types"] == list(EVENT_TYPES)
    assert len(json.dumps(told)) < 10_000


def rendered(template: str, **values: Any) -> str:
    """A template as Home Assistant renders it, in Jinja's sandbox."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    made = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined)
    return made.from_string(template).render(**values)


def test_states_are_read_by_the_templates() -> None:
    """A state has at most 255 characters; a rapport that is not known is none."""
    parts = document(TOPICS, ("mia", "ben"), may_control=False)["components"]
    words, mia, ben = (
        parts[each]["value_template"] for each in ("said", "rapport_mia", "rapport_ben")
    )

    assert rendered(words, value_json={"text": "Short."}) == "Short."
    assert len(rendered(words, value_json={"text": "x" * 2_000})) == 255
    assert rendered(mia, value_json={"mia": 0.525}) == "52.5"
    assert rendered(ben, value_json={"mia": 0.525}) == "None"


@pytest.mark.parametrize("known", ["5f0c\"}} ' {{ 1 }}", "", None])
def test_a_button_sends_a_vote(known: str | None) -> None:
    """On the decision that is shown, whatever its id looks like; else on the last."""
    parts = document(TOPICS, ("mia",), may_control=False)["components"]

    def state_attr(entity: str, name: str) -> str | None:
        assert (entity, name) == ("button.ada_up", "decision_id")
        return known

    sent = rendered(
        parts["up"]["command_template"],
        entity_id="button.ada_up",
        state_attr=state_attr,
    )

    assert Vote.model_validate_json(sent).decision_id == (known or "")


def examples() -> list[dict[str, Any]]:
    """The automations of the recipe."""
    text = (ROOT / "docs" / "home-assistant.md").read_text()
    blocks = [each.partition("```")[0] for each in text.split("```yaml\n")[1:]]
    return [
        each for block in blocks for each in YAML(typ="safe").load(block)["automation"]
    ]


def test_the_recipe_has_whole_automations() -> None:
    """Each is YAML with what Home Assistant requires of an automation."""
    found = examples()

    assert len(found) == 4
    for each in found:
        assert each.keys() >= {"alias", "triggers", "actions"}
        assert all("trigger" in part for part in each["triggers"])
        assert all("action" in part for part in each["actions"])


def runs(trigger: dict[str, Any], *states: str) -> int:
    """How often a state trigger of Home Assistant fires over the states of its entity."""
    fired = 0
    for old, new in pairwise(states):
        is_left = old not in trigger.get("not_from", ())
        is_reached = trigger.get("to") in (None, new)
        fired += old != new and is_left and is_reached and new != "unavailable"
    return fired


@pytest.mark.parametrize("each", examples(), ids=lambda each: str(each["alias"]))
def test_a_restart_is_no_news(each: dict[str, Any]) -> None:
    """What comes back from `unavailable` or `unknown` runs no automation; a change does."""
    (trigger,) = each["triggers"]
    old, new = ("off", "on") if "to" in trigger else ("00:46:58", "00:57:22")

    assert runs(trigger, old, new) == 1
    assert runs(trigger, new, "unavailable", new) == 0
    assert runs(trigger, new, "unavailable", "unknown", new) == 0
    assert runs(trigger, "unknown", old, new) == 1


def test_the_recipe_sends_events_of_the_pack() -> None:
    """What the automations publish is read as an event, of a type that `home` declares."""
    pack = YAML(typ="safe").load(ROOT / "packs" / "home" / "manifest.yaml")
    declared = {each["type"] for each in pack["events"]}
    calls = [part for each in examples() for part in each["actions"]]
    sent = [each["data"] for each in calls if each["action"] == "mqtt.publish"]

    assert len(sent) == 3
    for each in sent:
        base, agent, source, type_ = each["topic"].split("/")
        assert (base, agent, source) == ("in", "ada", "home")
        assert type_ in declared
        body = rendered(
            each["payload"],
            area_name=lambda _: None,
            is_state=lambda *_: True,
            trigger={"entity_id": "x"},
        )
        fields = json.loads(body)
        Sensed.from_fields({"source": source, "type": type_, **fields})


def test_rapport_is_shown_by_a_name_of_any_script() -> None:
    """Its state is found by the token, as the state of the mind has it."""
    name = "Zoë"
    made = document(TOPICS, (name,), may_control=False)
    shown = made["components"][f"rapport_{token_of(name)}"]
    known = rapport({"rapport": {token_of(name): 0.75}}, (name,))

    assert shown["name"] == "Rapport with Zoë"
    template = jinja2.Template(shown["value_template"])
    assert template.render(value_json=known) == "75.0"
