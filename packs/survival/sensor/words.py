"""The texts of the sensor's events: one or two English sentences each.

Wording varies with the step, as a person's would, but keeps the words of the pack's
conditions and outcome patterns, which are matched against it.
"""

from collections.abc import Sequence

from packs.survival.sensor.world import Creature

_FULL = 9


def low(name: str, value: int, step: int) -> str:
    """Say that a vital fell to a threshold."""
    level = 0 if value == 0 else 1 if value <= 2 else 2 if value <= 3 else 3
    how = _pick(_FALLEN[level], step).format(name=name, value=value)
    return how if level == 3 else how + _pick(_FEELINGS[name][level], step)


def restored(name: str, value: int) -> str:
    """Say that a vital has recovered."""
    return f"Your {name} is restored to {value} of {_FULL}."


def damage(cause: str, lost: int, health: int, step: int) -> str:
    """Say that health was lost, and by what."""
    if cause in _CAUSES:
        return f"Damage taken: {cause} cost you {lost} health, {health} is left."
    how = _pick(("hit you", "struck you", "attacked you"), step)
    who = f"{_article(cause)} {cause}" if cause != "unknown" else "something"
    return f"Damage taken: {who} {how} for {lost}, your health is {health} of {_FULL}."


def death(cause: str, life: int) -> str:
    """Say that the player died.

    It names neither creature nor vital: otherwise a pattern could match, and advice on one
    of those would be credited with what happens in the next life.
    """
    which = f"Life {life}" if life > 1 else "The first life"
    return f"The player died {_DEATHS[cause]}. {which} is over."


def life_started(life: int) -> str:
    """Say that a game begins, or begins again."""
    if life == 1:
        return "A new game starts: you wake up in an unknown land, healthy and rested."
    return f"A new life starts, number {life}: you wake up in another unknown land."


def appeared(creature: Creature, step: int) -> str:
    """Say that a creature came into view."""
    return _pick(_APPEARED[creature.kind], step).format(where=_where(creature))


def near(creature: Creature, step: int) -> str:
    """Say that a hostile creature is close."""
    return _pick(_NEAR, step).format(
        article=_article(creature.kind).capitalize(),
        kind=creature.kind,
        where=_where(creature),
    )


def left(creature: Creature, step: int) -> str:
    """Say that a creature went out of view."""
    seen = direction(creature.dx, creature.dy)
    return _pick(_LEFT, step).format(kind=creature.kind, direction=seen)


def defeated(kind: str) -> str:
    """Say that the player killed a hostile creature."""
    return f"The {kind} is defeated."


def slept(energy: int) -> str:
    """Say that the player fell asleep."""
    return f"You fell asleep with {energy} of {_FULL} energy."


def woke(energy: int, hurt: bool) -> str:
    """Say that the player woke up."""
    if hurt:
        return f"You were woken by an attack, with {energy} of {_FULL} energy."
    return f"You woke up rested, with {energy} of {_FULL} energy."


def achievement(name: str) -> str:
    """Say what was achieved for the first time in this life."""
    return f"Achievement unlocked: {_ACHIEVED.get(name, plain(name))}."


def item(name: str, count: int) -> str:
    """Say that an item reached a count that matters."""
    if count == 0:
        return f"You have no {plain(name)} left."
    if count == 1:
        return f"You have collected 1 {plain(name)}."
    return f"You have collected {count} {plain(name)}, enough to build with."


def daylight(turn: str) -> str:
    """Say how the light changed."""
    return _LIGHT[turn]


def report(doing: str, outcome: str, reason: str) -> str:
    """Say how advice turned out."""
    return _REPORTS[outcome].format(doing=doing, reason=reason)


def direction(dx: int, dy: int) -> str:
    """Return the compass direction of an offset, one of eight, or "here"."""
    if dx == dy == 0:
        return "here"
    # A side at least twice as long as the other counts as straight: sectors of about 53
    # degrees for the four sides and 37 for the diagonals.
    if abs(dx) >= 2 * abs(dy):
        return "east" if dx > 0 else "west"
    if abs(dy) >= 2 * abs(dx):
        return "south" if dy > 0 else "north"
    return f"{'south' if dy > 0 else 'north'}-{'east' if dx > 0 else 'west'}"


def plain(token: str) -> str:
    """Return a token of the game in plain words."""
    return token.replace("_", " ")


def _where(creature: Creature) -> str:
    steps = creature.distance
    side = direction(creature.dx, creature.dy)
    return f"{steps} step{'s' if steps != 1 else ''} to the {side}"


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"


def _pick(choices: Sequence[str], step: int) -> str:
    # By the step and not at random: the same game has the same words in every run.
    return choices[step % len(choices)]


_FALLEN = (
    ("Your {name} is gone, 0 of 9", "Your {name} is down to zero"),
    ("Your {name} is very low, {value} of 9", "Your {name} is only {value} of 9"),
    ("Your {name} is down to {value} of 9", "Your {name} is low, {value} of 9"),
    ("Your {name} is down to {value} of 9.", "Your {name} has fallen to {value} of 9."),
)
_FEELINGS = {
    "drink": (
        (": you are dying of thirst.",),
        (": you are very thirsty.", ": you are parched and thirsty."),
        (": you are getting thirsty.", " and you are thirsty."),
    ),
    "food": (
        (": you are starving.",),
        (": you are very hungry.", ": you are weak with hunger."),
        (": you are getting hungry.", " and you are hungry."),
    ),
    "energy": (
        (": you are falling over with tiredness.",),
        (": you are exhausted and tired.", ": you are very tired."),
        (": you are getting tired.", " and you are sleepy."),
    ),
    "health": (
        (": you are dying.",),
        (": you are badly wounded.", ": you are hurt and close to death."),
        (": you are wounded.", " and you are hurt."),
    ),
}
_DEATHS = {
    "combat": "in combat",
    "no_water": "for lack of water",
    "no_meals": "for lack of meals",
    "no_sleep": "for lack of sleep",
    "unknown": "of unknown causes",
}
_CAUSES = ("thirst", "hunger", "exhaustion")
_APPEARED = {
    "zombie": (
        "A zombie is {where}.",
        "A zombie comes into view {where}.",
        "You see a zombie {where}.",
    ),
    "skeleton": ("A skeleton is {where}.", "You see a skeleton with a bow {where}."),
    "arrow": ("An arrow flies at you from {where}.",),
    "cow": (
        "A cow is grazing {where}.",
        "You see a cow {where}.",
        "A cow stands {where}.",
    ),
    "ripe_plant": ("A ripe plant is {where}.",),
}
_NEAR = (
    "{article} {kind} is close, {where}.",
    "{article} {kind} is coming at you, {where}.",
    "{article} {kind} is very close to you, {where}.",
)
_LEFT = (
    "The {kind} is gone, last seen to the {direction}.",
    "The {kind} is gone from view to the {direction}.",
)
_ACHIEVED = {
    "collect_drink": "you drank water",
    "collect_sapling": "you collected a sapling",
    "collect_wood": "you collected wood",
    "collect_stone": "you collected stone",
    "collect_coal": "you collected coal",
    "collect_iron": "you collected iron",
    "collect_diamond": "you found a diamond",
    "defeat_zombie": "you defeated a zombie",
    "defeat_skeleton": "you defeated a skeleton",
    "eat_cow": "you ate a cow",
    "eat_plant": "you ate a ripe plant",
    "make_wood_pickaxe": "you made a wood pickaxe",
    "make_stone_pickaxe": "you made a stone pickaxe",
    "make_iron_pickaxe": "you made an iron pickaxe",
    "make_wood_sword": "you made a wood sword",
    "make_stone_sword": "you made a stone sword",
    "make_iron_sword": "you made an iron sword",
    "place_furnace": "you placed a furnace",
    "place_plant": "you planted a sapling",
    "place_stone": "you placed a stone",
    "place_table": "you placed a table",
    "wake_up": "you slept and woke up",
}
_LIGHT = {
    "dusk": "It is getting dark, the night is coming.",
    "night": "Night has fallen and it is dark.",
    "dawn": "The night is over, it is getting light.",
    "day": "It is bright day again.",
}
_REPORTS = {
    "succeeded": "The advice to {doing} worked: the player {reason}.",
    "failed": "The advice to {doing} failed: {reason}.",
    "overridden": "The advice to {doing} was overridden: {reason}.",
    "cancelled": "The advice to {doing} was cancelled: {reason}.",
}
