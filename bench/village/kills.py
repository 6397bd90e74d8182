"""Parts of a living village are killed at random moments, and nothing may be lost.

Real processes: an instance with two workers, its effects, broker, projector and database, a
model, and the world. A seed gives the same parts and pauses again, not the same moments: the
processes keep no common time. The world goes on in lockstep, as fast as it is answered.

Mostly a single part is killed, which its supervisor starts again, and each tenth time the whole
instance. A step that takes too long ends the campaign, with what all parts said last; so does a
village in which nobody speaks, which would show nothing.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.enduring.findings import Findings
from bench.players import MIDNIGHT
from bench.village.parts import PARTS, SINGLE, Village, village
from bench.village.unharmed import events_told, last_told, unharmed
from echoic.errors import NotRunningError
from streams.errors import StreamsError

CHARACTERS = 4
_BEGINS = MIDNIGHT + timedelta(hours=6)
_EVENTS = (1, 60)
"""Between which lies by how many sequences of its events the log grows before a kill, if it
comes to that."""
_JITTER_S = 0.3
_PATIENCE_S = 120.0
"""How long the log may stand still before that counts as a fault of the campaign's."""
_EVERY = 10
"""Each how many kills the whole instance is killed, which takes longest to start."""
_MOVED = timedelta(seconds=10)
"""How much later it must become in the village after a kill before the next."""
_CALM = 200
"""The same after the last kill."""


@dataclass(slots=True)
class Campaign:
    """What was done, and what came of it."""

    seed: int
    killed: Counter[str] = field(default_factory=Counter)
    until: datetime | None = None
    """How late it was in the village at the end."""
    ended: int = 0
    """How often the world gave up by itself, without a broker."""
    wall_s: float = 0.0
    found: Findings | None = None

    def lines(self) -> Sequence[str]:
        """Return it in words."""
        each = ", ".join(f"{part} {self.killed[part]}" for part in PARTS)
        told = [f"seed {self.seed}: killed {self.killed.total()} times ({each})"]
        told.append(
            f"the world gave up {self.ended} times by itself; it lived until"
            f" {self.until:%A %H:%M}, from Friday 06:00; it took {self.wall_s:.0f} s"
        )
        return [*told, *(self.found.lines() if self.found else ())]


def campaign(
    kills: int, seed: int, characters: int = CHARACTERS, folder: Path | None = None
) -> Campaign:
    """Kill parts of a village so often, and look at what is left in its folder.

    Raises:
        RuntimeError: a part does not start again.
    """
    if folder is None:
        with TemporaryDirectory(prefix="echoic-kills-") as made:
            return campaign(kills, seed, characters, Path(made))
    moments, done, began = random.Random(seed), Campaign(seed), time.monotonic()
    with village(folder, characters) as living:
        living.live(_BEGINS)
        for part in _parts(kills, moments):
            _live_on(living, done, moments.randint(*_EVENTS))
            _wait(living, done, moments.uniform(0, _JITTER_S))
            at, killed = _now(living), time.monotonic()
            _kill(living, done, part)
            _moves(living, done, at + _MOVED)
            print(
                f"{done.killed.total()}/{kills}: {part} killed at {at:%a %H:%M:%S} in the"
                f" village, where it was {_MOVED.seconds} s later after"
                f" {time.monotonic() - killed:.1f} s",
                flush=True,
            )
        _live_on(living, done, _CALM)
        living.kill("world")
        done.until = _now(living)
        done.found = asyncio.run(unharmed(living))
    done.wall_s = time.monotonic() - began
    return done


def _parts(kills: int, moments: random.Random) -> Sequence[str]:
    """Return what to kill: all single parts as often, in any order, and the tenth time all."""
    parts = list[str]()
    while len(parts) < kills:
        parts += moments.sample(SINGLE, len(SINGLE))
    for place in range(_EVERY - 1, kills, _EVERY):
        parts.insert(place, "instance")
    return parts[:kills]


def _live_on(living: Village, done: Campaign, events: int) -> None:
    """Let it live until the log has grown by so much.

    Raises:
        RuntimeError: the log does not grow any more.
    """
    before = last = _told(living)
    until = time.monotonic() + _PATIENCE_S
    while (told := _told(living)) < before + events:
        if told > last:
            last, until = told, time.monotonic() + _PATIENCE_S
        if time.monotonic() > until:
            raise RuntimeError(
                f"the village stands still for {_PATIENCE_S:.0f} s:\n{living.said()}"
            )
        _wait(living, done, 0.2)


def _moves(living: Village, done: Campaign, until: datetime) -> None:
    """Let it live until it is so late in the village.

    Raises:
        RuntimeError: it does not become so late.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while _now(living) < until:
        if time.monotonic() > deadline:
            raise RuntimeError(
                f"no {_MOVED.seconds} s pass in {_PATIENCE_S:.0f} s:\n{living.said()}"
            )
        _wait(living, done, 0.2)


def _wait(living: Village, done: Campaign, seconds: float) -> None:
    """Let time pass; what ends meanwhile is started again."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if living.process_of("instance") is None:
            living.up()
        if living.process_of("model") is None:
            living.think()
        if not living.lives:
            done.ended += living.world is not None
            living.live(_now(living))
        time.sleep(0.05)


def _kill(living: Village, done: Campaign, part: str) -> None:
    """Kill a part once it runs; what is nobody's child is started again."""
    until = time.monotonic() + _PATIENCE_S
    while not living.kill(part):
        if time.monotonic() > until:
            raise RuntimeError(f"{part} does not come up again:\n{living.said()}")
        _wait(living, done, 0.1)
    done.killed[part] += 1
    if part == "instance":
        living.up()
    if part == "world":
        living.live(_now(living))


def _told(living: Village) -> int:
    """Return the sequence of the world's last event, as far as the log can be asked."""
    with suppress(StreamsError, NotRunningError):
        living.told = asyncio.run(events_told(living))
    return living.told


def _now(living: Village) -> datetime:
    """Return a time of the village after all that it has told."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            told = asyncio.run(last_told(living))
        except (StreamsError, NotRunningError):
            # Away for a moment: it is being started again.
            if time.monotonic() > until:
                raise
            time.sleep(0.5)
            continue
        return _BEGINS if told is None else told + timedelta(seconds=1)
