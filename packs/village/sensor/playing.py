"""Playing the village: bodies are published, what minds decide is obeyed.

A thin shell around the pure world. The caller of `play` supplies the functions that publish
and receive. The village's time is event time: at any pace, or as fast as it is answered.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from pydantic import ValidationError

from packs.broker import Publish
from packs.village.sensor.telling import SOURCE
from packs.village.sensor.world import Told, World
from packs.wires import Run
from schemas.messages.arms import Action

Hear = Callable[[], Awaitable[Sequence[tuple[str, str, bytes]]]]
"""Return agent, channel and content of what minds sent out since the last call."""

_LISTENS_S = 0.05
"""How long a paced village goes without listening."""


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
    """Seconds of the village in one second; 0 plays as fast as it can."""


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


async def play(plan: Plan, publish: Publish, hear: Hear) -> Played:
    """Play a village from its beginning to its end."""
    game = _Game(plan, publish, hear)
    until = plan.begins_s + plan.lasts_s
    await game.tell(game.world.told())
    while game.world.next_at() <= until:
        if plan.pace and not await game.is_time():
            continue
        await game.tell(game.world.advance())
    people = game.world.scene.people.values()
    game.played.dead = [each.name for each in people if each.died is not None]
    return game.played


class _Game:
    """One village while it is played."""

    def __init__(self, plan: Plan, publish: Publish, hear: Hear) -> None:
        self._plan, self._publish, self._hear = plan, publish, hear
        self.world = World(str(plan.seed), plan.names, plan.begins_s)
        self.played = Played()
        self._runs = {name: Run(name, plan.run) for name in plan.names}
        self._began = monotonic()

    async def is_time(self) -> bool:
        """Wait a little for the next moment, listen, and tell whether it has come."""
        now = self._plan.begins_s + (monotonic() - self._began) * self._plan.pace
        left_s = (self.world.next_at() - now) / self._plan.pace
        if left_s <= 0:
            return True
        await asyncio.sleep(min(left_s, _LISTENS_S))
        self.world.pass_to(now)
        await self.tell(())
        return False

    async def tell(self, told: Sequence[Told]) -> None:
        """Publish, and obey what is heard of it, until nobody has anything to add."""
        while True:
            for each in told:
                await self._publish_one(each)
            for agent, channel, payload in await self._hear():
                self._obey(agent, channel, payload)
            told = self.world.told()
            if not told:
                return

    async def _publish_one(self, told: Told) -> None:
        at = self._plan.base + timedelta(seconds=told.at)
        wire = self._runs[told.name].event(SOURCE, told.event, at, self.played.events)
        self.played.events += 1
        if told.event.outcome is not None:
            self.played.outcomes.append(told.event.outcome)
        await self._publish(wire)

    def _obey(self, agent: str, channel: str, payload: bytes) -> None:
        said = parse(payload)
        if said is None:
            return
        if channel == "wakeup":
            due = said.get("due_at")
            at = datetime.fromisoformat(due) - self._plan.base if due else None
            self.world.wake(agent, at.total_seconds() if at is not None else None)
            return
        self.played.heard += 1
        if channel == "talk":
            self.world.say(agent, str(said.get("text", "")))
        elif (action := action_of(said)) is not None:
            self.played.acted[action.type] += 1
            self.world.obey(agent, str(said.get("decision_id", "")), action)


def parse(payload: bytes) -> dict[str, Any] | None:
    """Read what a mind sent out; None if it is no JSON object."""
    try:
        said = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def action_of(said: dict[str, Any]) -> Action | None:
    """Return the action of what a mind sent out; None if it has none."""
    try:
        return Action.model_validate(said.get("action"))
    except ValidationError:
        return None
