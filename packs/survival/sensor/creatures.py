"""Events about creatures: appeared, near, left or defeated.

Pure functions. Each creature makes one event when it is noticed, one each time a hostile
one comes close, and one when it is gone.
"""

from collections.abc import Iterator

from packs.survival.sensor import words
from packs.survival.sensor.world import HOSTILE, Creature, Observation
from schemas.messages.sensing import Dimension, Fields, Sensed

CLOSE = 2
"""Within how many steps a hostile creature counts as near."""

ATTACKERS = (*HOSTILE, "arrow")


def observe(before: Observation, now: Observation) -> Iterator[Sensed]:
    """Yield what changed among the creatures between two observations of one life."""
    earlier = {creature.number: creature for creature in before.creatures}
    here = {creature.number for creature in now.creatures}
    for creature in now.creatures:
        yield from _seen(earlier.get(creature.number), creature, now)
    # The game counts victories by kind and does not say which creature fell, so the first
    # of the kind that is gone is taken for it.
    fallen = [kind for kind in HOSTILE if _defeats(now, kind) > _defeats(before, kind)]
    for creature in before.creatures:
        if creature.number in here or creature.kind not in _FOLLOWED:
            continue
        if creature.kind in fallen:
            fallen.remove(creature.kind)
            yield _defeated(creature, now)
        else:
            yield _left(creature, now)


def taking_part(kind: str) -> tuple[str, ...]:
    """Return the entities of an event about a creature; an attacker involves the player."""
    if kind == "arrow":
        return ("arrow", "skeleton", "player")
    return (kind, "player") if kind in HOSTILE else (kind,)


def _seen(
    earlier: Creature | None, creature: Creature, now: Observation
) -> Iterator[Sensed]:
    if creature.kind not in _THREAT:
        return
    # A plant that ripens changes its kind and keeps its number.
    if earlier is None or earlier.kind != creature.kind:
        yield _appeared(creature, now)
    elif creature.kind in HOSTILE and creature.distance <= CLOSE < earlier.distance:
        yield _came_close(creature, now)


def _appeared(creature: Creature, now: Observation) -> Sensed:
    salience: dict[Dimension, float]
    if creature.kind in ATTACKERS:
        # One that is first noticed within reach was never reported as coming.
        jump = creature.kind in HOSTILE and creature.distance <= CLOSE
        salience = {"threat": 0.85 if jump else _THREAT[creature.kind]}
    else:
        salience = {"opportunity": 0.8 if now.vitals["food"] <= 5 else 0.3}
    return Sensed(
        type="creature_appeared",
        text=words.appeared(creature, now.step),
        fields=_fields(creature, now),
        salience=salience,
        urgency=0.7 if creature.kind in ATTACKERS else 0.2,
        entities=taking_part(creature.kind),
    )


def _came_close(creature: Creature, now: Observation) -> Sensed:
    return Sensed(
        type="creature_near",
        text=words.near(creature, now.step),
        fields=_fields(creature, now),
        salience={"threat": 0.9 if now.vitals["health"] <= 4 else 0.75},
        urgency=0.9,
        entities=taking_part(creature.kind),
    )


def _left(creature: Creature, now: Observation) -> Sensed:
    return Sensed(
        type="creature_left",
        text=words.left(creature, now.step),
        fields=_fields(creature, now),
        intent="informational",
        entities=(creature.kind,),
    )


def _defeated(creature: Creature, now: Observation) -> Sensed:
    return Sensed(
        type="creature_defeated",
        text=words.defeated(creature.kind),
        fields={"kind": creature.kind, "health": now.vitals["health"]},
        salience={"goal_relevance": 0.5},
        entities=(creature.kind,),
    )


def _defeats(see: Observation, kind: str) -> int:
    return see.achievements[f"defeat_{kind}"]


def _fields(creature: Creature, now: Observation) -> Fields:
    where: Fields = {
        "kind": creature.kind,
        "distance": creature.distance,
        "direction": words.direction(creature.dx, creature.dy),
    }
    if creature.kind not in (*HOSTILE, "cow"):
        return where
    return where | {
        "health": now.vitals["health"],
        "food": now.vitals["food"],
        "sword": any(
            now.inventory[f"{stuff}_sword"] for stuff in ("wood", "stone", "iron")
        ),
    }


_THREAT = {"zombie": 0.6, "skeleton": 0.6, "arrow": 0.7, "cow": 0.0, "ripe_plant": 0.0}
"""The threat of each reported kind, seen from afar."""

_FOLLOWED = (*HOSTILE, "cow")
"""The kinds that make an event when they are gone."""
