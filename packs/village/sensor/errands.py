"""Errands: what villagers do by their models' tools besides what their bodies need.

What this world has not is refused with the reason: it has neither fields nor tame animals.
"""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from packs.village.sensor import deeds
from packs.village.sensor.deeds import DEEDS, Refused, Scene, gather, neighbour, stay
from packs.village.sensor.land import SQUARE, Cell
from packs.village.sensor.villager import Deed, Villager
from schemas.messages.arms import Action

MEETS_S = 300.0
"""How long a meeting lasts."""
_HELPS_S = 60.0

ABSENT: Mapping[str, str] = {
    "till": "there are no fields here",
    "farm": "there are no fields here",
    "plant": "there is no tilled soil here",
    "research": "there is nowhere to do research",
    "tame_animal": "there is no animal here that can be tamed",
    "house_animal": "there is no tame animal here",
    "hunt": "there is no game here",
    "butcher": "there is no tame animal here",
    "initiate_combat": "nobody here fights a neighbour",
}
"""Why what this world has not is not done."""


def deed_of(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    """Return how an action is done, an errand or another.

    Raises:
        Refused: it cannot be done.
    """
    if action.type in ABSENT:
        raise Refused(ABSENT[action.type])
    do = _ERRANDS.get(action.type, deeds.deed_of)
    return do(scene, one, action, at)


def _pick(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    single = replace(action, params={**action.params, "amount": 1})
    return gather(scene, one, single, at)


def _go(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    return stay(_place(scene, one, action, at), 5)


def _place(scene: Scene, one: Villager, action: Action, at: float) -> Cell:
    """Return where a place is, or somebody.

    Raises:
        Refused: nobody knows it.
    """
    name = (action.target or "").strip().casefold().removeprefix("the ")
    here = one.where(at)
    if name in ("square", "fire", "stores"):
        return SQUARE
    if name in ("river", "water"):
        return scene.land.water(here)
    if name in ("home", "bed", "my house") and one.bed is not None:
        return one.bed
    if name in scene.people:
        return scene.people[name].where(at)
    raise Refused(f"nobody knows where {action.target or 'that'} is")


def _help(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    return stay(neighbour(scene, one, action, at).where(at), _HELPS_S)


def _call(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    if at < scene.meets_until:
        raise Refused("a meeting goes on already")

    def begin(now: float) -> float:
        scene.meets_until = now + MEETS_S
        return MEETS_S

    return Deed(SQUARE, begin, lambda _: ("succeeded", ""))


def _attend(scene: Scene, one: Villager, action: Action, at: float) -> Deed:
    if at >= scene.meets_until:
        raise Refused("there is no meeting")

    def begin(now: float) -> float:
        if now >= scene.meets_until:
            raise Refused("the meeting is over")
        return scene.meets_until - now

    return Deed(SQUARE, begin, lambda _: ("succeeded", ""))


_ERRANDS: Mapping[str, Callable[[Scene, Villager, Action, float], Deed]] = {
    "pick": _pick,
    "go_to": _go,
    "help": _help,
    "call_meeting": _call,
    "attend_meeting": _attend,
}
KNOWN = frozenset({*DEEDS, *_ERRANDS, *ABSENT, "talk", "leave_conversation"})
"""All that the world obeys, or knows why it does not."""
