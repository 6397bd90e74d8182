"""A world that does what it is told at once: it gathers, makes, builds and puts down."""

import json
from collections.abc import Mapping
from typing import Any

from handlers.mind.turn import Turn
from schemas.messages.arms import Action
from schemas.messages.asks import DeliveryAsked
from schemas.messages.characters import PlanSet
from schemas.messages.decisions import Decided
from schemas.messages.results import ClockTicked
from schemas.packs.compiled import CompiledPack
from tests import factories
from tests.handlers.mind.characters.village import HUNGRY, villager
from tests.scenario import Scenario, said

# The costs of the source design, and further ones of its code.
BUILDINGS: Mapping[str, Any] = {
    "tent": {"costs": {"wood": 5, "cloth": 10}},
    "storage-chest": {"costs": {"wood": 10}, "limit": 2},
    "campfire": {"costs": {"wood": 5, "stone": 10}, "per_head": 0.5, "limit": 10},
    "bed": {"costs": {"wood": 10, "plant_fiber": 15}},
}
RECIPES: Mapping[str, Any] = {
    "cloth": {"takes": {"plant_fiber": 1}},
    "rope": {"takes": {"plant_fiber": 3}},
    "wood_plank": {"takes": {"wood": 2}, "makes": 4},
}
TACTICS: Mapping[str, Any] = {
    "buildings": BUILDINGS,
    "recipes": RECIPES,
    "full": "inventory_full = true",
}


def pack(**mind: Any) -> CompiledPack:
    """A villager who works off a plan, and eats when it is hungry."""
    tactics = mind.pop("tactics", {})
    works = {"tactics": {**TACTICS, **tactics}} if tactics is not None else {}
    return villager(
        **{
            "layers": ["reflex", "queue"],
            "needs": {"hunger": {"field": "needs.hunger"}},
            "reflexes": [HUNGRY],
            "behaviours": {
                "seek_food": {"priority": 40},
                "wander": {"priority": 5},
                "build": {"priority": 55},
                "gather": {"priority": 15},
                "deposit_items": {"priority": 60},
            },
            **works,
            **mind,
        }
    )


class Worksite:
    """A character and its world; the stockpile may be that of several."""

    def __init__(
        self, scenario: Scenario, stockpile: dict[str, int] | None = None
    ) -> None:
        self.scenario = scenario
        self.carried: dict[str, int] = {}
        self.stockpile = {} if stockpile is None else stockpile
        self.buildings: dict[str, int] = {}
        self.deeds: list[str] = []
        """What was asked of the world, in words."""
        self.decision_id = ""
        """The latest action's."""

    @property
    def plan(self) -> Any:
        """What the character plans."""
        return self.scenario.mind.character.plan

    def plans(self, **control: Any) -> Turn:
        """Set a plan by hand."""
        return self.scenario.control(PlanSet.from_fields(control))

    def report(self, *, hunger: float = 1.0, **fields: Any) -> Turn:
        """Report the body, and what lies about."""
        more = {
            name: fields.pop(name)
            for name in ("in_reply_to", "outcome")
            if name in fields
        }
        told = {
            "needs": {"hunger": hunger},
            "inventory": dict(self.carried),
            "stockpile": dict(self.stockpile),
            "buildings": dict(self.buildings),
            "health": 1,
            **fields,
        }
        return self.noted(
            self.scenario.sense(
                "It stands there.", source="world", type_="body", fields=told, **more
            )
        )

    def noted(self, turn: Turn) -> Turn:
        """Note what a turn asks of the world."""
        for each in said(turn, DeliveryAsked):
            if each.action is not None and each.channel == "act":
                self.deeds.append(words(each.action))
                self.decision_id = each.decision_id
        return turn

    def tick(self, seconds: float = 1.0) -> Turn:
        """Let time pass."""
        self.scenario.wait(seconds)
        return self.noted(self.scenario.tell(ClockTicked(due_at=self.scenario.at)))

    def do(self, turn: Turn, **fields: Any) -> Turn:
        """Do what a turn asks for, and report that it is done."""
        (action,) = (
            each.action
            for each in said(turn, DeliveryAsked)
            if each.action is not None and each.channel == "act"
        )
        self._obey(action)
        self.scenario.wait(3)
        reply = {"in_reply_to": self.decision_id, "outcome": "succeeded"}
        return self.report(**{**reply, **fields})

    def run(self, turn: Turn, most: int = 60) -> Turn:
        """Do what is asked for until nothing more is."""
        for _ in range(most):
            if not said(turn, DeliveryAsked):
                return turn
            turn = self.do(turn)
        raise AssertionError(f"it never ends: {self.deeds[-5:]}")

    def fails(self, outcome: str = "failed") -> Turn:
        """Report that the latest action came to nothing."""
        return self.report(in_reply_to=self.decision_id, outcome=outcome)

    def _obey(self, action: Action) -> None:
        amount, target = action.params.get("amount"), action.target or ""
        amount = amount if isinstance(amount, int) else 0
        if action.type == "gather":
            _add(self.carried, target, amount)
        elif action.type == "craft":
            recipe = RECIPES[target]
            rounds = -(-amount // recipe.get("makes", 1))
            for item in recipe["takes"]:
                self._take(item, recipe["takes"][item] * rounds)
            _add(self.carried, target, amount)
        elif action.type == "build":
            costs = BUILDINGS[target]["costs"]
            for item in costs:
                self._take(item, costs[item])
            _add(self.buildings, target, 1)
        elif action.type == "deposit_items":
            for item in sorted(self.carried):
                _add(self.stockpile, item, self.carried.pop(item))

    def _take(self, item: str, amount: int) -> None:
        own = min(self.carried.get(item, 0), amount)
        _add(self.carried, item, -own)
        _add(self.stockpile, item, own - amount)
        assert self.stockpile.get(item, 0) >= 0, f"there is too little {item}"


def words(action: Action) -> str:
    """An action in words, for tables of what was done."""
    amount, build = action.params.get("amount"), action.params.get("for")
    told = [action.type, str(amount) if amount else None, action.target]
    return " ".join(each for each in (*told, f"for {build}" if build else None) if each)


def _add(held: dict[str, int], item: str, amount: int) -> None:
    held[item] = held.get(item, 0) + amount


def site(stockpile: dict[str, int] | None = None, **mind: Any) -> Worksite:
    """A character on its own at a worksite."""
    return Worksite(Scenario(pack(**mind), agent="aria"), stockpile)


def verdict(decided: Decided, layer: str) -> tuple[str, str | None]:
    """What a layer came to, and by which rule."""
    (found,) = (each for each in decided.layers or () if each.layer == layer)
    return found.verdict, found.rule


def reply(scenario: Scenario, asked: Turn, told: Any) -> Turn:
    """Let the model answer."""
    text = told if isinstance(told, str) else json.dumps(told)
    return scenario.answer_model(asked, text)


MODEL = factories.MODEL
