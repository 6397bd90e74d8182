"""Playing a simulated world: what happens is published, what minds decide is obeyed.

A thin shell around a pure world. The caller of `play` supplies the functions that publish and
receive. The world's time is event time: at any pace, or as fast as it is answered.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Protocol

from msgspec.structs import replace
from pydantic import ValidationError

from packs.broker import Publish
from packs.wires import Run
from schemas.messages.arms import Action
from schemas.messages.sensing import EventRef, Sensed

Hear = Callable[[], Awaitable[Sequence[tuple[str, str, bytes]]]]
"""Return agent, channel and content of what minds sent out since the last call."""

CLOCK = Sensed(source="world", type="clock", text="The time has come.")
"""What a mind is told when it has something to do by itself."""

WAKEUP = "wakeup"
"""The channel on which a mind tells when it does something by itself."""

_LISTENS_S = 0.05
"""How long a paced world goes without listening."""


@dataclass(frozen=True, slots=True)
class Told:
    """An event of somebody's."""

    name: str
    at: float
    event: Sensed
    order: str | None = None
    """The name of the order that it is, or on which it reports."""


class World(Protocol):
    """A world that passes from one moment to the next, each a second since midnight."""

    at: float

    def next_at(self) -> float:
        """Return when something happens next."""

    def advance(self) -> Sequence[Told]:
        """Go to the next moment, and return what is told then."""

    def told(self) -> Sequence[Told]:
        """Return what was told since the last call."""

    def pass_to(self, at: float) -> None:
        """Let time pass within which nothing happens."""

    def obey(self, name: str, decision_id: str, action: Action) -> None:
        """Let somebody begin what its mind decided."""

    def late(self, name: str, decision_id: str) -> bool:
        """Refuse what is stale, and say whether it did; else it is obeyed all the same."""

    def say(self, name: str, words: str) -> None:
        """Let somebody say something."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to play."""

    names: Sequence[str]
    """Who lives there; each is an agent."""
    base: datetime
    """The first midnight."""
    run: str
    """Ids derive from it: the same run makes the same ids."""
    seed: int = 7
    begins_s: float = 6 * 3_600.0
    """From when it is played, in seconds since the first midnight."""
    lasts_s: float = 24 * 3_600.0
    pace: float = 0.0
    """Seconds of the world in one second; 0 plays as fast as it can."""
    place: str | None = None
    """The agent that owns the conversations there, if there is one."""

    @property
    def members(self) -> Sequence[str]:
        """Return all agents of the world."""
        return [*self.names, *filter(None, (self.place,))]


@dataclass(slots=True)
class Played:
    """What it came to."""

    events: int = 0
    heard: int = 0
    outcomes: list[str] = field(default_factory=list)
    """Of all actions that were reported on."""
    acted: Counter[str] = field(default_factory=Counter)
    """How often each action was begun."""
    dead: list[str] = field(default_factory=list)


async def play(world: World, plan: Plan, publish: Publish, hear: Hear) -> Played:
    """Play a world from its beginning to its end."""
    game = _Game(world, plan, publish, hear)
    until = plan.begins_s + plan.lasts_s
    await game.tell(world.told())
    while game.next_at() <= until:
        if plan.pace and not await game.is_time():
            continue
        await game.tell(game.advance())
    return game.played


class _Game:
    """One world while it is played."""

    def __init__(self, world: World, plan: Plan, publish: Publish, hear: Hear) -> None:
        self._world, self._plan = world, plan
        self._publish, self._hear = publish, hear
        self.played = Played()
        self._runs = {name: Run(name, plan.run) for name in plan.members}
        self._orders: dict[str, str] = {}
        """The event of each order that goes on."""
        self._wakes: dict[str, float] = {}
        """When each mind does something by itself."""
        self._began = monotonic()

    def next_at(self) -> float:
        """Return when something happens next, in the world or in a mind."""
        at = min([self._world.next_at(), *self._wakes.values()])
        return max(at, self._world.at)

    def advance(self) -> Sequence[Told]:
        """Go to the next moment, and tell whoever is due then what time it is."""
        at, told = self.next_at(), list[Told]()
        if self._world.next_at() <= at:
            told += self._world.advance()
        else:
            self._world.pass_to(at)
        # An event tells the time as well.
        due = {name for name in self._wakes if self._wakes[name] <= at}
        for name in sorted(due):
            del self._wakes[name]
            if not any(each.name == name for each in told):
                told.append(Told(name, at, CLOCK))
        return told

    async def is_time(self) -> bool:
        """Wait a little for the next moment, listen, and tell whether it has come."""
        now = self._plan.begins_s + (monotonic() - self._began) * self._plan.pace
        left_s = (self.next_at() - now) / self._plan.pace
        if left_s <= 0:
            return True
        await asyncio.sleep(min(left_s, _LISTENS_S))
        self._world.pass_to(now)
        await self.tell(())
        return False

    async def tell(self, told: Sequence[Told]) -> None:
        """Publish, and obey what is heard of it, until nobody has anything to add."""
        while True:
            for each in told:
                await self._publish_one(each)
            for agent, channel, payload in await self._hear():
                self._obey(agent, channel, payload)
            told = self._world.told()
            if not told:
                return

    async def _publish_one(self, told: Told) -> None:
        at = self._plan.base + timedelta(seconds=told.at)
        event, source, order = told.event, told.event.source, told.order
        if order is not None and event.outcome is not None:
            ordered = EventRef(source=source, event_id=self._orders.pop(order))
            event = replace(event, in_reply_to=ordered)
        wire = self._runs[told.name].event(source, event, at, self.played.events)
        if order is not None and event.outcome is None:
            self._orders[order] = wire.headers["ce-id"]
        self.played.events += 1
        if event.outcome is not None:
            self.played.outcomes.append(event.outcome)
        await self._publish(wire)

    def _obey(self, agent: str, channel: str, payload: bytes) -> None:
        said = parse(payload)
        if said is None:
            return
        if channel == WAKEUP:
            self._wakes.pop(agent, None)
            at = self._seconds(said.get("due_at"))
            if at is not None:
                self._wakes[agent] = at
            return
        self.played.heard += 1
        action = _action_of(said)
        if channel == "talk":
            # A place tells who begins to speak; without one it is whose words they are.
            speaks = action is not None and action.type == "speak" and action.target
            self._world.say(speaks or agent, str(said.get("text", "")))
        elif action is not None:
            decision_id = str(said.get("decision_id", ""))
            if self._is_stale(said) and self._world.late(agent, decision_id):
                return
            self.played.acted[action.type] += 1
            self._world.obey(agent, decision_id, action)

    def _is_stale(self, said: dict[str, Any]) -> bool:
        until = self._seconds(said.get("expires_at"))
        return until is not None and self._world.at > until

    def _seconds(self, moment: str | None) -> float | None:
        """Return a moment as the world counts."""
        if not moment:
            return None
        return (datetime.fromisoformat(moment) - self._plan.base).total_seconds()


def parse(payload: bytes) -> dict[str, Any] | None:
    """Read what a mind sent out; None if it is no JSON object."""
    try:
        said = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _action_of(said: dict[str, Any]) -> Action | None:
    """Return the action of what a mind sent out; None if it has none."""
    try:
        return Action.from_fields(said.get("action"))
    except ValidationError:
        return None
