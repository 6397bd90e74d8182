"""A villager with all layers as the source design has it, told by the ticks of its traces.

A second there has ten ticks. What it tells of a level from 0 to 100 that rises with need is
converted at the pack's edge: a hunger of 80 is a satisfaction of .2.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from schemas.messages.asks import ModelAsked
from schemas.messages.results import ClockTicked
from tests.handlers.mind.characters import planners
from tests.handlers.mind.characters.worksite import MODEL, Worksite, pack, reply
from tests.scenario import Scenario, said

NEEDS: Mapping[str, Any] = {
    "hunger": {"field": "needs.hunger", "unmet": 100, "met": 0},
    "energy": {"field": "energy", "met": 100},
    "social_depth": {"field": "social_depth"},
}
HUNGRY = {"name": "hungry", "when": "hunger < 0.6", "behaviour": "seek_food"}

TALKER: Mapping[str, Any] = {
    "who": "You are Aria, a creative and extroverted villager.",
    "lines": [
        {"label": "Temperature", "field": "temperature"},
        {"label": "Location", "field": "location"},
        {"label": "Weather", "field": "weather"},
        {"label": "You can see", "field": "sees"},
        {"label": "Nearby agents", "field": "people"},
    ],
    "tools": [{"name": "talk", "when": "anybody_near = true"}],
    "memories": 5,
}
TACTICS: Mapping[str, Any] = {
    "remember": "create_memory",
    "buildings": {
        "tent": {"costs": {"wood": 5, "cloth": 10}},
        "storage-chest": {"costs": {"wood": 10}},
        "lean-to": {"costs": {"wood": 10, "leaves": 5}},
        "campfire": {"costs": {"wood": 5, "stone": 10}},
        "workbench": {"costs": {"wood": 20}},
        "forge": {"costs": {"stone": 25, "wood": 10}},
        "bed": {"costs": {"wood": 10, "plant_fiber": 15}},
    },
    "recipes": {
        "cloth": {"takes": {"plant_fiber": 1}},
        "rope": {"takes": {"plant_fiber": 3}},
        "wood_plank": {"takes": {"wood": 2}},
    },
}


class Trace:
    """A villager with all layers, told by ticks, and who of its models is asked when."""

    def __init__(
        self,
        *,
        talker: Mapping[str, Any],
        executor: Mapping[str, Any] | None = None,
        **mind: Any,
    ) -> None:
        known = pack(
            **{
                "layers": ["reflex", "queue", "talker", "executor"],
                "needs": NEEDS,
                "reflexes": [HUNGRY],
                "tactics": TACTICS,
                "talker": {**TALKER, **talker},
                "executor": {**planners.EXECUTOR, **(executor or {})},
                "synonyms": planners.SYNONYMS,
                **mind,
            }
        )
        self.world = Worksite(Scenario(known, agent="aria", model=MODEL))
        self.start = self.world.scenario.at
        self.asked: list[tuple[float, str]] = []

    def until(self, tick: float) -> None:
        """Let the villager think whenever it means to until a tick."""
        scenario = self.world.scenario
        end = self.start + timedelta(seconds=tick / 10)
        while (due := scenario.mind.character.due) is not None and due < end:
            scenario.at = max(due, scenario.at)
            self._noted(self.world.noted(scenario.tell(ClockTicked(due_at=due))))
        scenario.at = end

    def tick(self, tick: float) -> Any:
        """Let the villager think at a tick."""
        self.until(tick)
        at = self.world.scenario.at
        return self._noted(
            self.world.noted(self.world.scenario.tell(ClockTicked(due_at=at)))
        )

    def report(self, tick: float, **fields: Any) -> Any:
        """Report the body at a tick."""
        self.until(tick)
        return self._noted(self.world.report(**fields))

    def hears(self, tick: float, type_: str, text: str = "x", **fields: Any) -> Any:
        """Let the place tell the villager something."""
        self.until(tick)
        told = {"agent": "clearing", "conversation": "c", **fields}
        turn = self.world.scenario.sense(text, source="agent", type_=type_, fields=told)
        return self._noted(turn)

    def answers(self, turn: Any, told: Any) -> Any:
        """Let the model that a turn asks answer at once."""
        return self.world.noted(reply(self.world.scenario, turn, told))

    def _noted(self, turn: Any) -> Any:
        for each in said(turn, ModelAsked):
            seconds = (self.world.scenario.at - self.start).total_seconds()
            self.asked.append((seconds * 10, each.purpose))
        return turn
