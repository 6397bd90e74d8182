"""Good advice in the game: its wordings, and the rule behind it.

This is the ground truth of the bench: person and model look things up here, the mind
never does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from schemas.messages.sensing import Sensed
from schemas.packs import conditions
from schemas.packs.conditions import ParsedWhen

Deed = tuple[str, str]
"""What advice asks for: type and target of an action that the player knows."""

DRINK, EAT, SLEEP = ("seek", "water"), ("hunt", "cow"), ("rest", "sleep")
FIGHT, FLEE, HIDE = ("fight", "zombie"), ("retreat", "zombie"), ("retreat", "skeleton")
WOOD, TOOL, SWORD = ("gather", "wood"), ("make", "wood_pickaxe"), ("make", "wood_sword")
STONE, PLANT, DIG = ("make", "stone_pickaxe"), ("place", "plant"), ("seek", "shelter")

WORDINGS: Mapping[Deed, tuple[str, str, str]] = {
    DRINK: (
        "You are thirsty, so find the nearest water and drink until you have enough.",
        "Go and look for water now, and drink there until your thirst is gone.",
        "Walk to the nearest water and drink as much of it as you can hold.",
    ),
    EAT: (
        "You are hungry, so hunt the nearest cow now and eat all of its meat.",
        "Look for a cow, hunt it down, and eat its meat before you starve.",
        "Find a cow on the grass and eat it, because your food is running low.",
    ),
    SLEEP: (
        "You are tired, so lie down right here and sleep until you are rested.",
        "Lie down and sleep for a while now, until your strength has come back.",
        "Go to sleep now, for you need rest and there is little else to do.",
    ),
    FIGHT: (
        "A zombie is upon you: turn round, face the zombie and strike it down.",
        "You are strong enough, so face the zombie and fight until it is dead.",
        "Stand your ground against that zombie and hit it until it falls down.",
    ),
    FLEE: (
        "You are too weak to fight the zombie, so run away from it right now.",
        "Run away from that zombie as fast as you can, for you are wounded badly.",
        "Do not fight while you are hurt: get far away from every zombie around.",
    ),
    HIDE: (
        "A skeleton shoots arrows here, so turn around and get out of its sight.",
        "Get away from the skeleton and out of the line of its arrows at once.",
        "Leave the cave where the skeleton is before its next arrow can hit you.",
    ),
    WOOD: (
        "Keep on chopping that tree, because four wood are enough for table and tools.",
        "Collect more wood from the trees here until you have at least four wood.",
        "Chop more trees for wood, since a table and the first tools need four.",
    ),
    TOOL: (
        "You have enough wood now, so place a table and make a wood pickaxe there.",
        "Put down a table with your wood and make yourself a pickaxe beside it.",
        "Make a wood pickaxe next to a table, because the wood you have is enough.",
    ),
    SWORD: (
        "While you stand at the table, make a wood sword from the wood you have.",
        "Make a sword of wood as well now, as you are still beside the table.",
        "Use the table once more and make a wood sword to fight the zombies with.",
    ),
    STONE: (
        "Take the stone to your table and make a stone pickaxe, which digs better.",
        "Go back to the table with that stone and make a pickaxe out of stone.",
        "With stone in your bag you should make a stone pickaxe beside a table.",
    ),
    PLANT: (
        "Plant the sapling in the grass here, so that it feeds you one day.",
        "Put that sapling into the grass, and it will grow into food for you.",
        "Place the sapling on a piece of grass now and eat from it later on.",
    ),
    DIG: (
        "Night is coming, so dig yourself into the stone and close the entrance behind.",
        "Dig a shelter into stone before it is dark and close it behind yourself.",
        "Find stone, dig a hole to hide in for the night, and shut the entrance.",
    ),
}
"""Every piece of advice in three wordings of ten words or more."""


@dataclass(frozen=True, slots=True)
class Case:
    """A situation, what is good in it, and how it may be put in general."""

    when: str
    deed: Deed
    condition: str


CASES = (
    Case(
        'type = "vital_changed" and vital = "drink" and value <= 5',
        DRINK,
        "your drink is down to a low value and you are getting thirsty",
    ),
    Case(
        'type = "damage_taken" and cause = "thirst"',
        DRINK,
        "damage taken because thirst cost you health and only little health is left",
    ),
    Case(
        'type = "vital_changed" and vital = "food" and value <= 5',
        EAT,
        "your food is down to a low value and you are getting hungry",
    ),
    Case(
        'type = "damage_taken" and cause = "hunger"',
        EAT,
        "damage taken because hunger cost you health and only little health is left",
    ),
    Case(
        'type = "creature_appeared" and kind = "cow" and food <= 5',
        EAT,
        "you see a cow that stands some steps away while your food is low",
    ),
    Case(
        'type = "vital_changed" and vital = "energy" and value <= 3',
        SLEEP,
        "your energy is down to a low value and you are getting very tired",
    ),
    Case(
        'type = "damage_taken" and cause = "exhaustion"',
        SLEEP,
        "damage taken because exhaustion cost you health and only little health is left",
    ),
    Case(
        'type = "vital_changed" and vital = "health" and value <= 3',
        FLEE,
        "your health is down to a low value and you are badly hurt",
    ),
    Case(
        'type = "creature_near" and kind = "zombie" and health >= 5',
        FIGHT,
        "a zombie is very close and coming at you while you are healthy",
    ),
    Case(
        'type = "creature_near" and kind = "zombie" and health <= 4',
        FLEE,
        "a zombie is very close and coming at you while you are wounded",
    ),
    Case(
        'type = "damage_taken" and cause = "zombie" and health >= 4',
        FIGHT,
        "damage taken because a zombie hit you while your health is still good",
    ),
    Case(
        'type = "damage_taken" and cause = "zombie" and health <= 3',
        FLEE,
        "damage taken because a zombie hit you and your health is very low",
    ),
    Case(
        'type in ["creature_appeared", "creature_near"] and kind in ["skeleton", "arrow"]',
        HIDE,
        "you see a skeleton with a bow near or an arrow flies at you",
    ),
    Case(
        'type = "damage_taken" and cause in ["skeleton", "arrow"]',
        HIDE,
        "damage taken because an arrow of a skeleton struck you and cost you health",
    ),
    Case(
        'type = "inventory_changed" and item = "wood" and count in [1, 2]'
        " and wood_pickaxe = false",
        WOOD,
        "you have collected some wood but not enough yet to build with it",
    ),
    Case(
        'type = "inventory_changed" and item = "wood" and count >= 4'
        " and wood_pickaxe = false",
        TOOL,
        "you have collected 4 wood, which is enough to build a table with",
    ),
    Case(
        'type = "achievement_unlocked" and achievement = "make_wood_pickaxe"',
        SWORD,
        "achievement unlocked: you made a wood pickaxe and stand beside the table",
    ),
    Case(
        'type = "inventory_changed" and item = "stone" and count >= 1'
        " and stone_pickaxe = false",
        STONE,
        "you have collected some stone but you have no stone pickaxe yet",
    ),
    Case(
        'type = "achievement_unlocked" and achievement = "collect_sapling"',
        PLANT,
        "achievement unlocked: you collected a sapling that can be planted in grass",
    ),
    Case(
        'type = "daylight_changed" and turn = "dusk" and pickaxe = true',
        DIG,
        "it is getting dark and the night is coming while you have tools",
    ),
    Case(
        'type = "daylight_changed" and turn = "night"',
        SLEEP,
        "night has fallen and it is dark now, so there is little to see",
    ),
)
"""The first that holds of an event is its case; where none does, silence is best."""

_DEEDS = {text: deed for deed, texts in WORDINGS.items() for text in texts}


def case_of(event: Sensed) -> Case | None:
    """Return the case that an event is of."""
    return next((each for each in CASES if holds(each.when, event)), None)


def holds(when: str, event: Sensed) -> bool:
    """Tell whether a test holds of an event."""
    parsed = _parsed(when)
    return conditions.holds(parsed, event.type, event.source, event.fields)


def deed_of(text: str) -> Deed | None:
    """Return what a person understands by these words."""
    return _DEEDS.get(text)


def is_good(text: str, event: Sensed) -> bool:
    """Tell whether these words are good advice after an event."""
    case = case_of(event)
    return case is not None and deed_of(text) == case.deed


@cache
def _parsed(when: str) -> ParsedWhen:
    return conditions.parse(when)
