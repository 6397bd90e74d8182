"""The plan of a day: what happens when, unless somebody has seen to it before.

A plan is data. Every time, choice and chance is a keyed draw of its own, so that the same
seed makes the same day, and a change of one part moves no other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schemas.messages.sensing import Sensed
from schemas.values.ids import draw

DAY_S = 24 * 3600
HOME = "home"
PERSON = "user"

_By = Callable[[str], Sensed]
"""The event of somebody, by name, putting something right."""


@dataclass(frozen=True, slots=True)
class Concern:
    """Something in the house that somebody can put right, once told."""

    name: str
    action: str
    """The advice that is about it, as `close window`."""
    right: _By
    takes_s: tuple[int, int]
    """From when it is heard to when it is done, at least and at most."""
    wakes: bool = False
    """Whether somebody who is asleep gets up for it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event of the day."""

    at: int
    """Seconds since midnight."""
    event: Sensed
    source: str = HOME
    opens: Concern | None = None
    closes: str | None = None
    """The concern that this puts right; left out if that was done before."""
    unless: str | None = None
    """Left out once this concern was put right."""
    after: str | None = None
    """Left out until this concern was put right."""


class Planner:
    """Collects the entries of one day."""

    def __init__(self, seed: str) -> None:
        """Draw by this seed."""
        self.seed = seed
        self.entries: list[Entry] = []

    def chance(self, key: str) -> float:
        """Return the number from 0 to 1 that the day has under a key."""
        return draw(self.seed, "home", "day", key)

    def between(self, key: str, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`."""
        return low + int(self.chance(key) * (high - low + 1))

    def at(self, clock: str, spread_min: int = 0) -> int:
        """Return the second of a time such as `07:30`, up to so many minutes later."""
        hours, minutes = clock.split(":")
        exact = int(hours) * 3600 + int(minutes) * 60
        return exact + self.between(f"at {clock}", 0, spread_min * 60)

    def one_of(self, key: str, choices: Sequence[str]) -> str:
        """Return one of some texts."""
        return choices[self.between(key, 0, len(choices) - 1)]

    def add(
        self,
        at: int,
        *events: Sensed,
        opens: Concern | None = None,
        closes: str | None = None,
        unless: str | None = None,
        after: str | None = None,
    ) -> None:
        """Add events of the home at a time."""
        for event in events:
            self.entries.append(
                Entry(at, event, opens=opens, closes=closes, unless=unless, after=after)
            )

    def say(self, at: int, event: Sensed) -> None:
        """Add a person's words."""
        self.entries.append(Entry(at, event, PERSON))
