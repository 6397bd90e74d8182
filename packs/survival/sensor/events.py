"""From two observations to the events of the change between them.

Pure functions, sparing with events: vitals at thresholds, items when first had or when
they make something possible, creatures when noticed, near or gone.
"""

from collections.abc import Iterator

from packs.survival.sensor import creatures, words
from packs.survival.sensor.world import VITALS, Observation
from schemas.messages.sensing import Dimension, Sensed

_LOW = (5, 3, 2, 1, 0)
"""A vital makes an event when it falls to one of these."""

_RESTORED = 7
"""And when it rises to this; the gap to `_LOW` keeps it from swinging between the two."""

_NEEDED = {"wood": (1, 2, 4), "stone": (1, 4), "coal": (1,), "iron": (1,)}
"""Counts of an item that make something possible."""


def observe(before: Observation, now: Observation) -> tuple[Sensed, ...]:
    """Return the events between two observations of one life, in a fixed order."""
    return (
        *_damage(before, now),
        *_death(before, now),
        *creatures.observe(before, now),
        *_vitals(before, now),
        *_sleep(before, now),
        *_achievements(before, now),
        *_items(before, now),
        *_daylight(before, now),
    )


def greet(now: Observation) -> Sensed:
    """Return the event with which a life starts."""
    return Sensed(
        type="life_started",
        text=words.life_started(now.life),
        fields={"life": now.life},
        intent="informational",
    )


def _damage(before: Observation, now: Observation) -> Iterator[Sensed]:
    lost = before.vitals["health"] - now.vitals["health"]
    if lost <= 0 or not now.alive:
        return
    cause = _cause(before, now)
    health = now.vitals["health"]
    attacked = cause in creatures.ATTACKERS
    yield Sensed(
        type="damage_taken",
        text=words.damage(cause, lost, health, now.step),
        fields={"amount": lost, "health": health, "cause": cause},
        salience={
            "threat": 0.9 if lost > 1 or health <= 2 else 0.6,
            "goal_relevance": 0.7,
        },
        urgency=0.9 if attacked else 0.6,
        entities=creatures.taking_part(cause) if attacked else ("player",),
    )


def _death(before: Observation, now: Observation) -> Iterator[Sensed]:
    if now.alive or not before.alive:
        return
    cause = _DEATHS.get(_cause(before, now), "combat")
    yield Sensed(
        type="player_died",
        text=words.death(cause, now.life),
        fields={"cause": cause, "life": now.life},
        salience={"threat": 0.7, "goal_relevance": 1.0},
        urgency=0.3,
        entities=("player",),
    )


def _cause(before: Observation, now: Observation) -> str:
    """Return the likeliest cause of lost health: an attacker in reach, or an empty vital.

    An empty vital costs 1 at a time: a larger loss is an attacker's.
    """
    lost = before.vitals["health"] - now.vitals["health"]
    empty = [cause for vital, cause in _WANT.items() if not now.vitals[vital]]
    # An arrow that hit is gone, and so is a zombie that was struck down as it hit.
    for see in (now, before):
        attacker = see.nearest(*creatures.ATTACKERS)
        in_reach = attacker is not None and attacker.distance <= creatures.CLOSE
        if attacker is not None and in_reach and (lost > 1 or not empty):
            return attacker.kind
    return empty[0] if empty else "unknown"


def _vitals(before: Observation, now: Observation) -> Iterator[Sensed]:
    for vital in VITALS:
        value, previous = now.vitals[vital], before.vitals[vital]
        # A mark counts when it is crossed, also if a loss of several skips over it.
        fell = any(value <= mark < previous for mark in _LOW)
        if fell and now.alive:
            yield _vital_fell(vital, value, previous, now.step)
        elif previous < _RESTORED <= value:
            yield Sensed(
                type="vital_changed",
                text=words.restored(vital, value),
                fields={"vital": vital, "value": value, "previous": previous},
                salience={"goal_relevance": 0.2},
                urgency=0.0,
                entities=("player",),
            )


def _vital_fell(vital: str, value: int, previous: int, step: int) -> Sensed:
    salience: dict[Dimension, float] = {"goal_relevance": round(1 - 0.1 * value, 2)}
    # At 0 the game takes health instead.
    if value <= 1:
        salience["threat"] = 0.7
    return Sensed(
        type="vital_changed",
        text=words.low(vital, value, step),
        fields={"vital": vital, "value": value, "previous": previous},
        salience=salience,
        urgency=round(0.9 - 0.15 * value, 2),
        entities=("player",),
    )


def _sleep(before: Observation, now: Observation) -> Iterator[Sensed]:
    energy = now.vitals["energy"]
    if now.sleeping and not before.sleeping:
        yield Sensed(
            type="sleep_started",
            text=words.slept(energy),
            fields={"energy": energy},
            intent="informational",
        )
    if before.sleeping and not now.sleeping and now.alive:
        hurt = now.vitals["health"] < before.vitals["health"]
        yield Sensed(
            type="sleep_ended",
            text=words.woke(energy, hurt),
            fields={"energy": energy, "hurt": hurt, "daylight": _phase(now.daylight)},
            salience={"goal_relevance": 0.6 if hurt else 0.4},
        )


def _achievements(before: Observation, now: Observation) -> Iterator[Sensed]:
    for name, count in now.achievements.items():
        if count and not before.achievements[name]:
            yield Sensed(
                type="achievement_unlocked",
                text=words.achievement(name),
                fields={"achievement": name},
                salience={"goal_relevance": 0.8, "social": 0.7},
            )


def _items(before: Observation, now: Observation) -> Iterator[Sensed]:
    for name, marks in _NEEDED.items():
        count, previous = now.inventory[name], before.inventory[name]
        # Crossed upward, or used up: both change what can be built.
        if any(previous < mark <= count for mark in marks) or count == 0 < previous:
            yield Sensed(
                type="inventory_changed",
                text=words.item(name, count),
                fields={"item": name, "count": count, **_tools(now)},
                salience={"opportunity": 0.2 if count == 0 else 0.8},
                entities=(name,),
            )


def _tools(now: Observation) -> dict[str, bool]:
    """Return the fields by which advice on building is chosen."""
    tools = ("wood_pickaxe", "stone_pickaxe", "wood_sword", "stone_sword")
    return {tool: now.inventory[tool] > 0 for tool in tools} | {
        "table": bool(now.achievements["place_table"])
    }


def _daylight(before: Observation, now: Observation) -> Iterator[Sensed]:
    turn = _TURNS.get((_phase(before.daylight), _phase(now.daylight)))
    if turn is not None:
        yield Sensed(
            type="daylight_changed",
            text=words.daylight(turn),
            fields={
                "turn": turn,
                "energy": now.vitals["energy"],
                "pickaxe": now.inventory["wood_pickaxe"] > 0,
            },
            salience={"goal_relevance": 0.6 if turn in ("dusk", "night") else 0.2},
        )


def _phase(daylight: float) -> str:
    """Return day, twilight or night; `daylight` runs from 0 night to 1 noon."""
    # Night begins where the player's own `DARK` lies, below which it stays in its shelter.
    return "day" if daylight >= 0.6 else "twilight" if daylight >= 0.3 else "night"


_WANT = {"drink": "thirst", "food": "hunger", "energy": "exhaustion"}
_DEATHS = {
    "thirst": "no_water",
    "hunger": "no_meals",
    "exhaustion": "no_sleep",
    "unknown": "unknown",
}
_TURNS = {
    ("day", "twilight"): "dusk",
    ("twilight", "night"): "night",
    ("night", "twilight"): "dawn",
    ("twilight", "day"): "day",
}
