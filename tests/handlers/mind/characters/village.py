"""A villager to test with: the reflexes of the source design, as data."""

from collections.abc import Mapping
from typing import Any

from schemas.packs.compiled import CompiledPack
from tests import factories

BEHAVIOURS: Mapping[str, Mapping[str, Any]] = {
    "forced_sleep": {"priority": 100, "interruptible": False},
    "seek_food": {"priority": 40},
    "seek_sleep": {"priority": 30},
    "flee": {"priority": 95, "interruptible": False},
    "wander": {"priority": 5, "interrupts": True},
}

HUNGRY: Mapping[str, Any] = {
    "name": "hungry",
    "when": "hunger < 0.6",
    "behaviour": "seek_food",
    "priority": 40,
}

REFLEXES: tuple[Mapping[str, Any], ...] = (
    {"name": "exhausted", "when": "energy <= 0", "behaviour": "forced_sleep"},
    {
        "name": "tired",
        "when": "energy < 0.15",
        "behaviour": "seek_sleep",
        "priority": 85,
    },
    HUNGRY,
    {
        "name": "starving",
        "when": "hunger < 0.1",
        "behaviour": "seek_food",
        "priority": 80,
    },
    {"name": "bored", "when": "idle_s >= 5", "behaviour": "wander", "priority": 10},
)


def villager(**mind: Any) -> CompiledPack:
    """A pack whose agents are villagers with hunger, energy and five reflexes."""
    return factories.pack(
        name="village",
        types=("chatter",),
        events=[{"type": "body", "means": "body"}, {"type": "completed"}],
        mind={
            "layers": ["reflex"],
            "needs": {
                "hunger": {"field": "needs.hunger", "rate": "rates.hunger"},
                "energy": {"field": "needs.energy", "rate": "rates.energy", "met": 100},
            },
            "absent": {"dead": "health <= 0", "player_controlled": "player = true"},
            "behaviours": BEHAVIOURS,
            "reflexes": list(REFLEXES),
            **mind,
        },
    )
