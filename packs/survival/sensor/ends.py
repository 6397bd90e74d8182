"""What a goal is, and how it can end."""

from collections.abc import Generator
from dataclasses import dataclass

from packs.survival.sensor.routes import Action
from packs.survival.sensor.world import Observation
from schemas.values.reasons import ReportedOutcome


@dataclass(frozen=True, slots=True)
class End:
    """How a goal ended, and why in a few words."""

    outcome: ReportedOutcome
    reason: str


Goal = Generator[Action, Observation, End]
"""It is sent what the player sees, yields the next action, and returns its end."""


def succeeded(reason: str) -> End:
    """Return the goal was reached; `reason` goes on after "the player"."""
    return End("succeeded", reason)


def failed(reason: str) -> End:
    """Return the goal was not reached, because `reason`."""
    return End("failed", reason)
