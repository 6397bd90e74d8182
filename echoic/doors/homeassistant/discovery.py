"""The document by which Home Assistant learns of the device and its entities.

Device discovery: one retained message names the device and all of its entities, each by its
platform (https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload; since
Home Assistant 2024.11).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from schemas.values.persons import token_of

EVENT_TYPES = ("spoke", "acted", "silent", "dropped")
"""What a decision came to."""

_STATE_CHARACTERS = 255
"""Of an entity's state; Home Assistant refuses a longer one."""

_VOTE = (
    """{"rating": "RATING", "decision_id": """
    """{{ (state_attr(entity_id, 'decision_id') or '') | tojson }}}"""
)
"""What a button sends: it has the attributes of what was said last, as that is shown."""


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of an agent's device."""

    agent: str
    prefix: str = "homeassistant"

    @property
    def config(self) -> str:
        """Where the device is announced."""
        return f"{self.prefix}/device/echoic_{self.agent}/config"

    @property
    def status(self) -> str:
        """Where Home Assistant says that it has started."""
        return f"{self.prefix}/status"

    def __getitem__(self, name: str) -> str:
        """Return the topic of a state, or of a command."""
        return f"echoic/{self.agent}/{name}"


def document(
    topics: Topics, persons: Sequence[str], *, may_control: bool
) -> dict[str, Any]:
    """Return the document; with `may_control` the device has a switch to mute the agent."""
    agent = topics.agent
    components = {
        "said": _last_words(topics),
        "decision": {
            "platform": "event",
            "name": "Decision",
            "icon": "mdi:thought-bubble",
            "state_topic": topics["decision"],
            "event_types": list(EVENT_TYPES),
        },
        "up": _button(topics, "positive", "That was good", "mdi:thumb-up"),
        "down": _button(topics, "negative", "That was not good", "mdi:thumb-down"),
        **{f"rapport_{token_of(each)}": _rapport(topics, each) for each in persons},
    }
    if may_control:
        components["mute"] = {
            "platform": "switch",
            "name": "Mute",
            "icon": "mdi:volume-off",
            "state_topic": topics["mute"],
            "command_topic": topics["mute/set"],
        }
    return {
        "device": {
            "identifiers": [f"echoic_{agent}"],
            "name": agent,
            "manufacturer": "Echoic",
            "model": "companion",
        },
        "origin": {"name": "echoic", "sw_version": version("echoic")},
        "availability_topic": topics["available"],
        "components": {
            name: {"unique_id": f"echoic_{agent}_{name}", **each}
            for name, each in components.items()
        },
    }


def _last_words(topics: Topics) -> dict[str, Any]:
    words = f"{{{{ value_json.text | truncate({_STATE_CHARACTERS}, True, '…', 0) }}}}"
    return {
        "platform": "sensor",
        "name": "Last words",
        "icon": "mdi:message-text",
        "state_topic": topics["said"],
        "value_template": words,
        "json_attributes_topic": topics["said"],
    }


def _rapport(topics: Topics, person: str) -> dict[str, Any]:
    token = token_of(person)
    # Home Assistant takes `None` for a state that is not known.
    share = f"(value_json['{token}'] * 100) | round(1)"
    template = f"{{{{ {share} if '{token}' in value_json else None }}}}"
    return {
        "platform": "sensor",
        "name": f"Rapport with {person}",
        "icon": "mdi:heart",
        "state_topic": topics["rapport"],
        "value_template": template,
        "unit_of_measurement": "%",
        "state_class": "measurement",
    }


def _button(topics: Topics, rating: str, name: str, icon: str) -> Mapping[str, Any]:
    # The attributes name the decision that is shown, so that a vote is on what was seen, even
    # if another was made meanwhile.
    return {
        "platform": "button",
        "name": name,
        "icon": icon,
        "command_topic": topics["vote"],
        "command_template": _VOTE.replace("RATING", rating),
        "json_attributes_topic": topics["said"],
        "qos": 1,
    }
