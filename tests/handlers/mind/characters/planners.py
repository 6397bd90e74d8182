"""A villager whose executor plans, and what is said to it."""

from typing import Any

from schemas.messages.characters import AimsSet
from tests.handlers.mind.characters.worksite import MODEL, Worksite, pack, reply
from tests.scenario import Scenario

TOOLS = [
    "plan_build",
    "set_priorities",
    "craft",
    "gather",
    "pick",
    "till",
    "farm",
    "plant",
    "explore",
    "research",
    "tame_animal",
    "house_animal",
    "hunt",
    "butcher",
    "initiate_combat",
    "go_to",
    "create_memory",
    "deposit_items",
    "cancel_current_task",
    "cancel_planned_build",
    "sleep_until_queue_complete",
]

# The map of the source design's code.
SYNONYMS = {
    **dict.fromkeys(("get", "take", "grab"), "pick"),
    **dict.fromkeys(("stockpile", "collect", "harvest", "forage"), "gather"),
    **dict.fromkeys(("search", "scout"), "explore"),
    **dict.fromkeys(("construct", "make", "create"), "build"),
    **dict.fromkeys(("sow", "seed"), "plant"),
    **dict.fromkeys(("prioritize", "focus"), "set_priorities"),
    "plow": "till",
    "tame": "tame_animal",
}

EXECUTOR: dict[str, Any] = {
    "who": "You are {name}, a creative villager.",
    "lines": [{"label": "An urge", "field": "urge"}],
    "busy": "in_conversation = true",
    "urgent": "in_combat = true",
    "tools": [
        *({"name": name} for name in TOOLS),
        {"name": "build", "when": "skills.building >= 1"},
    ],
}

ARIA_PLANS: dict[str, Any] = {
    "thinking": "My goal is to build a home. I should plan a tent first.",
    "action": [
        {
            "type": "plan_build",
            "building": "tent",
            "priority": "high",
            "reason": "immediate shelter",
        },
        {
            "type": "plan_build",
            "building": "storage-chest",
            "priority": "normal",
            "reason": "organize resources",
        },
        {"type": "craft", "recipe": "cloth", "amount": 20},
        {
            "type": "set_priorities",
            "priorities": {"building": 90, "gathering": 60, "social": 30},
        },
    ],
}


def site(
    stockpile: dict[str, int] | None = None, agent: str = "aria", **mind: Any
) -> Worksite:
    """A villager who plans, with a model; further layers and parts by name."""
    executor = {**EXECUTOR, **mind.pop("executor", {})}
    planner = pack(
        **{
            "layers": ["reflex", "queue", "executor"],
            "executor": executor,
            "synonyms": SYNONYMS,
            **mind,
        }
    )
    return Worksite(Scenario(planner, agent=agent, model=MODEL), stockpile)


def aimed(site_: Worksite, *aims: str, **priorities: float) -> None:
    """Say what the character is after."""
    told = [{"text": each} for each in aims]
    site_.scenario.control(
        AimsSet.from_fields({"aims": told, "priorities": priorities or None})
    )


def asked(site_: Worksite, *aims: str, **fields: Any) -> Any:
    """Report a body, change what it is after, and return the turn that asks."""
    site_.report(**fields)
    aimed(site_, *(aims or ("Build a cozy home",)))
    return site_.tick()


def planned(site_: Worksite, action: Any) -> Any:
    """Ask the executor, and let its model answer with one action or several."""
    turn = asked(site_)
    return reply(site_.scenario, turn, {"thinking": "So be it.", "action": action})
