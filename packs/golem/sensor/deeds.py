"""How an action is carried out: the states it leads through, where to, and for how long.

It follows the source design's router: an interaction is completed once it has begun, a way
when its end is reached, a gesture at its end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from packs.golem.sensor import rooms, states
from packs.golem.sensor.actions import BY_ID, Row
from packs.golem.sensor.rooms import Point, Thing
from schemas.messages.arms import Action
from schemas.values.ids import draw

_MOVE_TIMEOUT_S = 60.0
_STANDS_UP_S = 1.5
_THINKS_S = (0.3, 2.0)
"""How long it thinks before it goes (upstream)."""
_NOTICES_S = 2.0
"""How long it takes to see that something cannot be done."""
_SUB_ACTIONS = 8
"""So many actions does one that consists of others have at most."""


class Refused(Exception):
    """It cannot be done; the text says why."""


@dataclass(frozen=True, slots=True)
class Step:
    """A part of an action: a state, for a while, and where it leads."""

    state: str | None
    """None: the body stays in the state in which it is."""
    seconds: float = 0.0
    to: Point | None = None
    thing: Thing | None = None
    """What is used from here on; it must be free."""
    fails: str | None = None
    """Why the action fails once the step is over."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What an action is begun in."""

    seed: str
    count: int
    """How many actions were begun before: the counter of draws."""
    at: Point
    machine: states.Machine
    noise: float = 0.0
    """How likely a way is blocked."""

    def drawn(self, purpose: str) -> float:
        """Return a number in [0, 1)."""
        return draw(self.seed, "body", str(self.count), purpose)


@dataclass(slots=True)
class Deed:
    """An action that is carried out; one without steps and end is never reported on."""

    action: Action
    steps: list[Step] = field(default_factory=list)
    is_told: bool = True
    """False: nobody hears of its end, as of getting up while standing."""


def deed_of(scene: Scene, action: Action) -> Deed:
    """Return how an action is carried out.

    Raises:
        Refused: nobody can do it.
    """
    row = BY_ID.get(action.type)
    if row is None:
        raise Refused(f"no action is called {action.type}")
    if row.does == "engine":
        raise Refused(f"{row.id} is a message of the engine, not an action")
    if row.does == "composite":
        return Deed(action, _composite(scene, row, action))
    if row.does == "stand" and scene.machine.state not in states.STILL:
        return Deed(action, is_told=False)
    return Deed(action, _steps(scene, row, action))


def refused(action: Action, why: str) -> Deed:
    """Return the deed of who stands there with what cannot be done."""
    return Deed(action, [Step(None, _NOTICES_S, fails=why)])


def _steps(scene: Scene, row: Row, action: Action) -> list[Step]:
    match row.does:
        case "walk":
            return _walk(scene, row, action)
        case "use":
            return _use(scene, row, action)
        case "gesture":
            return [Step(None, row.seconds)]
        case _:
            first = [*_up_to(scene, states.IDLE), Step(states.IDLE)]
            return [*first, Step(None, row.seconds)] if row.seconds else first


def _walk(scene: Scene, row: Row, action: Action) -> list[Step]:
    if action.target:
        thing = rooms.named(action.target)
        if thing is None:
            raise Refused(f"there is no {action.target[:80]}")
        aim = thing.at
    else:
        aside = [(2 * scene.drawn(axis) - 1) * rooms.WANDERS_M for axis in "xy"]
        aim = rooms.within(scene.at[0] + aside[0], scene.at[1] + aside[1])
    least, most = _THINKS_S
    before = list(_up_to(scene, states.WALKING))
    if scene.machine.state == states.IDLE:
        before.append(Step(None, least + (most - least) * scene.drawn("thinks")))
    return [*before, *_way(scene, states.WALKING, aim, row.speed), Step(states.IDLE)]


def _use(scene: Scene, row: Row, action: Action) -> list[Step]:
    thing = _chosen(scene, row, action)
    through = (
        states.SIT_TRANSITION if row.leads_to == states.SITTING else states.ARRIVING
    )
    way = _way(scene, through, thing.at, row.speed)
    return [*_up_to(scene, through), *way, Step(row.leads_to, thing=thing)]


def _chosen(scene: Scene, row: Row, action: Action) -> Thing:
    """Return what an action is done with: as asked, else what is nearest of its tags."""
    if action.target:
        thing = rooms.named(action.target)
        if thing is None:
            raise Refused(f"there is no {action.target[:80]}")
        if thing.tag not in row.tags:
            raise Refused(f"{thing.name} is nothing for {row.id}")
        return thing
    fits = [each for each in rooms.THINGS if each.tag in row.tags]
    return min(fits, key=lambda each: rooms.apart(each.at, scene.at))


def _up_to(scene: Scene, state: str) -> Sequence[Step]:
    """Return the steps before one may go over to a state."""
    return [
        Step(each, _STANDS_UP_S if each == states.STAND_TRANSITION else 0.0)
        for each in scene.machine.way(state)[:-1]
    ]


def _way(scene: Scene, state: str, aim: Point, speed: float) -> list[Step]:
    """Return how one goes somewhere; now and then the way is blocked."""
    blocked = scene.drawn("blocked")
    if blocked < scene.noise / 2:
        why = "NavMesh path invalid: the destination cannot be reached"
        return [Step(state, _NOTICES_S, fails=why)]
    if blocked < scene.noise:
        halfway = ((scene.at[0] + aim[0]) / 2, (scene.at[1] + aim[1]) / 2)
        why = f"Move timed out after {_MOVE_TIMEOUT_S:g}s"
        return [Step(state, _MOVE_TIMEOUT_S, to=halfway, fails=why)]
    return [Step(state, rooms.apart(scene.at, aim) / speed, to=aim)]


def _composite(scene: Scene, row: Row, action: Action) -> list[Step]:
    """Return the steps of several actions, one after another, or all at once."""
    at_once = row.id == "MultiAction"
    steps: list[Step] = []
    for sub in _parts(row, action):
        more = deed_of(scene, sub).steps
        is_gesture = BY_ID[sub.type].does == "gesture"
        if at_once and not is_gesture and any(each.state for each in steps):
            raise Refused("a body does one thing at a time besides gestures")
        if at_once and is_gesture:
            more = [replace(each, seconds=0.0) for each in more]
        steps += more
        scene = _after(scene, more)
    return steps


def _parts(row: Row, action: Action) -> list[Action]:
    """Return the actions of which one consists."""
    given = action.params.get("actions")
    try:
        parts = [
            Action.from_fields(each)
            for each in (given if isinstance(given, list) else [])
        ]
    except ValidationError as error:
        raise Refused(f"{row.id} has a part that is no action") from error
    if not 0 < len(parts) <= _SUB_ACTIONS:
        raise Refused(f"{row.id} needs 1 to {_SUB_ACTIONS} actions")
    if any(each.type in ("MultiAction", "Sequence") for each in parts):
        raise Refused("one of several actions is none of several itself")
    return parts


def _after(scene: Scene, steps: Sequence[Step]) -> Scene:
    """Return the scene in which the next of several actions begins."""
    machine = states.Machine()
    machine.state = next(
        (each.state for each in reversed(steps) if each.state), scene.machine.state
    )
    at = next((each.to for each in reversed(steps) if each.to), scene.at)
    return replace(scene, at=at, machine=machine)
