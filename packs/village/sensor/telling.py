"""What a villager's mind is told of its body, and when it must be told again."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from packs.village.sensor import climate
from packs.village.sensor.deeds import HEARING, Scene
from packs.village.sensor.land import KINDS, SIZE, Cell, distance
from packs.village.sensor.villager import LOAD, NEEDS, SKILLS, URGES, Villager
from schemas.messages.sensing import Fields, Sensed

SOURCE = "village"
BODY = "body"
PLACE = "clearing"
"""The agent that owns the conversations here."""

AWAKE_S = 60.0
"""How long somebody awake goes without a report, at most."""
_ASLEEP_S = 1_200.0
"""And somebody asleep: a session lapses after half an hour without an event."""

_DEPARTS = 0.05
"""By how much a need differs from what was told of it before it is told anew."""
_TALKS_S = 20.0
"""How long after words began somebody is in a conversation."""
_AT_ONCE = ("alive", "asleep", "frightened", "danger", "bedtime", "storm", "sheltered",
            "dx", "dy", "in_conversation", "has_bed", "meeting")  # fmt: skip
"""Fields whose change is told at once."""


def body(scene: Scene, one: Villager, at: float) -> dict[str, Any]:
    """Return the fields of a report: needs, with their rates, and all that is seen."""
    cell = one.where(at)
    feels, weather = felt(scene, one, at), climate.weather(scene.seed, at)
    dx, dy = one.task.pace(at) if one.task is not None else (0.0, 0.0)
    talks = one.talked_at is not None and at - one.talked_at < _TALKS_S
    told: dict[str, Any] = {"alive": one.died is None, "x": cell[0], "y": cell[1]}
    for name in NEEDS:
        told[name] = round(one.level(name, at), 4)
        told[f"{name}_rate"] = round(one.needs[name].rate, 9)
    near = scene.awake_near(one, at, HEARING)
    return told | {
        "dx": dx, "dy": dy,
        "hour": round(climate.hour(at), 2),
        "time": _time(at),
        "place": scene.land.place_name(cell),
        "weather": weather, "storm": weather == "storm",
        "temperature": climate.outside(scene.seed, at),
        "cold_by": max(round(climate.COMFORT_C[0] - feels, 1), 0.0),
        "hot_by": max(round(feels - climate.COMFORT_C[1], 1), 0.0),
        "danger": _danger(feels),
        "bedtime": _is_bedtime(one, at),
        "asleep": one.is_asleep,
        "sheltered": is_sheltered(scene, one, at),
        "frightened": _is_frightened(scene, one, at),
        "has_bed": one.bed is not None,
        "people": [_seen(each, at) for each in near],
        "anybody_near": bool(near),
        "sees": _sights(scene, one, at),
        "near": _resources(scene, one, at),
        "heard": one.heard if talks else "",
        "in_conversation": talks,
        "inventory": {thing: n for thing, n in sorted(one.carries.items()) if n},
        "inventory_full": sum(one.carries.values()) >= LOAD,
        "stockpile": {thing: n for thing, n in sorted(scene.land.stores.items()) if n},
        "buildings": dict(sorted(Counter(n for n, _ in scene.land.buildings).items())),
        "villagers": len(scene.people),
        "meeting": at < scene.meets_until,
        "skills": dict(SKILLS.get(one.name, {"building": 1})),
        "urge": URGES.get(one.name, "to get along"),
        **one.traits,
    }  # fmt: skip


def is_due(one: Villager, now: Mapping[str, Any], at: float) -> bool:
    """Tell whether a mind must be told: a change, a departure, or nothing for too long."""
    told = one.told
    if not told or at >= latest(one):
        return True
    if any(now[name] != told[name] for name in _AT_ONCE):
        return True
    passed = at - one.told_at
    for name in NEEDS:
        rate = f"{name}_rate"
        expected = min(max(told[name] + told[rate] * passed, 0.0), 1.0)
        if now[rate] != told[rate] or abs(now[name] - expected) > _DEPARTS:
            return True
    away = [abs(now[axis] - told[axis] - told[f"d{axis}"] * passed) for axis in "xy"]
    return bool(max(away) > 1)


def latest(one: Villager) -> float:
    """Return when somebody is reported, though nothing changes."""
    return one.told_at + (_ASLEEP_S if one.is_asleep else AWAKE_S)


def report(one: Villager, now: Mapping[str, Any], text: str, **more: Any) -> Sensed:
    """Return a report as an event; of what was told already it holds what has changed."""
    changed = {name: now[name] for name in now if one.told.get(name, now) != now[name]}
    # Levels belong to their rates and to the time: they are told together or the mind's
    # reckoning would go on from another moment.
    levels = {each: now[each] for need in NEEDS for each in (need, f"{need}_rate")}
    fields = changed | levels
    return Sensed(source=SOURCE, type=BODY, text=text, fields=fields, **more)


def whereabouts(one: Villager, cell: Cell | None) -> Sensed:
    """Return what a place is told of where somebody is; None: it hears nothing there."""
    told: Fields = {"agent": one.name}
    if cell is None:
        text = f"{one.name.capitalize()} hears nothing."
        return Sensed(source=SOURCE, type="gone", text=text, fields=told)
    told |= {"x": cell[0], "y": cell[1], "extraversion": one.traits["extraversion"]}
    text = f"{one.name.capitalize()} is at {cell[0]}, {cell[1]}."
    return Sensed(source=SOURCE, type="position", text=text, fields=told)


def stands(one: Villager, now: Mapping[str, Any]) -> str:
    """Return where somebody is and what it does, as a sentence."""
    name, task = one.name.capitalize(), one.task
    if one.died is not None:
        return f"{name} died {one.died}."
    doing = "does nothing" if task is None else task.action.type.replace("_", " ")
    return f"{name} is at {now['place']}, {now['time']}: {doing}."


def felt(scene: Scene, one: Villager, at: float) -> float:
    """Return the temperature where somebody is, as it feels."""
    warm = climate.outside(scene.seed, at)
    here = one.where(at)
    if any(distance(each, here) <= 1 for each in scene.land.fires):
        warm += climate.FIRE_C
    return warm + (climate.HOUSE_C if here in scene.land.houses else 0.0)


def is_sheltered(scene: Scene, one: Villager, at: float) -> bool:
    """Tell whether somebody is within a house."""
    return one.where(at) in scene.land.houses


def _is_frightened(scene: Scene, one: Villager, at: float) -> bool:
    """Tell whether somebody in the open sees the wolf near."""
    wolf = scene.wolf
    if wolf is None or one.is_asleep or is_sheltered(scene, one, at):
        return False
    return wolf.frightens(one.where(at))


def _is_bedtime(one: Villager, at: float) -> bool:
    """Tell whether it is time to sleep."""
    hour = climate.hour(at)
    return hour >= one.bedtime_h or hour < 5


def _danger(feels: float) -> str:
    if feels < climate.COMFORT_C[0] - 12:
        return "cold"
    return "hot" if feels > climate.COMFORT_C[1] + 12 else ""


def _time(at: float) -> str:
    minutes = int(at % climate.DAY_S // 60)
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _seen(other: Villager, at: float) -> str:
    task = other.task
    doing = task.action.type.replace("_", " ") if task is not None else "doing nothing"
    return f"{other.name.capitalize()} ({doing})"


def _sights(scene: Scene, one: Villager, at: float) -> list[str]:
    """Return what somebody sees besides people, of each kind once."""
    here = one.where(at)
    found = {
        each.kind
        for cell, each in scene.land.sources.items()
        if distance(cell, here) <= SIZE // 4 and each.now(at)
    }
    wolf = scene.wolf
    if wolf is not None and wolf.frightens(here):
        found.add("a wolf")
    return sorted(found)


def _resources(scene: Scene, one: Villager, at: float) -> list[dict[str, Any]]:
    """Return where the nearest of each kind grows, as a queue's tactics read it."""
    here, found = one.where(at), []
    for kind in sorted(KINDS):
        cell = scene.land.nearest(kind, here, at)
        if cell is not None:
            id_ = f"{cell[0]},{cell[1]}"
            found.append({"item": kind, "id": id_, "distance": distance(cell, here)})
    return found
