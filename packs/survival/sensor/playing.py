"""A session of the game: the player plays, events are published, advice is followed.

A thin shell around the pure parts. The caller of `play` supplies the functions that publish
and receive; the time of the game is one second a step from a base.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from packs.broker import Publish
from packs.survival.sensor import advice, events, player
from packs.survival.sensor.ends import End
from packs.survival.sensor.world import Observation, World
from packs.wires import Run
from schemas.messages.sensing import Sensed

SOURCE = "crafter"

"""Send one sensor event."""

_Hear = Callable[[Sequence[str]], Awaitable[Sequence[bytes]]]
"""Return what the companion said since the last call; given the ids just published."""

_OnReport = Callable[[str, str], Awaitable[None]]
"""Called with decision id and outcome when advice that was followed has ended."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to play."""

    agent: str
    base: datetime
    """The time of the first second."""
    run: str
    """Ids derive from it: the same run makes the same ids."""
    steps: int = 600
    seed: int = 7
    follow: float = 0.7
    """The probability with which the player follows advice."""
    rate: float = 0.0
    """Steps a second; 0 plays as fast as it can."""
    clock: Callable[[], datetime] | None = None
    """Which time advice expires by; None is the game's."""


@dataclass(frozen=True, slots=True)
class Played:
    """What a session came to."""

    events: int
    lives: int
    heard: int
    """Messages that were advice."""
    reports: tuple[tuple[str, str], ...]
    """Decision id and outcome of all advice followed, in the order it ended."""


async def play(
    plan: Plan, publish: Publish, hear: _Hear, on_report: _OnReport | None = None
) -> Played:
    """Play a session from its first second to its last."""
    session = _Session(plan, publish, hear, on_report)
    await session.begin_life()
    while session.see.step < plan.steps:
        await session.step()
        if plan.rate:
            await asyncio.sleep(1 / plan.rate)
    await session.end()
    return Played(session.told, session.see.life, session.heard, tuple(session.reports))


class _Session:
    """The state of one session; it exists only while `play` runs."""

    def __init__(
        self, plan: Plan, publish: Publish, hear: _Hear, on_report: _OnReport | None
    ) -> None:
        self.plan = plan
        self._run = Run(plan.agent, plan.run)
        self.world = World(plan.seed)
        self.see: Observation = self.world.observe()
        self.follower = advice.Follower(str(plan.seed), plan.follow)
        self.told = 0
        self.heard = 0
        self.reports: list[tuple[str, str]] = []
        self._publish = publish
        self._hear = hear
        self._on_report = on_report

    async def begin_life(self) -> None:
        """Publish that a life begins, and receive what is said to it."""
        await self._listen(await self._tell((events.greet(self.see),)))

    async def step(self) -> None:
        """Let one second pass."""
        before = self.see
        action = self.follower.action or player.wander(before, str(self.plan.seed))
        self.world.step(action)
        self.see = self.world.observe()
        told = await self._tell(events.observe(before, self.see))
        if self.see.alive:
            # A dead player's attempt is ended as failed below, once the answers are in.
            told += await self._tell(self.follower.watch(self.see))
        await self._listen(told)
        if not self.see.alive:
            await self._tell(self.follower.end(End("failed", "the player died")))
            self.world.begin_life()
            self.see = self.world.observe()
            await self.begin_life()

    async def end(self) -> None:
        """Give up the advice that is being tried, if any."""
        over = End("cancelled", "the session is over")
        await self._tell(self.follower.end(over))

    async def _tell(self, happened: Sequence[Sensed]) -> list[str]:
        """Publish what happened now, and return the ids of the events."""
        ids = []
        for event in happened:
            message = self._run.event(SOURCE, event, self._now(), self.told)
            await self._publish(message)
            ids.append(message.headers["ce-id"])
            self.told += 1
            await self._note_report(event)
        return ids

    async def _listen(self, ids: Sequence[str]) -> None:
        """Follow or leave what the companion says after the events `ids`."""
        for payload in await self._hear(ids):
            said = advice.parse(payload)
            if said is None:
                continue
            self.heard += 1
            now = self.plan.clock() if self.plan.clock else self._now()
            await self._tell(self.follower.hear(said, self.see, now))

    async def _note_report(self, event: Sensed) -> None:
        if isinstance(event.in_reply_to, str) and event.outcome is not None:
            self.reports.append((event.in_reply_to, event.outcome))
            if self._on_report is not None:
                await self._on_report(event.in_reply_to, event.outcome)

    def _now(self) -> datetime:
        return self.plan.base + timedelta(seconds=self.see.step)
