"""A day of the home: what happens is published, what is said is heard.

A thin shell around the simulated people. The caller of `play` supplies the functions that
publish and receive; a day has 24 hours of the agent's time, at any pace.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from packs.broker import Publish
from packs.home.sensor.household import Household, parse
from packs.wires import Run
from schemas.messages.sensing import Sensed

_Hear = Callable[[str | None], Awaitable[Sequence[tuple[str, bytes]]]]
"""Return channel and content of what the companion said since the last call; given the id
of the event just published, None if that was a vote."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to play."""

    agent: str
    base: datetime
    """Midnight."""
    run: str
    """Ids derive from it: the same run makes the same ids."""
    seed: int = 7
    follow: float = 0.8
    """The probability with which people follow advice."""
    pace: float = 0.0
    """Seconds of the day in one second; 0 plays as fast as it can."""


@dataclass(frozen=True, slots=True)
class Played:
    """What a day came to."""

    events: int
    votes: int
    heard: int
    outcomes: tuple[str, ...]
    """Of all advice that was reported on."""


async def play(plan: Plan, publish: Publish, hear: _Hear) -> Played:
    """Play a day from midnight to midnight."""
    household, run = Household(str(plan.seed), plan.follow), Run(plan.agent, plan.run)
    events = votes = heard = 0
    outcomes: list[str] = []
    while (at := household.next_at) is not None:
        if plan.pace:
            await asyncio.sleep((at - household.now) / plan.pace)
        happening = household.advance()
        if happening is None:
            continue
        when, message = plan.base + timedelta(seconds=at), happening.message
        number = events + votes
        if isinstance(message, Sensed):
            wire = run.event(happening.source, message, when, number)
            events += 1
            outcomes += [message.outcome] if message.outcome else []
        else:
            wire = run.vote(happening.source, message, when, number)
            votes += 1
        await publish(wire)
        asked = wire.headers["ce-id"] if isinstance(message, Sensed) else None
        for channel, payload in await hear(asked):
            said = parse(channel, payload)
            if said is not None:
                heard += 1
                household.hear(said)
    return Played(events, votes, heard, tuple(outcomes))
